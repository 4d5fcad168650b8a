"""Adaptive Gauss-Legendre quadrature of many integrals at once."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from decentral._validation import Floats

_NODES = 32
# Panels are halved at most so often; a jump of the integrand is then located to 2**-60.
_DEPTH = 60


@cache
def _rule() -> tuple[Floats, Floats]:
    """Return the nodes and weights on (0, 1)."""
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    return (nodes + 1) / 2, weights / 2


def integrate(
    function: Callable[[Floats], Floats],
    edges: Floats,
    *,
    rtol: float,
    base: Floats | float = 0.0,
    twice: bool = False,
) -> Floats:
    """Add the integrals from the first edge to the last to the base, panel by panel.

    Parameters
    ----------
    function : callable
        Takes nodes of shape (m,) and returns values of shape (..., m), not negative.
    edges : ndarray, shape (p + 1,)
        Ascending.
    rtol : float
        A panel is halved until its halves change every sum by at most this share of it.
        For analytic integrands the halves are then right to about the square of it.
    base : ndarray, shape (...), optional
    twice : bool, optional
        Whether a panel must pass the test of `rtol` in two halvings on end. Where the function
        jumps, a panel may pass one by accident.

    Returns
    -------
    ndarray, shape (...)
    """
    left, right = edges[:-1], edges[1:]
    coarse = _panels(function, left, right)
    total = base + np.zeros(coarse.shape[:-1])
    passed = np.full(left.size, not twice)
    for _ in range(_DEPTH):
        middle = (left + right) / 2
        left, right = np.stack([left, middle], 1).ravel(), np.stack([middle, right], 1).ravel()
        fine = _panels(function, left, right)
        pairs = fine.reshape(*fine.shape[:-1], -1, 2).sum(axis=-1)
        scale = (total + pairs.sum(axis=-1))[..., None]
        close = np.abs(pairs - coarse) <= rtol * scale
        close = close.reshape(-1, close.shape[-1]).all(axis=0)
        done = close & passed
        total = total + pairs[..., done].sum(axis=-1)
        if done.all():
            return np.asarray(total)
        again = np.repeat(~done, 2)
        left, right, coarse = left[again], right[again], fine[..., again]
        passed = np.repeat(close, 2)[again]
    return np.asarray(total + coarse.sum(axis=-1))


def _panels(function: Callable[[Floats], Floats], left: Floats, right: Floats) -> Floats:
    """Return the integral over each panel, shape (..., panels)."""
    nodes, weights = _rule()
    width = right - left
    values = function((left[:, None] + width[:, None] * nodes).ravel())
    values = values.reshape(*values.shape[:-1], width.size, _NODES)
    return np.asarray((values @ weights) * width)
