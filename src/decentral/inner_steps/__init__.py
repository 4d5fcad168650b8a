r"""How to weight workers that ran different numbers of inner steps.

One quadratic mode of curvature a, inner step :math:`\eta`, :math:`p = 1 - \eta a`. Worker i
runs :math:`H_i` noisy steps from x and returns its displacement :math:`s_i x - n_i`, with
:math:`s_i = 1 - p^{H_i}` and :math:`V_i = \operatorname{Var} n_i`; the server takes

.. math:: x \leftarrow x - \alpha \sum_i w_i (s_i x - n_i), \qquad r = \alpha \sum_i w_i s_i

Modes are independent and share the weights. Throughout, `noise` is the variance
:math:`\sigma^2` of one stochastic gradient. Where workers or modes are summed over, workers
stand along the last axis of `inner_steps` and `weights`, and modes along the last axis of
`curvatures`; all axes before them broadcast.
"""

from decentral.inner_steps.floor import loss_floor, stationary_variance, weight_penalty
from decentral.inner_steps.inner_work import (
    best_inner_steps,
    contraction,
    displacement_variance,
    information,
    information_limit,
)
from decentral.inner_steps.local_sgd import Simulation, simulate
from decentral.inner_steps.weighting import (
    Weighting,
    best_weights,
    equal_weights,
    information_weights,
    matched_outer_step,
    step_weights,
)

__all__ = [
    "best_weights",
    "Weighting",
    "information_weights",
    "step_weights",
    "equal_weights",
    "weight_penalty",
    "loss_floor",
    "stationary_variance",
    "matched_outer_step",
    "information",
    "information_limit",
    "contraction",
    "displacement_variance",
    "best_inner_steps",
    "simulate",
    "Simulation",
]
