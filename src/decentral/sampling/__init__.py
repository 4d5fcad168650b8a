"""Whom the server hears when it waits for the fastest k, and how to average what they say.

Workers finish after independent exponential times of unequal rates, so the first k are a sample
by successive drawing without replacement. Fast workers are in it more often than slow ones. If
the two have different optima, their plain mean is biased; weights of one over the inclusion
probability undo this, at a price.
"""

from decentral.sampling.estimators import (
    hajek,
    horvitz_thompson,
    mean_squared_error,
    plain_mean,
    selection_bias,
)
from decentral.sampling.inclusion import (
    inclusion_probabilities,
    joint_inclusion_probabilities,
)

__all__ = [
    "inclusion_probabilities",
    "joint_inclusion_probabilities",
    "plain_mean",
    "selection_bias",
    "horvitz_thompson",
    "hajek",
    "mean_squared_error",
]
