r"""How to cut a chain of layers across devices of unequal speed.

A chain of L layers with costs :math:`w_i \ge 0` is cut into m contiguous
blocks, one for each device in pipeline order; a block may be empty. Device j
works at speed :math:`v_j > 0`, so its stage takes

.. math:: t_j = \frac{1}{v_j} \sum_{i \in \text{block } j} w_i
    + c_j\,[\text{block } j \text{ is not empty}]

and the pipeline moves at the pace of the slowest stage, the *bottleneck*
:math:`T = \max_j t_j`. This module finds the cut of least T.

Units are the caller's: costs in FLOP and speeds in FLOP/s give seconds, costs
in seconds on a reference device and speeds relative to it give seconds too;
`overhead` is in the resulting unit of time. Memory and capacity share a unit
of their own. Layers and devices are counted from 0.
"""

from decentral.partition.bounds import (
    blind_price_std,
    expected_blind_price,
    lower_bound,
    upper_bound,
)
from decentral.partition.cut import (
    Partition,
    bottleneck,
    equal_split,
    evaluate,
    fits,
    partition,
    proportional_split,
)
from decentral.partition.schedule import bubble_fraction, makespan

__all__ = [
    "partition",
    "Partition",
    "bottleneck",
    "lower_bound",
    "upper_bound",
    "fits",
    "evaluate",
    "equal_split",
    "proportional_split",
    "expected_blind_price",
    "blind_price_std",
    "makespan",
    "bubble_fraction",
]
