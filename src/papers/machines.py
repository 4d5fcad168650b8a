"""A model on a pool of real devices, priced the same way in every paper."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from decentral.machines import constants, devices, transformers

# In pipeline order: fast and small, fast and large, slow and small.
POOL = ("h100-sxm",) * 8 + ("mi300x",) * 4 + ("a100-sxm-80",) * 4


@dataclass(frozen=True, eq=False)
class Job:
    """A training job: what the layers cost, and what the devices offer.

    Attributes
    ----------
    layers : decentral.machines.transformers.Layers
        Of one microbatch, embedding first and head last.
    costs : ndarray, shape (L,)
        FLOP of each layer.
    speeds : ndarray, shape (m,)
        FLOP/s of each device.
    memory : ndarray of int, shape (L,)
        Bytes of each layer: training state, and what it keeps for the microbatches in flight.
    capacity : ndarray, shape (m,)
        Bytes of each device that are left for layers.
    tokens : int
        In a microbatch.
    """

    layers: transformers.Layers
    costs: npt.NDArray[np.float64]
    speeds: npt.NDArray[np.float64]
    memory: npt.NDArray[np.int64]
    capacity: npt.NDArray[np.float64]
    tokens: int

    @property
    def within(self) -> dict[str, Any]:
        """The options that make a cut respect the memory."""
        return {"memory": self.memory, "capacity": self.capacity}


def llama_job(
    pool: tuple[str, ...] = POOL,
    *,
    state: int | None = None,
    reserve: float = 0.05,
    tokens: int = 4096,
) -> Job:
    """Train Llama 3 70B on a pool, one sequence a microbatch, with Adam in mixed precision.

    Attention is causal; each block's forward pass is run again before its backward pass.
    Each block keeps its input for as many microbatches as there are stages, which is what
    the first stage holds under 1F1B; the head keeps one. A device sets aside a share of
    its memory, and the activations of one block at work.

    Parameters
    ----------
    pool : tuple of str, optional
        Short names of devices, in pipeline order.
    state : int, optional
        Bytes per parameter for weights, gradients and the optimiser; by default those
        of Adam in mixed precision.
    reserve : float, optional
        Share of each device's memory that is set aside.
    tokens : int, optional
        In a sequence.

    Returns
    -------
    Job
    """
    if state is None:
        state = constants.load()["training"]["adam_bytes_per_parameter"]["value"]
    shape = transformers.model("llama-3-70b")
    options: dict[str, Any] = {"sequence_length": tokens, "causal": True}
    layers = transformers.layers(shape, recompute=True, bytes_per_parameter=state, **options)
    at_work = transformers.layers(shape, **options).activation_bytes[1]
    in_flight = np.full(len(layers.flops), len(pool), dtype=np.int64)
    in_flight[-1] = 1
    offered = [devices.device(name) for name in pool]
    return Job(
        layers=layers,
        costs=layers.flops,
        speeds=np.array([device.compute for device in offered]),
        memory=layers.parameter_bytes + in_flight * layers.activation_bytes,
        capacity=np.array([(1 - reserve) * device.memory - at_work for device in offered]),
        tokens=tokens,
    )
