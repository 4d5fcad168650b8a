"""Experiments and claims of the paper on weighting workers by their inner steps."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import numpy as np
import numpy.typing as npt

from decentral.inner_steps import (
    Simulation,
    best_weights,
    contraction,
    equal_weights,
    information,
    information_limit,
    information_weights,
    loss_floor,
    matched_outer_step,
    simulate,
    stationary_variance,
    step_weights,
    weight_penalty,
)
from papers.claims import Claim, Found, Published, Verdict, estimate, exactly

Floats = npt.NDArray[np.float64]

STEP = 0.2
MODES = (1.0, 0.25, 0.05)
FLEETS = {
    "1, 64": (1, 64),
    "1, 2, 4, …, 64": (1, 2, 4, 8, 16, 32, 64),
    "seven 1s, 256": (1,) * 7 + (256,),
    "2, 4, 4, 8": (2, 4, 4, 8),
}


def iterate(curvature: float, step: float, inner_steps: int) -> tuple[float, float]:
    """Return the mean contraction and the variance of a displacement, for noise 1, step by step."""
    mean, variance = 1.0, 0.0
    for _ in range(inner_steps):
        mean -= step * curvature * mean
        variance = (1 - step * curvature) ** 2 * variance + step**2
    return 1 - mean, variance


def settle(pull: float, shaken: float, *, rounds: int = 20_000) -> float:
    """Return the variance after many rounds of v <- (1 - r)^2 v + shaken; infinite if it grows."""
    variance = 0.0
    for _ in range(rounds):
        variance = (1 - pull) ** 2 * variance + shaken
        if variance > 1e100:
            return math.inf
    return variance


def slowest(inner_steps: npt.ArrayLike, weights: npt.ArrayLike) -> float:
    """Return the contraction of the slowest of the source's modes at outer step 1."""
    shrink = contraction(np.array(MODES)[:, None], STEP, inner_steps)
    return float((shrink @ np.asarray(weights)).min())


def fair_floor(inner_steps: npt.ArrayLike, weights: npt.ArrayLike, target: float) -> float:
    """Return the floor on the source's modes when the slowest contracts at `target`."""
    outer = matched_outer_step(MODES, STEP, inner_steps, weights, target=target)
    return float(loss_floor(MODES, STEP, inner_steps, weights, outer_step=outer))


SCHEMES: dict[str, Callable[[npt.ArrayLike], Floats]] = {
    "equal": equal_weights,
    "step": step_weights,
    "information": lambda fleet: information_weights(fleet, 0.25, STEP),
    "best": lambda fleet: best_weights(MODES, STEP, fleet, target=0.04).weights,
}


@cache
def simulations() -> dict[tuple[str, str], tuple[Simulation, Simulation, float]]:
    """Simulate every fleet under every scheme, with noise 2 and outer step 0.9.

    Returns
    -------
    dict
        By fleet and scheme: a simulation of literal inner steps, a larger one of the
        aggregated law, and the exact floor.
    """
    found: dict[tuple[str, str], tuple[Simulation, Simulation, float]] = {}
    for name, fleet in FLEETS.items():
        for scheme, weigh in SCHEMES.items():
            weights = weigh(fleet)
            literal = simulate(
                MODES, STEP, fleet, weights, noise=2, outer_step=0.9, rounds=25, replicas=600,
                seed=len(found),
            )  # fmt: skip
            quick = simulate(
                MODES, STEP, fleet, weights, noise=2, outer_step=0.9, rounds=200, replicas=3000,
                literal=False, seed=len(found),
            )  # fmt: skip
            exact = loss_floor(MODES, STEP, fleet, weights, noise=2, outer_step=0.9)
            found[name, scheme] = literal, quick, float(exact)
    return found


def _deviating_fixed_points() -> int:
    """Count fleets and modes whose variance, or stability, differs from the recursion's."""
    wrong = 0
    for fleet in FLEETS.values():
        for weights in (equal_weights(fleet), step_weights(fleet)):
            for curvature in MODES:
                shrink, shaken = np.array([iterate(curvature, STEP, steps) for steps in fleet]).T
                for pull in (0.5, 1.0, 1.99, 2.01):
                    outer = pull / float(weights @ shrink)
                    limit = settle(pull, outer**2 * float(weights**2 @ shaken))
                    law = stationary_variance(curvature, STEP, fleet, weights, outer_step=outer)
                    wrong += not math.isclose(float(law), limit, rel_tol=1e-9)
    return wrong


