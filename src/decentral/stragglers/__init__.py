r"""How many workers to wait for, and how soon an accuracy is reached.

Round times are means of order statistics: the server waits for the first k of n workers.
Fewer gradients make a round shorter and noisier; :func:`best_quorum` finds the best k.
`start` is the initial squared distance :math:`x_0^2` from the optimum, and `noise` the variance
:math:`\sigma^2` of one stochastic gradient.
"""

from decentral.stragglers.accuracy import (
    gradients_needed,
    min_quorum,
    rounds_to_accuracy,
    squared_error,
)
from decentral.stragglers.order_statistics import (
    exponential_round_time,
    exponential_round_variance,
    pareto_round_time,
    round_time,
    unequal_round_time,
)
from decentral.stragglers.quorum import (
    Quorum,
    TunedQuorum,
    TunedStep,
    best_quorum,
    best_quorum_and_step,
    best_step,
)

__all__ = [
    "best_quorum",
    "Quorum",
    "best_quorum_and_step",
    "TunedQuorum",
    "best_step",
    "TunedStep",
    "rounds_to_accuracy",
    "squared_error",
    "min_quorum",
    "gradients_needed",
    "round_time",
    "exponential_round_time",
    "exponential_round_variance",
    "pareto_round_time",
    "unequal_round_time",
]
