"""Simulate local SGD on a quadratic: literal inner steps, or their exact law."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from decentral.numerics import quadratic, ties
from decentral.numerics.validation import Floats, flag, integer, scalar, vector

# Copies that are simulated together: few enough for the cache, many enough to be worth a call.
_BLOCK = 1000
# Some minutes' worth of normal random numbers.
_MOST_DRAWS = 2e10


@dataclass(frozen=True, eq=False)
class Simulation:
    """What a simulation of the server's iterate found once it had settled.

    Attributes
    ----------
    variances, variance_errors : ndarray, shape (m,)
        Mean square of each mode, and its standard error.
    floor, floor_error : float
        Mean loss above the optimum, and its standard error.
    """

    variances: Floats
    variance_errors: Floats
    floor: float
    floor_error: float


def simulate(
    curvatures: npt.ArrayLike,
    step: npt.ArrayLike,
    inner_steps: npt.ArrayLike,
    weights: npt.ArrayLike,
    *,
    noise: npt.ArrayLike = 1.0,
    outer_step: npt.ArrayLike = 1.0,
    rounds: npt.ArrayLike = 100,
    replicas: npt.ArrayLike = 1000,
    literal: bool = True,
    seed: npt.ArrayLike = 0,
) -> Simulation:
    r"""Simulate rounds of local SGD from the optimum until it settles, and on.

    .. math:: y \leftarrow y - \eta\,(a y + \sigma \xi) \quad (H_i \text{ times, from } x),
        \qquad x \leftarrow x - \alpha \sum_i w_i (x - y_i)

    Parameters
    ----------
    curvatures : array_like, shape (m,)
        :math:`a_j` of each mode, positive.
    step : float
        :math:`\eta`, positive and below 2/a for every mode.
    inner_steps : array_like of int, shape (n,)
        :math:`H_i` of each worker, at least 1.
    weights : array_like, shape (n,)
        :math:`w_i`, non-negative and not all zero.
    noise : float, optional
        :math:`\sigma^2`, positive.
    outer_step : float, optional
        :math:`\alpha`, positive.
    rounds : int, optional
        Rounds that are averaged, after as many as it takes to settle.
    replicas : int, optional
        Independent copies, at least 2; the standard errors come from their spread.
    literal : bool, optional
        Whether to run every inner step of every worker; otherwise the sum of their noise
        is drawn at once, which is normal with a known variance.
    seed : int, optional
        Of NumPy's SFC64 generators, one for every thousand copies.

    Returns
    -------
    Simulation

    Raises
    ------
    ValueError
        If an argument is malformed, the inner or the outer step is unstable, or the run
        would need more than 2e10 random numbers.

    Notes
    -----
    Compared with the exact floor in the paper "How should a server weight workers that ran
    different numbers of inner steps?". What is left of the start is below a relative 1e-6.

    Examples
    --------
    >>> from decentral.inner_steps import loss_floor, simulate
    >>> found = simulate([1.0, 0.25], 0.2, [1, 8], [0.5, 0.5], seed=1)
    >>> exact = loss_floor([1.0, 0.25], 0.2, [1, 8], [0.5, 0.5])
    >>> bool(abs(found.floor - exact) < 4 * found.floor_error)
    True
    """
    bends = vector("curvatures", curvatures, positive=True)
    bends, size = quadratic.setting(bends, scalar("step", step, positive=True), "curvatures")
    steps, shares = quadratic.fleet(inner_steps, weights)
    for name, array in (("inner_steps", steps), ("weights", shares)):
        if array.ndim != 1:
            raise ValueError(f"{name} must be one-dimensional, got shape {array.shape}")
    variance = float(quadratic.scale("noise", scalar("noise", noise)))
    moved = float(quadratic.scale("outer_step", scalar("outer_step", outer_step))) * shares
    count = integer("rounds", rounds, least=1)
    copies, start = integer("replicas", replicas, least=2), integer("seed", seed)
    with np.errstate(over="ignore"):  # such weights are refused below
        run = _Run(bends, float(size), steps, moved, math.sqrt(variance))
    pace = run.pull.sum(axis=0)
    if not np.all(ties.below(pace, 2)):
        raise ValueError(
            "outer_step must be smaller for these weights: some mode contracts by "
            f"{float(pace.max()):g}, and must stay below 2"
        )
    advance = run.literal if flag("literal", literal) else run.aggregated
    # After T rounds (1 - r)^(2T) of the variance is still missing.
    with np.errstate(divide="ignore", over="ignore"):
        settle = (math.log(1e3) / np.abs(np.log1p(-np.minimum(pace, 2 - pace)))).max()
    each = steps.sum(dtype=float) if literal else 1
    draws = (settle + count) * copies * bends.size * each
    if draws > _MOST_DRAWS:
        raise ValueError(
            f"rounds and replicas must need at most {_MOST_DRAWS:.0e} random numbers, but with "
            f"{settle:.3g} rounds to settle they need {draws:.3g}"
        )
    settle = math.ceil(settle * (1 - ties.TOLERANCE))

    def block(seeds: np.random.SeedSequence, size: int) -> Floats:
        """Return the mean squares of some of the copies."""
        rng = np.random.Generator(np.random.SFC64(seeds))
        x = np.zeros((bends.size, size))
        total = np.zeros_like(x)
        for turn in range(settle + count):
            x = advance(x, rng)
            if turn >= settle:
                total += x**2
        return total / count

    # Each block has a generator of its own, so that the result does not depend on the threads.
    sizes = [min(_BLOCK, copies - first) for first in range(0, copies, _BLOCK)]
    with ThreadPoolExecutor() as threads:  # drawing normals leaves the interpreter free
        blocks = threads.map(block, np.random.SeedSequence(start).spawn(len(sizes)), sizes)
        squares = np.concatenate(list(blocks), axis=1)
    loss = (bends[:, None] / 2 * squares).sum(axis=0)
    return Simulation(
        variances=squares.mean(axis=1),
        variance_errors=squares.std(axis=1, ddof=1) / math.sqrt(copies),
        floor=float(loss.mean()),
        floor_error=float(loss.std(ddof=1)) / math.sqrt(copies),
    )


class _Run:
    """One round of the server, on an array of modes by replicas."""

    def __init__(
        self, bends: Floats, size: float, steps: npt.NDArray[np.int64], moved: Floats, sigma: float
    ) -> None:
        order = np.argsort(-steps, kind="stable")  # those that run longest first
        self.steps, self.moved = steps[order], moved[order]
        self.shrink = (1 - size * bends)[:, None]
        self.kick = size * sigma
        self.pull = self.moved[:, None] * quadratic.contraction(bends * size, self.steps[:, None])
        shaken = quadratic.variance(
            bends, np.asarray(size), self.steps[:, None], np.asarray(sigma**2)
        )
        self.spread = np.sqrt((self.moved[:, None] ** 2 * shaken).sum(axis=0))[:, None]

    def literal(self, x: Floats, rng: np.random.Generator) -> Floats:
        """Run every inner step of every worker."""
        unit = x / self.kick  # so that each step adds a standard normal
        y = np.repeat(unit[None], self.steps.size, axis=0)
        noise = np.empty_like(y)
        for turn in range(int(self.steps[0])):
            busy = int(np.searchsorted(-self.steps, -turn))
            active = y[:busy]
            active *= self.shrink
            active += rng.standard_normal(out=noise[:busy])
        return np.asarray(x - self.kick * np.tensordot(self.moved, unit - y, axes=1))

    def aggregated(self, x: Floats, rng: np.random.Generator) -> Floats:
        """Draw the sum of the workers' noise at once."""
        pace = self.pull.sum(axis=0)[:, None]
        return np.asarray((1 - pace) * x + self.spread * rng.standard_normal(x.shape))
