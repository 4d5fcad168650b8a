"""Make the table of reference values, with fifty digits.

Run by ``python -m tests.library.reference_values``.

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
from tests.partition.oracle import blind_price_mpmath

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
            # Of the cube of an exponential time: from the sums of 1/j, 1/j^2 and 1/j^3.
            sums = [exponential]
            for m in (2, 3):
                sums.append(mpmath.zeta(m, n - k + 1) - mpmath.zeta(m, n + 1))
            cube = sums[0] ** 3 + 3 * sums[0] * sums[1] + 2 * sums[2]
            for tail in (False, True):
                yield (
                    "stragglers.round_time",
                    {"quantile": "cube", **call, "upper_tail": tail},
                    cube,
                )
            # Two times, 1 and 2: the round takes 2 if more than n - k workers do.
            for place in (0.1, 0.3947503937585385, 0.999) if n <= 1000 else ():
                p = mpmath.mpf(place)
                late = mpmath.fsum(
                    mpmath.binomial(n, j) * p**j * (1 - p) ** (n - j)
                    for j in range(n - k + 1, n + 1)
                )
                law = {"quantile": "step", "index": place, **call, "upper_tail": True}
                yield "stragglers.round_time", law, 1 + late


def heavy_tails() -> Iterator[Row]:
    """Round times where Q = (1 - u)^-b, up to the border b = n - k + 1."""
    for n in (1, 2, 10, 64, 1000, 3000, 10**5, 10**6):
        for k in quorums(n):
            for short in (0.9, 0.5, 1e-2, 1e-3, 1e-4):
                index = (n - k + 1) * (1 - short)
                logs = [n + 1, n - k + 1 - mpmath.mpf(index), n - k + 1, n + 1 - mpmath.mpf(index)]
                signs = (1, 1, -1, -1)
                log = sum(s * mpmath.loggamma(x) for s, x in zip(signs, logs, strict=True))
                if log < mpmath.log(1e300):
                    call = {"quantile": "power", "index": index, "workers": n, "quorum": k}
                    yield "stragglers.round_time", {**call, "upper_tail": True}, mpmath.exp(log)


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


def estimators() -> Iterator[Row]:
    """Mean squared errors over all orders of arrival, and what their rounding is measured by."""
    rates, n = [1.0, 2, 3, 5, 8, 13], 6
    heard = list(races(rates))
    for optima in ([0.0, 1, 2, 3, 4, 5], [1e6 + 1, 1e6, 1e6, 1e6, 1e6, 1e6 - 1]):
        mean = mpmath.fsum(optima) / n
        for k in (1, 3, 5, 6):
            chance = [mpmath.fsum(p for order, p in heard if i in order[:k]) for i in range(n)]
            noisy = mpmath.fsum(1 / p for p in chance) / n**2
            laws = {
                "plain": ([1 / mpmath.mpf(k)] * n, mean, 0.5 / mpmath.mpf(k), optima),
                "horvitz-thompson": (
                    [1 / (n * p) for p in chance], mean, noisy / 2,
                    [x / p for x, p in zip(optima, chance, strict=True)],
                ),
                "hajek": (
                    [1 / (n * p) for p in chance], 0, noisy / 2,
                    [(x - mean) / p for x, p in zip(optima, chance, strict=True)],
                ),
            }  # fmt: skip
            for name, (weights, goal, noise, scaled) in laws.items():
                values = [x - mean for x in optima] if name == "hajek" else optima
                square = mpmath.fsum(
                    p * (mpmath.fsum(weights[i] * values[i] for i in order[:k]) - goal) ** 2
                    for order, p in heard
                )
                call = {"estimator": name, "rates": rates, "quorum": k, "optima": optima}
                largest = (max(scaled) - min(scaled)) ** 2 / (square + noise)
                yield (
                    "sampling.mean_squared_error",
                    {**call, "noise": 0.5, "largest": float(largest)},
                    square + noise,
                )


def least(function, low: mpmath.mpf, high: mpmath.mpf) -> mpmath.mpf:
    """The least value of a convex function, by golden sections to half of the digits."""
    golden, fine = (mpmath.sqrt(5) - 1) / 2, (high - low) * mpmath.mpf(10) ** -24
    left, right = high - golden * (high - low), low + golden * (high - low)
    at_left, at_right = function(left), function(right)
    while high - low > fine:
        if at_left <= at_right:
            high, right, at_right = right, left, at_left
            left = high - golden * (high - low)
            at_left = function(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + golden * (high - low)
            at_right = function(right)
    return min(at_left, at_right)


def weightings() -> Iterator[Row]:
    """The least loss floor of two workers, by a search within a search."""
    step = 0.2
    for curvatures, inner_steps, target in (
        ([1.0], [1, 64], 0.1), ([1.0, 0.25, 0.05], [1, 256], 0.1), ([1.0, 0.01], [4, 5], 0.02),
        ([1.0, 0.25], [1, 1000], 0.9), ([3.0, 0.001], [1, 100], 0.001), ([9.0, 1.0], [2, 3], 0.5),
        ([1.0, 0.25], [1, 1000], 1.5), ([3.0, 0.7], [5, 300], 1.999), ([1.0], [2, 64], 1.9999),
    ):  # fmt: skip
        keep = [1 - mpmath.mpf(step) * a for a in curvatures]
        pull = [[1 - q**h for h in inner_steps] for q in keep]
        shake = [
            [step**2 * mpmath.fsum(q ** (2 * k) for k in range(h)) for h in inner_steps]
            for q in keep
        ]

        def floor(first, second, curvatures=curvatures, pull=pull, shake=shake):
            total = mpmath.mpf(0)
            for a, s, v in zip(curvatures, pull, shake, strict=True):
                pace = first * s[0] + second * s[1]
                if pace >= 2:
                    return mpmath.inf
                total += a / 2 * (first**2 * v[0] + second**2 * v[1]) / pace / (2 - pace)
            return total

        def best(first, pull=pull, target=target, floor=floor):
            need = max(0, *((target - first * s[0]) / s[1] for s in pull))
            most = min((2 - first * s[0]) / s[1] for s in pull)
            if need >= most:
                return mpmath.inf
            return least(lambda second: floor(first, second), mpmath.mpf(need), most)

        most = min(2 / s[0] for s in pull)
        call = {"curvatures": curvatures, "step": step, "inner_steps": inner_steps}
        call |= {"target": target, "field": "floor"}
        yield "inner_steps.best_weights", call, least(best, mpmath.mpf(0), most)


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
    for devices in (2, 3, 8, 64, 10**6, 10**12, 2**53):
        for sigma in (0.001, 0.01, 0.1, 0.3, 1.0, 2.0, 15.0):
            price, deviation = blind_price_mpmath(devices, sigma)
            call = {"devices": devices, "sigma": sigma}
            yield "partition.expected_blind_price", call, price
            yield "partition.blind_price_std", call, deviation


def rows() -> Iterator[Row]:
    """All rows of the table."""
    with mpmath.workdps(50):
        for part in (
            round_times,
            any_law,
            heavy_tails,
            unequal_workers,
            estimators,
            weightings,
            tails,
            blindness,
        ):
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
