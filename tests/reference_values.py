"""Make the table of reference values, with fifty digits: ``python tests/reference_values.py``.

Each row of ``reference_values.csv`` is a call of a public function whose docstring claims an
accuracy, with the exact value to twenty-five digits. The formulas here share no code with the
library. The rows sweep the whole range for which the claim is made.
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterator
from itertools import combinations, permutations
from pathlib import Path

import mpmath

from oracles import blind_price_mpmath

TABLE = Path(__file__).with_name("reference_values.csv")
WORKERS = (1, 2, 3, 10, 1000, 10**6, 10**9, 2**53)
Row = tuple[str, dict[str, object], mpmath.mpf]


def quorums(workers: int) -> list[int]:
    return sorted({1, (workers + 1) // 2, workers - workers // 100, max(1, workers - 1), workers})


def round_times() -> Iterator[Row]:
    """Means of order statistics: differences of digamma functions, quotients of gammas."""
    for n in WORKERS:
        for k in quorums(n):
            call = {"workers": n, "quorum": k}
            mean = mpmath.digamma(n + 1) - mpmath.digamma(n - k + 1)
            spread = mpmath.psi(1, n - k + 1) - mpmath.psi(1, n + 1)
            yield "stragglers.exponential_round_time", call, mean
            yield "stragglers.exponential_round_variance", call, spread
            for tail in (0.25, 1.0, 1.1, 2.0, 30.0, 1e6):
                if n - k + 1 > 1 / tail + 1e-9:
                    part = 1 / mpmath.mpf(tail)
                    logs = [n + 1, n - k + 1 - part, n + 1 - part, n - k + 1]
                    signs = (1, 1, -1, -1)
                    value = mpmath.exp(
                        sum(s * mpmath.loggamma(x) for s, x in zip(signs, logs, strict=True))
                    )
                    if value < 1e300:
                        yield "stragglers.pareto_round_time", {**call, "tail": tail}, value


def any_law() -> Iterator[Row]:
    """Round times of laws given by their quantiles, which are also known in closed form."""
    for n in (1, 2, 10, 1000, 10**6):
        for k in quorums(n):
            call = {"workers": n, "quorum": k}
            exponential = mpmath.digamma(n + 1) - mpmath.digamma(n - k + 1)
            uniform = mpmath.mpf(k) / (n + 1)
            for tail in (False, True):
                call["upper_tail"] = tail
                yield "stragglers.round_time", {"quantile": "uniform", **call}, uniform
                yield "stragglers.round_time", {"quantile": "exponential", **call}, exponential


def races(rates: list[float]) -> Iterator[tuple[tuple[int, ...], mpmath.mpf]]:
    """Every order of arrival with its probability."""
    for order in permutations(range(len(rates))):
        left, chance = mpmath.fsum(rates), mpmath.mpf(1)
        for worker in order:
            chance *= rates[worker] / left
            left = mpmath.fsum(rates[w] for w in order[order.index(worker) + 1 :])
        yield order, chance


def unequal_workers() -> Iterator[Row]:
    """Races of six workers over all orders, and their round times by inclusion and exclusion."""
    for rates in ([1.0] * 6, [1.0, 2, 3, 5, 8, 13], [1e-7, 1e-3, 1.0, 1.0, 1e4, 1e7]):
        n, all_races = len(rates), list(races(rates))
        for k in (1, 3, 5, 6):
            call = {"rates": rates, "quorum": k}
            for i in (0, 2, 5):
                heard = mpmath.fsum(p for order, p in all_races if i in order[:k])
                yield "sampling.inclusion_probabilities", {**call, "at": [i]}, heard
            both = mpmath.fsum(p for order, p in all_races if {0, 3} <= set(order[:k]))
            if both:
                yield "sampling.joint_inclusion_probabilities", {**call, "at": [0, 3]}, both
            time = mpmath.fsum(
                (-1) ** (j - (n - k + 1)) * math.comb(j - 1, n - k)
                / mpmath.fsum(rates[w] for w in chosen)
                for j in range(n - k + 1, n + 1) for chosen in combinations(range(n), j)
            )  # fmt: skip
            yield "stragglers.unequal_round_time", call, time


def tails() -> Iterator[Row]:
    """Binomial tails, term by term from the first that is dropped."""
    for stages in (1, 2, 48, 10_000, 10**8):
        for outage in (1e-12, 1e-6, 1e-3, 0.1, 0.5, 0.9):
            mean = stages * outage
            for skips in sorted({0, 1, 5, int(1.5 * mean) + 2, int(3 * mean) + 8}):
                if skips >= stages or mean > 1e5:
                    continue
                q = mpmath.mpf(outage)
                j = skips + 1
                term = mpmath.binomial(stages, j) * q**j * (1 - q) ** (stages - j)
                total = mpmath.mpf(0)
                while j <= stages and (term > total * mpmath.mpf(10) ** -45 or j <= mean):
                    total += term
                    term *= mpmath.mpf(stages - j) / (j + 1) * q / (1 - q)
                    j += 1
                call = {"stages": stages, "outage": outage, "skips": skips}
                if total > mpmath.mpf("1e-300"):
                    yield "redundancy.drop_probability", call, total
                if total < mpmath.mpf("0.999"):
                    yield "redundancy.log_drop_probability", call, mpmath.log(total)


def blindness() -> Iterator[Row]:
    """The price of an equal split, by quadrature of another integral than the library's."""
    for devices in (2, 3, 8, 64):
        for sigma in (0.01, 0.3, 1.0, 2.0):
            price, deviation = blind_price_mpmath(devices, sigma)
            call = {"devices": devices, "sigma": sigma}
            yield "partition.expected_blind_price", call, price
            yield "partition.blind_price_std", call, deviation


def rows() -> Iterator[Row]:
    """All rows of the table."""
    with mpmath.workdps(50):
        for part in (round_times, any_law, unequal_workers, tails, blindness):
            yield from part()


def main() -> None:
    """Write the table."""
    with TABLE.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["function", "arguments", "value"])
        for function, call, value in rows():
            writer.writerow([function, json.dumps(call), mpmath.nstr(value, 25)])


if __name__ == "__main__":
    main()
