r"""Whether to replicate the stages of a pipeline or to skip them.

A microbatch crosses L stages. Each has r replicas, each live with probability a on its
own, except that with probability :math:`\rho` the stage's failure domain takes them
all. So a stage is out with probability

.. math:: q = \rho + (1 - \rho)(1 - a)^r

A microbatch may skip up to s dead stages and is dropped if more are dead. Each skip
multiplies its usefulness by :math:`1 - \kappa`.
"""

from decentral.redundancy.allocation import best_allocation
from decentral.redundancy.design import Design, best_design, cost_per_yield, useful_yield
from decentral.redundancy.outage import (
    drop_probability,
    log_drop_probability,
    min_replicas,
    stage_outage,
    success_floor,
)
from decentral.redundancy.unequal import shared_pool_drop_probability, unequal_drop_probability

__all__ = [
    "stage_outage",
    "drop_probability",
    "log_drop_probability",
    "min_replicas",
    "success_floor",
    "useful_yield",
    "cost_per_yield",
    "best_design",
    "Design",
    "unequal_drop_probability",
    "best_allocation",
    "shared_pool_drop_probability",
]
