r"""How often a run should save its state.

A run saves its state after every interval :math:`\tau` of work, which costs C. Failures come
at the rate 1/M; each sends the run back to the last saved state. Until a stretch of
:math:`\tau` of work and one save is through, the run needs on average

.. math:: E(\tau) = M \bigl(e^{(\tau + C)/M} - 1\bigr)

Times are in any one unit.
"""

from decentral.checkpoints.interval import best_interval, expected_time

__all__ = ["best_interval", "expected_time"]
