"""Speed of round times, quorums and inclusion, as ratios against plain alternatives in one run.

The alternatives are what people write: the sum over the spacings; trying one round after the
other for every quorum; the law of the others by one dynamic programme for each worker (on a few
workers, scaled up); and the exact race over all sets of workers.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from decentral.sampling import inclusion_probabilities
from decentral.stragglers import best_quorum, exponential_round_time, pareto_round_time
from papers.sources.all_sets import race
from timing import seconds

GOAL: dict[str, Any] = {"curvature": 1.0, "step": 0.02, "noise": 2.0, "start": 1.0}


def spacings(workers: int, quorum: int) -> float:
    """Sum the waits one by one."""
    return math.fsum(1 / j for j in range(workers - quorum + 1, workers + 1))


def product(workers: int, quorum: int, tail: float) -> float:
    """Multiply the factors, by their logarithms, in one array."""
    j = np.arange(workers - quorum + 1, workers + 1)
    return math.exp(-np.log1p(-1 / tail / j).sum())


def tried(times: np.ndarray, accuracy: float) -> tuple[int, int]:
    """Iterate the recursion for every quorum until the goal is reached, or cannot be."""
    best = (math.inf, 0, 0)
    rho = 1 - GOAL["step"]
    for quorum, time in enumerate(times, start=1):
        kick = GOAL["step"] ** 2 * GOAL["noise"] / quorum
        if kick / (1 - rho**2) < accuracy:
            error, rounds = GOAL["start"], 0
            while error > accuracy:
                error, rounds = rho**2 * error + kick, rounds + 1
            best = min(best, (rounds * time, quorum, rounds))
    return best[1:]


def one_by_one(rates: np.ndarray, quorum: int, workers: list[int], nodes: int = 96) -> None:
    """Run the programme over all others for each of some workers."""
    time = np.geomspace(0.1, 10, nodes)
    for worker in workers:
        law = np.zeros((quorum, nodes))
        law[0] = 1
        for rate in np.delete(rates, worker):
            running = np.exp(-rate * time)
            law[1:] = law[1:] * running + law[:-1] * (1 - running)
            law[0] *= running


def main() -> None:
    n = 10**6
    for name, law, plain in (
        ("exponential", lambda: exponential_round_time(n, n), lambda: spacings(n, n)),
        ("Pareto", lambda: pareto_round_time(n, n, tail=1.5), lambda: product(n, n, 1.5)),
    ):
        assert math.isclose(float(law()), plain(), rel_tol=1e-11)
        ours = seconds(law, 20)
        ratio = seconds(plain, 3) / ours
        print(f"{name + ', n = 10^6':28}{ours * 1e3:9.2f} ms {ratio:10,.0f} times", flush=True)

    times = exponential_round_time(1000, np.arange(1, 1001), shift=2)
    found = best_quorum(times, **GOAL, accuracy=1e-3)
    assert (found.quorum, found.rounds) == tried(times, 1e-3)
    ours = seconds(lambda: best_quorum(times, **GOAL, accuracy=1e-3), 20)
    ratio = seconds(lambda: tried(times, 1e-3), 2) / ours
    print(f"{'best quorum of 1000':28}{ours * 1e3:9.2f} ms {ratio:10,.0f} times", flush=True)

    rates = np.exp(0.7 * np.linspace(-1.5, 1.5, 16))
    member, chance = race(rates, 8)
    assert np.allclose(chance @ member, inclusion_probabilities(rates, 8), rtol=1e-12)
    ours = seconds(lambda: inclusion_probabilities(rates, 8), 10)
    ratio = seconds(lambda: race(rates, 8), 3) / ours
    print(f"{'inclusion, 16 workers':28}{ours * 1e3:9.2f} ms {ratio:10,.0f} times", flush=True)

    for orders in (1, 10):
        rates = np.geomspace(10 ** (-orders / 2), 10 ** (orders / 2), 1000)
        ours = seconds(lambda mu=rates: inclusion_probabilities(mu, 500), 3)
        ratio = 500 * seconds(lambda mu=rates: one_by_one(mu, 500, [0, 999]), 1) / ours
        label = f"inclusion, 10^{orders} in rates"
        print(f"{label:28}{ours * 1e3:9.2f} ms {ratio:10,.0f} times", flush=True)


if __name__ == "__main__":
    main()
