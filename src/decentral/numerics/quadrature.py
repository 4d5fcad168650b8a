"""Adaptive Gauss-Legendre quadrature of many integrals at once."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from decentral.numerics.validation import Floats

_NODES = 32
# Panels are halved at most so often; a jump of the integrand is then located to 2**-60.
_DEPTH = 60
# So many panels are halved at once; it bounds the memory.
_BATCH = 4096
# What a jump between an end of a panel and the nearest node weighs, in widths of the panel.
_BLIND = 1e-3


@cache
def _rule() -> tuple[Floats, Floats]:
    """Return the nodes and weights on (0, 1)."""
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    return (nodes + 1) / 2, weights / 2


@cache
def _ends() -> Floats:
    """Return what extrapolates from the nodes to 0 and to 1, shape (nodes, 2)."""
    nodes, _ = _rule()
    gaps = nodes[:, None] - nodes
    np.fill_diagonal(gaps, 1)
    columns = []
    for end in (0.0, 1.0):
        reach = np.tile(end - nodes, (_NODES, 1))
        np.fill_diagonal(reach, 1)
        columns.append((reach / gaps).prod(axis=1))
    return np.stack(columns, axis=1)


def integrate(
    function: Callable[[Floats], Floats],
    edges: Floats,
    *,
    rtol: float,
    base: Floats | float,
    jumps: bool = False,
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
    base : ndarray, shape (...)
    jumps : bool, optional
        Whether the function may jump. Then its values at the ends of a panel must also be
        those that the nodes foretell, else a jump beside an end could be missed.

    Returns
    -------
    ndarray, shape (...)
    """
    left, right = edges[:-1], edges[1:]
    coarse = _panels(function, left, right, jumps)[0]
    total = base + coarse.sum(axis=-1)
    batches = [(left, right, coarse, 0)]
    while batches:
        left, right, coarse, depth = batches.pop()
        middle = (left + right) / 2
        left, right = np.stack([left, middle], 1).ravel(), np.stack([middle, right], 1).ravel()
        fine, unforeseen = _panels(function, left, right, jumps)
        pairs = fine.reshape(*fine.shape[:-1], -1, 2).sum(axis=-1)
        total = total + (pairs - coarse).sum(axis=-1)
        off = np.abs(pairs - coarse)
        off = np.maximum(off, unforeseen.reshape(*off.shape, 2).sum(axis=-1))
        rough = (off > rtol * total[..., None]).reshape(-1, off.shape[-1]).any(axis=0)
        if depth < _DEPTH and rough.any():
            again = np.repeat(rough, 2)
            left, right, fine = left[again], right[again], fine[..., again]
            for start in range(0, left.size, _BATCH):
                part = slice(start, start + _BATCH)
                batches.append((left[part], right[part], fine[..., part], depth + 1))
    return np.asarray(total)


def _panels(
    function: Callable[[Floats], Floats], left: Floats, right: Floats, jumps: bool
) -> tuple[Floats, Floats]:
    """Return the integral over each panel, and what the ends make doubtful about it."""
    nodes, weights = _rule()
    if jumps:
        nodes = np.concatenate([nodes, [0.0, 1.0]])
    width = right - left
    values = function((left[:, None] + width[:, None] * nodes).ravel())
    values = values.reshape(*values.shape[:-1], width.size, nodes.size)
    inside = values[..., :_NODES]
    integrals = (inside @ weights) * width
    if not jumps:
        return integrals, np.zeros_like(integrals)
    unforeseen = np.abs(inside @ _ends() - values[..., _NODES:]).sum(axis=-1)
    return integrals, _BLIND * width * unforeseen
