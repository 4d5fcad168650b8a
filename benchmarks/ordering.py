"""Speed of the exact order, as ratios against trying all orders in the same run.

Both find the same bottleneck. The enumeration cuts the chain exactly for every order,
with the library's own search; for more than seven devices it is timed on a part of the
orders and scaled up.
"""

from __future__ import annotations

import math
from itertools import islice, permutations

import numpy as np

from decentral.ordering import best_order
from decentral.partition import bottleneck
from timing import seconds


def main() -> None:
    rng = np.random.default_rng(0)
    costs = rng.lognormal(sigma=0.6, size=100)
    print("devices                search    vs all orders")
    for devices in (6, 7, 8):
        speeds = rng.lognormal(sigma=0.8, size=devices)
        ours = seconds(lambda v=speeds: best_order(costs, v), 5)
        some = min(math.factorial(devices), 5040)

        def enumerate_some(v: np.ndarray = speeds, n: int = some) -> float:
            return min(bottleneck(costs, np.array(order)) for order in islice(permutations(v), n))

        every = seconds(enumerate_some, 1) * math.factorial(devices) / some
        if some == math.factorial(devices):
            assert enumerate_some() == best_order(costs, speeds).partition.bottleneck
        print(f"{devices} different {ours * 1e3:14.1f} ms {every / ours:11,.0f} times", flush=True)
    for counts in ([1] * 16, [1] * 20, [8] * 3, [16] * 4):
        speeds = np.repeat(rng.lognormal(sigma=0.8, size=len(counts)), counts)
        ours = seconds(lambda v=speeds: best_order(costs, v), 2)
        name = f"{len(counts)} different" if max(counts) == 1 else "+".join(map(str, counts))
        print(f"{name:12} {ours * 1e3:13.1f} ms", flush=True)


if __name__ == "__main__":
    main()
