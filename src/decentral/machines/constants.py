"""The constants of the outside world, from one data file: value, unit, source, date, kind."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

from decentral.numerics.validation import choice


@cache
def load() -> dict[str, Any]:
    """Return the tables of ``constants.toml``: devices, models and training.

    Returns
    -------
    dict
        Nested tables; each constant is a table with the keys ``value``, ``unit``,
        ``source`` (a key of the book's bibliography), ``checked`` (a date) and
        ``kind`` (``"specification"``, ``"measurement"`` or ``"estimate"``).

    Examples
    --------
    >>> from decentral.machines.constants import load
    >>> entry = load()["training"]["adam_bytes_per_parameter"]
    >>> entry["value"], entry["unit"], entry["source"]
    (16, 'byte', 'rajbhandari2020zero')
    """
    return tomllib.loads(files("decentral.machines").joinpath("constants.toml").read_text("utf-8"))


def lookup(table: str, name: str) -> dict[str, Any]:
    """Return one entry of a table, or raise a ValueError that lists the names there are."""
    entries = load()[table]
    entry: dict[str, Any] = entries[choice("name", name, tuple(sorted(entries)))]
    return entry
