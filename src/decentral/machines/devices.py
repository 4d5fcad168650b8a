"""What accelerators offer: dense bf16 rate, memory and bandwidth, from cited figures."""

from __future__ import annotations

from dataclasses import dataclass

from decentral.machines import constants

__all__ = ["Device", "device", "device_names"]


@dataclass(frozen=True)
class Device:
    """An accelerator as its maker specifies it.

    Attributes
    ----------
    name : str
        Maker, model and memory.
    compute : float
        Peak dense bf16 rate, in FLOP/s.
    memory : int
        In bytes.
    bandwidth : float
        Of the memory, in bytes/s.
    source : str
        Key of the rate's source in the book's bibliography.
    """

    name: str
    compute: float
    memory: int
    bandwidth: float
    source: str


def device(name: str) -> Device:
    """Return the device of that short name.

    Parameters
    ----------
    name : str
        One of :func:`device_names`.

    Returns
    -------
    Device

    Raises
    ------
    ValueError
        If there is no such device; the message lists those there are.

    Examples
    --------
    >>> from decentral.machines import device
    >>> h100, a100 = device("h100-sxm"), device("a100-sxm-80")
    >>> round(h100.compute / a100.compute, 2)
    3.17
    """
    entry = constants.lookup("devices", name)
    return Device(
        name=entry["name"],
        compute=entry["compute"]["value"],
        memory=entry["memory"]["value"],
        bandwidth=entry["bandwidth"]["value"],
        source=entry["compute"]["source"],
    )


def device_names() -> list[str]:
    """Return the short names of the devices in the table.

    Returns
    -------
    list of str

    Examples
    --------
    >>> from decentral.machines import device_names
    >>> print(*device_names())
    h200-sxm h100-sxm a100-sxm-80 a100-sxm-40 l40s l4 rtx-4090 rtx-3090 mi300x tpu-v5e
    """
    return list(constants.load()["devices"])
