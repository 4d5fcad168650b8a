r"""In which order unequal devices should stand in a pipeline.

Cutting a chain for a given order is :mod:`decentral.partition`. With unequal layers
the order matters too. A set S of devices, in its best internal order, reaches

.. math:: f(S) = \max_{d \in S} \; \mathrm{reach}_d\bigl(f(S \setminus d)\bigr)

layers within a target T, because being further along is never worse; a target can be
met in some order iff :math:`f` of all devices is the whole chain. Devices of equal
speed, capacity and overhead are of one type, and only how many of each type are in S
counts, so there are :math:`\prod_t (n_t + 1)` states instead of m! orders.
"""

from decentral.ordering.order import Ordering, best_order, swap_search, worst_order
from decentral.ordering.sorting import Kind, sort_order

__all__ = [
    "best_order",
    "worst_order",
    "swap_search",
    "sort_order",
    "Ordering",
    "Kind",
]
