"""Speed of the simulation, as a ratio against a pure-Python loop in the same run.

Both draw every inner step of every worker; the loop is timed on few rounds and scaled up.
The aggregated law is timed beside them, per round and copy.
"""

from __future__ import annotations

import random

from decentral.inner_steps import best_weights, loss_floor, simulate
from timing import seconds

MODES, STEP = [1.0, 0.25, 0.05], 0.2


def loop(fleet: list[int], weights: list[float], rounds: int, seed: int) -> float:
    """Simulate as one would first write it; return the mean loss."""
    rng = random.Random(seed)
    state = [0.0] * len(MODES)
    total = 0.0
    for _ in range(rounds):
        for mode, curvature in enumerate(MODES):
            moved = 0.0
            for steps, weight in zip(fleet, weights, strict=True):
                y = state[mode]
                for _ in range(steps):
                    y -= STEP * (curvature * y + rng.gauss(0.0, 1.0))
                moved += weight * (state[mode] - y)
            state[mode] -= moved
            total += curvature / 2 * state[mode] ** 2
    return total / rounds


def round_time(fleet: list[int], weights: list[float], *, literal: bool) -> float:
    """Return seconds per round of one copy of our simulation, settling left out."""
    copies, rounds = 2000, 100 if literal else 2000

    def run(count: int) -> float:
        options = {"replicas": copies, "rounds": count, "literal": literal}
        return seconds(lambda: simulate(MODES, STEP, fleet, weights, **options), 3)

    return (run(rounds + 1) - run(1)) / rounds / copies


def main() -> None:
    print("fleet               literal steps    aggregated rounds")
    for name, fleet in (
        ("1, 64", [1, 64]),
        ("1, 2, 4, ..., 64", [1, 2, 4, 8, 16, 32, 64]),
        ("seven 1s, 256", [1] * 7 + [256]),
        ("2, 4, 4, 8", [2, 4, 4, 8]),
    ):
        weights = [1 / len(fleet)] * len(fleet)
        found = simulate(MODES, STEP, fleet, weights)
        exact = loss_floor(MODES, STEP, fleet, weights)
        assert abs(found.floor - exact) < 4 * found.floor_error
        theirs = seconds(lambda f=fleet, w=weights: loop(f, w, 200, 1), 3) / 200
        ratios = [theirs / round_time(fleet, weights, literal=each) for each in (True, False)]
        print(f"{name:18}{ratios[0]:9.0f} times{ratios[1]:15,.0f} times", flush=True)
    time = seconds(lambda: best_weights(MODES, STEP, [1] * 7 + [256], target=0.1), 5)
    print(f"best weights of eight workers on three modes: {time * 1e3:.1f} ms")


if __name__ == "__main__":
    main()
