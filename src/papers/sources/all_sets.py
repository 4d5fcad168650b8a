"""Whom a server hears that waits for the first k workers, by going through all sets of k.

No integral is used: the chances of the sets follow from those of smaller ones.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def race(rates: Floats, quorum: int) -> tuple[npt.NDArray[np.bool_], Floats]:
    """Return every set of k workers, as rows of flags, and its chance to be the first k.

    The next to finish is worker i with probability mu_i over the rates of all still running;
    the chances of all subsets follow, one size after the other.
    """
    member, chance = _race(tuple(rates.tolist()), quorum)
    return member.copy(), chance.copy()


@cache
def _race(speeds: tuple[float, ...], quorum: int) -> tuple[npt.NDArray[np.bool_], Floats]:
    rates, number = np.array(speeds), len(speeds)
    member = (np.arange(2**number)[:, None] >> np.arange(number) & 1).astype(bool)
    running = (~member * rates).sum(axis=1)
    chance = np.zeros(2**number)
    chance[0] = 1
    size = member.sum(axis=1)
    for done in range(quorum):
        (sets,) = np.nonzero(size == done)
        for worker in range(number):
            free = sets[~member[sets, worker]]
            chance[free | 1 << worker] += chance[free] * rates[worker] / running[free]
    chosen = size == quorum
    return member[chosen], chance[chosen]


def estimator_weights(rates: Floats, quorum: int, name: str) -> tuple[Floats, Floats]:
    """Return the chance of every set of k workers, and the weights an estimator gives to it."""
    member, chance = race(rates, quorum)
    inverse = member / (chance @ member)
    if name == "plain":
        return chance, member / quorum
    if name == "horvitz-thompson":
        return chance, inverse / rates.size
    return chance, inverse / inverse.sum(axis=1, keepdims=True)


def exact_error(rates: Floats, quorum: int, goal: Floats, name: str, noise: float = 1.0) -> float:
    """Return the mean squared error of an estimator by going through all sets of k workers."""
    chance, weights = estimator_weights(rates, quorum, name)
    bias = weights @ goal - goal.mean()
    return math.fsum(chance * (bias**2 + noise * (weights**2).sum(axis=1)))


def settled_error(
    rates: Floats, quorum: int, goal: Floats, name: str, rate: float, noise: float = 1.0
) -> float:
    """Return the mean squared error at which descent with an estimator's weights settles.

    A round maps the distance z from the mean optimum to (1 - rate W) z + rate e, with W the sum
    of the weights, of mean 1, e the error of the estimate if optima are counted from their mean,
    and the rate eta a. The moments of W and e are sums over all sets of k workers.
    """
    chance, weights = estimator_weights(rates, quorum, name)
    bias = weights @ (goal - goal.mean())
    shrink = 1 - rate * weights.sum(axis=1)
    first = math.fsum(chance * bias)
    square = math.fsum(chance * (bias**2 + noise * (weights**2).sum(axis=1)))
    mixed = math.fsum(chance * shrink * bias)
    settled = rate**2 * square + 2 * rate * first * mixed
    return settled / (1 - math.fsum(chance * shrink**2))