def _deviating_informations() -> int:
    """Count workers whose information is not I tanh(lambda H/2), to 1e-12."""
    wrong = 0
    for curvature in MODES:
        for steps in (1, 2, 8, 64, 256):
            shrink, variance = iterate(curvature, STEP, steps)
            decay = -math.log1p(-STEP * curvature)
            law = float(information_limit(curvature, STEP)) * math.tanh(decay * steps / 2)
            wrong += not math.isclose(shrink**2 / variance, law, rel_tol=1e-12)
    return wrong


def _s3() -> tuple[Found, ...]:
    shares = information(0.25, STEP, [8, 64]) / information_limit(0.25, STEP)
    return tuple(Found(float(share), ".1%") for share in shares)


def extremal_fleet(rate: float) -> tuple[float, list[int]]:
    """Return a curvature and a fleet that come close to the worst of equal weights.

    Many workers that run one step, and one that runs forever; `rate` is eta a.
    """
    return rate / STEP, [1] * round(1 / rate) + [10**9]


def _s4() -> tuple[Found, ...]:
    """Return the largest span and loss of fleets that approach the bounds, to four digits."""
    curvature, fleet = extremal_fleet(2e-5)
    best = information_weights(fleet, curvature, STEP)
    lost = float(weight_penalty(curvature, STEP, fleet, equal_weights(fleet)))
    return Found(float(best.max() / best.min()), ".4f"), Found(lost, ".4f")


def _s5() -> tuple[Found, ...]:
    fleets = FLEETS.values()
    lost = [weight_penalty(MODES, STEP, fleet, equal_weights(fleet)) for fleet in fleets]
    return (Found(float(np.max(lost)), ".3f"),)


def _s6() -> tuple[Found, ...]:
    fleet = FLEETS["seven 1s, 256"]
    return (Found(float(weight_penalty(1.0, STEP, fleet, step_weights(fleet))), ".3f"),)


def _s7() -> tuple[Found, ...]:
    fleet = FLEETS["seven 1s, 256"]
    equal, steps = equal_weights(fleet), step_weights(fleet)
    base = float(loss_floor(MODES, STEP, fleet, equal))
    fair = fair_floor(fleet, steps, slowest(fleet, equal))
    plain = float(loss_floor(MODES, STEP, fleet, steps))
    return Found(plain / base, ".2f"), Found(fair / base, ".2f")


def sampling_errors(rounds: int) -> list[float]:
    """Return the standard errors of mean losses over many rounds, relative to the floors.

    For the four fleets under equal and step weights. The iterate of a mode is a Gaussian
    autoregression of coefficient 1 - r, and the mean of its square over T rounds of one chain
    has the variance 2 v^2 (1 + (1 - r)^2) / (1 - (1 - r)^2) / T.
    """
    modes, errors = np.array(MODES), []
    for fleet in FLEETS.values():
        for weights in (equal_weights(fleet), step_weights(fleet)):
            keep = 1 - contraction(modes[:, None], STEP, fleet) @ weights
            loss = modes / 2 * stationary_variance(modes, STEP, fleet, weights)
            spread = 2 * loss**2 * (1 + keep**2) / (1 - keep**2) / rounds
            errors.append(float(np.sqrt(spread.sum()) / loss.sum()))
    return errors


def _s8() -> tuple[Found, ...]:
    """Return the largest deviation of eight exact simulations: its mean and its spread."""
    draws = np.random.default_rng(8).standard_normal((200_000, 8))
    return (estimate(np.abs(draws * sampling_errors(60_000)).max(axis=1), ".2%"),)


_FLEETS = r"fleets [1, 64], [1, 2, 4, …, 64], [1×7, 256], [2, 4, 4, 8], $\eta = 0.2$"

