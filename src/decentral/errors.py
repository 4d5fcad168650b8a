"""What is raised if a well-formed question has no answer."""

from __future__ import annotations

__all__ = ["InfeasibleError"]


class InfeasibleError(ValueError):
    """Raised when the input is well formed but no solution exists.

    Parameters
    ----------
    message : str
        Which constraint fails, and by how much.
    device, layer : int, optional
        The device that cannot serve, or the layer that cannot be served
        (both counted from 0).
    shortfall : float, optional
        What is missing, in the unit of the constraint that fails.
    floor : float, optional
        What is reached at best, where the constraint bounds something from above.

    Examples
    --------
    >>> from decentral import InfeasibleError
    >>> from decentral.partition import partition
    >>> try:
    ...     partition([1.0, 1.0], [1.0], memory=[4, 4], capacity=[7])
    ... except InfeasibleError as error:
    ...     print(error.layer, error.shortfall)
    1 1
    """

    def __init__(
        self,
        message: str,
        *,
        device: int | None = None,
        layer: int | None = None,
        shortfall: float | None = None,
        floor: float | None = None,
    ) -> None:
        super().__init__(message)
        self.device = device
        self.layer = layer
        self.shortfall = shortfall
        self.floor = floor
