"""The usual orders: devices sorted by their speed alone."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from decentral.numerics.validation import Ints, choice, vector

Kind = Literal["given", "fast-first", "slow-first", "valley"]


def sort_order(speeds: npt.ArrayLike, kind: Kind) -> Ints:
    """Order devices by their speed alone, as people do.

    Parameters
    ----------
    speeds : array_like, shape (m,)
        Speed of each device, positive.
    kind : {"given", "fast-first", "slow-first", "valley"}
        ``"valley"`` puts the fast devices at both ends and the slow ones between.

    Returns
    -------
    ndarray of int, shape (m,)
        Positions in `speeds`; devices of equal speed keep their order.

    Raises
    ------
    ValueError
        If `speeds` is malformed or `kind` is none of the four.

    Examples
    --------
    >>> from decentral.ordering import sort_order
    >>> sort_order([1, 4, 2, 3], "valley")
    array([1, 2, 0, 3])
    """
    pace = vector("speeds", speeds, positive=True)
    fast_first = np.argsort(-pace, kind="stable")
    orders = {
        "given": np.arange(pace.size),
        "fast-first": fast_first,
        "slow-first": np.argsort(pace, kind="stable"),
        "valley": np.concatenate((fast_first[::2], fast_first[1::2][::-1])),
    }
    return orders[choice("kind", kind, tuple(orders))].astype(np.int64)