CLAIMS = (
    Claim(
        id="S1",
        paper="inner_steps",
        place="thm-floor",
        sentence=r"The variance settles at $\alpha^2 \sum w_i^2 V_i / (r(2-r))$, iff $0 < r < 2$.",
        parameters="here the four fleets, three modes, four outer steps",
        published=(Published("cases that deviate from the recursion", "0"),),
        compute=exactly(_deviating_fixed_points),
        verdict=Verdict.CONFIRMED,
        remark="The fixed point of a linear recursion.",
    ),
    Claim(
        id="S2",
        paper="inner_steps",
        place="thm-information",
        sentence=r"One worker's information is $I_\infty \tanh(\lambda H/2)$.",
        parameters=r"here $H$ up to 256, three modes",
        published=(Published("workers that deviate", "0"),),
        compute=exactly(_deviating_informations),
        verdict=Verdict.CONFIRMED,
        remark=r"For $\eta a < 1$; beyond, $\lambda$ is not real.",
    ),
    Claim(
        id="S3",
        paper="inner_steps",
        place="thm-information",
        sentence="A few inner steps carry little of the ceiling, many carry most of it.",
        parameters=r"$a = 0.25$, $\eta = 0.2$",
        published=(Published("$H = 8$", "20%"), Published("$H = 64$", "93%")),
        compute=_s3,
        verdict=Verdict.CONFIRMED,
        remark="",
    ),
    Claim(
        id="S4",
        paper="inner_steps",
        place="cor-eighth",
        sentence="The best weights of one mode span at most 2×, so equal weights lose at most 9/8.",
        parameters=r"$\eta a \le \sqrt{2}$",
        published=(
            Published("largest over smallest weight", "2", how="bound", tolerance=1e-3),
            Published("loss of equal weights", "1.125", how="bound", tolerance=1e-4),
        ),
        compute=_s4,
        verdict=Verdict.CONFIRMED,
        remark=(
            r"For $\eta a \le 1$ both are only approached, as $\eta a \to 0$, by many workers that "
            r"run one step and one that runs forever. They hold up to $\eta a = \sqrt{2}$, and no "
            "further."
        ),
    ),
    Claim(
        id="S5",
        paper="inner_steps",
        place="thm-weights",
        sentence="On four fleets equal weights lose less.",
        parameters=_FLEETS + r", $a \in \{0.05, 0.25, 1\}$",
        published=(Published("largest loss of equal weights", "1.09"),),
        compute=_s5,
        verdict=Verdict.CONFIRMED,
        remark="At equal contraction of the mode.",
    ),
    Claim(
        id="S6",
        paper="inner_steps",
        place="thm-weights",
        sentence="Step-proportional weights lose much more, mode by mode.",
        parameters=r"[1×7, 256], $a = 1$, $\eta = 0.2$",
        published=(Published("loss of step weights", "1.76"),),
        compute=_s6,
        verdict=Verdict.CONFIRMED,
        remark="",
    ),
    Claim(
        id="S7",
        paper="inner_steps",
        place="equal-progress",
        sentence="On three modes weights by steps reach 10.5 times the floor of equal weights.",
        parameters=r"[1×7, 256], $a \in \{1, 0.25, 0.05\}$, $\alpha = 1$, $\eta = 0.2$",
        published=(
            Published("step over equal weights at outer step 1", "10.5"),
            Published("read as the price of step weights, at equal progress", "10.5"),
        ),
        compute=_s7,
        verdict=Verdict.CORRECTED,
        remark="The number is right, and the reading is not.",
        correction=(
            "The study finds that on three modes weights by steps reach 10.5 times the floor of "
            "equal weights, and takes this for their price. The number is right at outer "
            "step 1. But with weights by steps the server also moves further in each round, so "
            "that a fast server is compared with a slow one. Tuned so that the slowest direction "
            "shrinks equally fast, weights by steps have the *lower* floor on this fleet. On other "
            "fleets they can lose nearly a factor of the number of workers."
        ),
    ),
    Claim(
        id="S8",
        paper="inner_steps",
        place="check-inner-steps",
        sentence="Simulation matches the floors.",
        parameters="60,000 rounds; here of one chain, four fleets, equal and step weights",
        published=(Published("largest deviation", "1%", how="estimate", draws=1),),
        compute=_s8,
        verdict=Verdict.WITHIN_SAMPLING_ERROR,
        remark=(
            "Ours is what an exact simulation of that length is off by on average, at its worst of "
            "eight. Our own simulations agree within four standard errors."
        ),
    ),
)
