"""Speed of the exact search, as ratios against alternatives measured in the same run.

The alternative is what people write: bisect the target to a relative tolerance, and
test each target by walking over all layers. It is timed in two versions: with a fixed
hundred halvings, as most code has it, and stopped at a relative 1e-12. Both start from
the theorem's bounds and get plain lists. The search is timed whole, with validation.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from decentral.partition import bottleneck
from timing import seconds


def walk(costs: Sequence[float], speeds: Sequence[float], target: float) -> bool:
    """Test a target layer by layer."""
    device, load = 0, 0.0
    for cost in costs:
        while load + cost > target * speeds[device] * (1 + 1e-12):
            device += 1
            load = 0.0
            if device == len(speeds):
                return False
        load += cost
    return True


def bisection(
    costs: Sequence[float], speeds: Sequence[float], *, halvings: int, tolerance: float
) -> float:
    """Bisect between the bounds of the theorem."""
    low = sum(costs) / sum(speeds)
    high = low + len(speeds) * max(costs) / sum(speeds)
    for _ in range(halvings):
        if high - low <= tolerance * high:
            break
        middle = (low + high) / 2
        if walk(costs, speeds, middle):
            high = middle
        else:
            low = middle
    return high


def main() -> None:
    rng = np.random.default_rng(0)
    print("layers     devices  costs       search    vs 100 halvings  vs 1e-12 stop  vs cumsum")
    for layers, devices, repeats in ((240, 8, 300), (10_000, 64, 30), (1_000_000, 1000, 5)):
        for kind, costs in (
            ("equal", np.ones(layers)),
            ("log-normal", rng.lognormal(sigma=0.6, size=layers)),
        ):
            speeds = rng.lognormal(sigma=0.5, size=devices)
            plain, pace = costs.tolist(), speeds.tolist()
            ours = seconds(lambda c=costs, s=speeds: bottleneck(c, s), repeats)
            summed = seconds(lambda c=costs: np.cumsum(c), repeats)
            few = max(1, repeats // 100)
            fixed = seconds(
                lambda p=plain, s=pace: bisection(p, s, halvings=100, tolerance=0.0), few
            )
            stopped = seconds(
                lambda p=plain, s=pace: bisection(p, s, halvings=100, tolerance=1e-12), few
            )
            found = bisection(plain, pace, halvings=100, tolerance=1e-12)
            assert abs(found / bottleneck(costs, speeds) - 1) < 1e-9
            print(
                f"{layers:<10,} {devices:<8,} {kind:<10} {ours * 1e6:8,.0f} µs "
                f"{fixed / ours:11.0f} times {stopped / ours:10.0f} times "
                f"{ours / summed:8.1f} times",
                flush=True,
            )


if __name__ == "__main__":
    main()
