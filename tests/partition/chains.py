"""Random chains of layers and pools of devices, and what counts as the least bottleneck."""

import numpy as np


def _costs(rng, layers):
    return [
        lambda: np.ones(layers),
        lambda: rng.integers(0, 4, layers).astype(float),
        lambda: rng.lognormal(size=layers),
        lambda: rng.pareto(0.5, layers),
        lambda: 10.0 ** rng.uniform(-300, 0, layers),
        lambda: rng.lognormal(size=layers) * rng.integers(0, 2, layers),
        lambda: np.full(layers, 0.1),
    ][rng.integers(7)]()


def _speeds(rng, devices):
    return [
        lambda: np.ones(devices),
        lambda: rng.integers(1, 4, devices).astype(float),
        lambda: rng.lognormal(size=devices),
        lambda: 10.0 ** rng.uniform(-6, 6, devices),
    ][rng.integers(4)]()


def instance(rng, layers, devices):
    """Costs, speeds and options of a random instance; each option is there half of the time."""
    costs, speeds = _costs(rng, layers), _speeds(rng, devices)
    options = {}
    if rng.integers(2):
        sizes = rng.integers(0, 5, layers)
        options["memory"] = sizes.tolist()
        most = max(1, int(2.5 * sizes.sum() / devices))
        options["capacity"] = rng.integers(0, most + 1, devices).tolist()
    if rng.integers(2):
        scale = costs.sum() / speeds.sum()
        options["overhead"] = scale * rng.choice([0, 0.1, 1, 3], devices)
    if rng.integers(2):
        options["nonempty"] = True
    return costs, speeds, options


def attains(found, least):
    """The documented rule: the least bottleneck, to a relative 1e-12."""
    return least <= found <= least * (1 + 1e-12)
