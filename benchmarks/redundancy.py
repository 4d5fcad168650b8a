"""Speed of sizing and designing, as ratios against plain alternatives in the same run.

Sizing is compared with what people write, a search over r with SciPy's binomial law, one
pipeline at a time (on a part of them, scaled up); designs with a table of all (r, s) up to
the bounds of the source; allocations with trying all of them.
"""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
from scipy.stats import binom

from decentral.redundancy import (
    best_allocation,
    best_design,
    min_replicas,
    stage_outage,
    unequal_drop_probability,
    useful_yield,
)
from timing import seconds


def search(stages: int, availability: float, target: float, skips: int) -> int:
    """Try r = 1, 2, ... until the drop rate is low enough."""
    replicas = 1
    while binom.sf(skips, stages, (1 - availability) ** replicas) > target:
        replicas += 1
    return replicas


def table(stages: int, availability: float, loss: float) -> float:
    """Compute the cost for all r up to 60 and all s up to 24, and take the least."""
    replicas = np.arange(1, 61)[:, None]
    skips = np.arange(min(24, stages) + 1)
    useful = useful_yield(stages, stage_outage(availability, replicas), loss, skips=skips)
    return float((stages * replicas / useful).min())


def main() -> None:
    rng = np.random.default_rng(0)
    count, part = 20_000, 400
    stages, skips = rng.integers(8, 500, count), rng.integers(0, 8, count)
    live, target = rng.uniform(0.5, 0.99, count), 10 ** rng.uniform(-9, -1, count)
    ours = seconds(lambda: min_replicas(stages, live, target, skips=skips), 5)
    cases = list(zip(stages[:part], live[:part], target[:part], skips[:part], strict=True))
    theirs = seconds(lambda: [search(*case) for case in cases], 2) * count / part
    found = min_replicas(stages, live, target, skips=skips)
    assert [search(*case) for case in cases] == np.asarray(found)[:part].tolist()
    print(f"{count:,} sizings      {ours * 1e3:8.1f} ms {theirs / ours:8,.0f} times", flush=True)

    loss = rng.uniform(0.01, 0.9, 1000)
    length = rng.integers(8, 500, 1000)
    ours = seconds(lambda: best_design(length, 0.9, loss, max_skips=24), 3)
    theirs = seconds(lambda: [table(length[i], 0.9, loss[i]) for i in range(100)], 2) * 10
    costs = np.asarray(best_design(length, 0.9, loss, max_skips=24).cost)
    assert all(math.isclose(table(length[i], 0.9, loss[i]), costs[i]) for i in range(100))
    print(f"1,000 designs       {ours * 1e3:8.1f} ms {theirs / ours:8,.0f} times", flush=True)

    for size, workers in ((5, 20), (6, 24), (7, 24)):
        live = rng.uniform(0.5, 0.95, size)
        ours = seconds(lambda a=live, n=workers: best_allocation(a, n, skips=2), 5)

        def every(a: np.ndarray = live, n: int = workers) -> float:
            """Try all allocations, in one array."""
            cuts = np.array(list(combinations(range(1, n), a.size - 1)))
            ends = np.pad(cuts, ((0, 0), (1, 0))), np.pad(cuts, ((0, 0), (0, 1)), constant_values=n)
            outage = stage_outage(a, ends[1] - ends[0])
            return float(unequal_drop_probability(outage, skips=2).min())

        least = float(
            unequal_drop_probability(
                stage_outage(live, best_allocation(live, workers, skips=2)), skips=2
            )
        )
        assert math.isclose(least, every())
        ratio = seconds(every, 1) / ours
        print(f"{size} stages, {workers} workers {ours * 1e3:7.1f} ms {ratio:8,.0f} times")


if __name__ == "__main__":
    main()
