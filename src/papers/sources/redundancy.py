"""Experiments and claims of the paper on replicating and skipping stages."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import numpy.typing as npt

from decentral.errors import InfeasibleError
from decentral.machines import constants
from decentral.redundancy import (
    best_design,
    drop_probability,
    min_replicas,
    stage_outage,
    success_floor,
)
from papers.claims import Claim, Found, Published, Verdict, exactly

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def pattern_law(stages: int, replicas: int, availability: float, domain_outage: float) -> Floats:
    """Return P(D = 0), ..., P(D = L) for the dead stages D, by going through all patterns.

    A pattern says of each failure domain and of each replica whether it is up; there are
    2^(L(r+1)) of them. No formula for the outage or for the sum is used.
    """
    bits = stages * (replicas + 1)
    patterns = np.arange(2**bits)[:, None] >> np.arange(bits) & 1
    up = patterns.reshape(-1, stages, replicas + 1).astype(bool)
    chance_up = np.array([1 - domain_outage] + [availability] * replicas)
    chance = np.where(up, chance_up, 1 - chance_up).prod(axis=(1, 2))
    live = up[:, :, 0] & up[:, :, 1:].any(axis=2)
    dead = stages - live.sum(axis=1)
    return np.array([math.fsum(chance[dead == count]) for count in range(stages + 1)])


def dead_stages(
    stages: int,
    replicas: int,
    availability: float,
    domain_outage: float,
    *,
    rounds: int,
    seed: int,
    pools: int | None = None,
) -> Ints:
    """Draw every domain and every replica of a pipeline, and count its dead stages.

    With `pools` the stages share that many failure domains, in blocks of equal size, instead
    of each having its own.
    """
    rng = np.random.Generator(np.random.SFC64(seed))
    domains = stages if pools is None else pools
    down = rng.random((rounds, domains)) < domain_outage
    live = (rng.random((rounds, stages, replicas)) < availability).any(axis=2)
    live &= ~np.repeat(down, stages // domains, axis=1)
    return np.asarray(stages - live.sum(axis=1), dtype=np.int64)


def precise_drop(stages: int, outage: object, skips: int, *, log: bool = False) -> float:
    """Return P(D > s) or its logarithm, computed with fifty digits by adding up the terms."""
    with mpmath.workdps(60):
        q, first = mpmath.mpf(outage), skips + 1
        if q in (0, 1) or first > stages:
            total = mpmath.mpf(q == 1 and first <= stages)
        elif first < stages * q:  # the shorter end of the sum; nothing cancels at sixty digits
            total = 1 - _terms(stages, 1 - q, stages - skips)
        else:
            total = _terms(stages, q, first)
        return float(mpmath.log(total) if log else total)


def _terms(stages: int, q: mpmath.mpf, first: int) -> mpmath.mpf:
    """Add up the terms of the binomial law from `first` on, which lies above its mean."""
    logs = mpmath.loggamma(stages + 1) - mpmath.loggamma(first + 1)
    logs -= mpmath.loggamma(stages - first + 1)
    total = term = mpmath.exp(logs + first * mpmath.log(q) + (stages - first) * mpmath.log(1 - q))
    for count in range(first, stages):
        term *= q / (1 - q) * (stages - count) / (count + 1)
        total += term
        if term < total * mpmath.mpf(10) ** -50:
            break
    return total


def precise_least(
    stages: int, availability: float, target: float, skips: int, domain_outage: float
) -> float:
    """Return the least r of drop rate at most `target`, by trying r = 1, 2, ...; inf if none."""
    with mpmath.workdps(60):
        down, all_dead = mpmath.mpf(domain_outage), 1 - mpmath.mpf(availability)

        def too_few(replicas: int) -> bool:
            outage = down + (1 - down) * all_dead**replicas
            return precise_drop(stages, outage, skips) > target

        if too_few(1) and precise_drop(stages, down, skips) >= target:
            return math.inf
        replicas = 1
        while too_few(replicas):
            replicas += 1
    return float(replicas)


def cost_table(
    stages: int, availability: float, loss: float, *, most_replicas: int = 60, most_skips: int = 24
) -> Floats:
    """Return the cost of all designs up to some r (rows, from 1) and s (columns, from 0).

    The yields are added up term by term; this is the search of the source.
    """
    dead = np.arange(min(most_skips, stages) + 1)
    ways = np.array([float(math.comb(stages, int(count))) for count in dead])
    outage = (1 - availability) ** np.arange(1, most_replicas + 1)[:, None]
    terms = ways * (outage * (1 - loss)) ** dead * (1 - outage) ** (stages - dead)
    workers = stages * np.arange(1, most_replicas + 1)[:, None]
    return np.asarray(workers / np.cumsum(terms, axis=1))


def failure_rates() -> dict[str, float]:
    """Return the failures of a machine per hour in published runs, by the name of the run."""
    rates = {}
    for run in constants.load()["reliability"].values():
        if "hourly_loss" in run:
            rates[run["name"]] = -math.log1p(-run["hourly_loss"]["value"])
        else:
            machine_hours = run["hours"]["value"] * run["machines"]["value"]
            rates[run["name"]] = run["failures"]["value"] / machine_hours
    return rates


_DESIGNS = [(length, loss) for length in (16, 48, 128) for loss in (0.02, 0.1, 0.4)]


def _gains(max_skips: int | None) -> Floats:
    """Return what skipping gains in the nine designs of the source, for all L and kappa."""
    lengths, losses = np.array(_DESIGNS).T
    return np.asarray(best_design(lengths, 0.9, losses, max_skips=max_skips).gain)


def _deviating_patterns() -> int:
    """Count tails of small pipelines that the binomial law does not give, to 1e-12."""
    wrong = 0
    for stages, replicas in ((1, 1), (2, 3), (3, 2), (4, 3), (5, 2)):
        for availability, domain_outage in ((0.9, 0.0), (0.9, 1e-3), (0.5, 0.2)):
            law = pattern_law(stages, replicas, availability, domain_outage)
            outage = float(stage_outage(availability, replicas, domain_outage=domain_outage))
            for skips in range(stages):
                tail = float(drop_probability(stages, outage, skips=skips))
                wrong += not math.isclose(tail, math.fsum(law[skips + 1 :]), rel_tol=1e-12)
    return wrong


def _above_the_ceiling() -> int:
    """Count pipelines whose success without skips exceeds (1 - rho)^L, or stays away from it."""
    stages, domain_outage = np.meshgrid([1, 16, 48, 1000], [1e-6, 1e-3, 0.1])
    ceiling = (1 - domain_outage) ** stages
    replicas = np.arange(1, 41)[:, None, None]
    outage = stage_outage(0.9, replicas, domain_outage=domain_outage)
    success = (1 - outage) ** stages
    away = ~np.isclose(success[-1], ceiling, rtol=1e-9, atol=0)
    away |= ~np.isclose(success_floor(stages, domain_outage), ceiling, rtol=1e-9, atol=0)
    return int(np.sum(success > ceiling * (1 + 1e-12)) + np.sum(away))


def _r3() -> tuple[Found, ...]:
    try:
        alone = int(min_replicas(48, 0.9, 0.01, domain_outage=1e-3))
    except InfeasibleError:
        alone = 0
    one_skip = int(min_replicas(48, 0.9, 0.01, skips=1, domain_outage=1e-3))
    return Found(alone, "d"), Found(one_skip, "d")


def _r4() -> tuple[Found, ...]:
    return tuple(Found(48 * int(min_replicas(48, 0.9, 1e-3, skips=s)), "d") for s in (0, 4))


def _r5() -> tuple[Found, ...]:
    capped, free = _gains(24), _gains(None)
    return (
        Found(float(capped.max()), ".2f"),
        Found(float(capped.min()), ".3f"),
        Found(float(free[_DESIGNS.index((128, 0.02))]), ".4f"),
    )


CLAIMS = (
    Claim(
        id="R1",
        paper="redundancy",
        place="thm-tail",
        sentence=r"The drop probability is $P(\mathrm{Bin}(L, q) > s)$.",
        parameters="here all patterns of up to five stages",
        published=(Published("tails that deviate from the enumeration", "0"),),
        compute=exactly(_deviating_patterns),
        verdict=Verdict.CONFIRMED,
        remark=r"An incomplete beta function, $I_q(s+1, L-s)$, so it can be inverted.",
    ),
    Claim(
        id="R2",
        paper="redundancy",
        place="thm-outage",
        sentence=r"Success without skips is at most $(1 - \rho)^L$ for every $r$.",
        parameters="here $L$ up to 1000, $r$ up to 40",
        published=(Published("designs above it", "0"),),
        compute=exactly(_above_the_ceiling),
        verdict=Verdict.CONFIRMED,
        remark=r"It is the limit. With skips the limit is $1 - I_\rho(s+1, L-s)$.",
    ),
    Claim(
        id="R3",
        paper="redundancy",
        place="thm-replicas",
        sentence="Without skips no number of replicas is enough; with one skip a few are.",
        parameters=r"$L = 48$, $\rho = 10^{-3}$, $a = 0.9$, drop rate $10^{-2}$",
        published=(
            Published("replicas without skips (0: no number)", "0"),
            Published("with one skip", "3"),
        ),
        compute=_r3,
        verdict=Verdict.CONFIRMED,
        remark="By the closed form and its floor, not by a search.",
    ),
    Claim(
        id="R4",
        paper="redundancy",
        place="thm-replicas",
        sentence="Four skips save more than half of the workers.",
        parameters=r"$L = 48$, $\rho = 0$, $a = 0.9$, drop rate $10^{-3}$",
        published=(Published("workers without skips", "240"), Published("with four", "96")),
        compute=_r4,
        verdict=Verdict.CONFIRMED,
        remark="Three skips would still need a third replica of each stage.",
    ),
    Claim(
        id="R5",
        paper="redundancy",
        place="prop-free",
        sentence="Skip freely where skips cost little; keep more replicas as they cost more.",
        parameters=(
            r"$a = 0.9$, $L \in \{16, 48, 128\}$, $\kappa \in \{0.02, 0.1, 0.4\}$, "
            r"$s \le 24$, $r \le 60$"
        ),
        published=(
            Published("largest gain over no skips", "2.9"),
            Published("smallest", "1.08"),
            Published(r"at $L = 128$, $\kappa = 0.02$", "2.637", how="lower bound"),
        ),
        compute=_r5,
        verdict=Verdict.SHARPENED,
        remark=(
            "The third is without the cap on skips. A larger skip budget never costs anything, so "
            "the best is no cap; the published $s = 24$ is the edge of the search."
        ),
    ),
)
