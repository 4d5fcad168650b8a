"""The job of the pages costs layers and devices as it says."""

from functools import partial

import numpy as np
import pytest

from decentral.machines import devices, transformers
from papers import machines


@pytest.mark.parametrize(
    ("options", "bytes_each", "reserve", "tokens"),
    [
        ({}, 16, 0.05, 4096),
        ({"state": 12}, 12, 0.05, 4096),
        ({"reserve": 0.25}, 16, 0.25, 4096),
        ({"tokens": 1000}, 16, 0.05, 1000),
    ],
)
def test_the_job_costs_layers_and_devices_as_its_docstring_says(
    options, bytes_each, reserve, tokens
):
    pool = ("h100-sxm", "mi300x", "a100-sxm-80")
    job = machines.llama_job(pool, **options)
    shape = transformers.model("llama-3-70b")
    run = partial(transformers.layers, shape, sequence_length=tokens, causal=True)
    kept, working = run(recompute=True, bytes_per_parameter=bytes_each), run()
    assert job.tokens == tokens
    assert job.layers.flops.tolist() == job.costs.tolist() == kept.flops.tolist()
    copies = [3] * (len(kept.flops) - 1) + [1]
    held = zip(kept.parameter_bytes.tolist(), copies, kept.activation_bytes.tolist(), strict=True)
    assert job.memory.dtype == np.int64
    assert job.memory.tolist() == [weights + n * each for weights, n, each in held]
    offered = [devices.device(name) for name in pool]
    assert job.speeds.tolist() == [device.compute for device in offered]
    np.testing.assert_allclose(
        job.capacity,
        [
            device.memory - reserve * device.memory - working.activation_bytes[1]
            for device in offered
        ],
        rtol=1e-15,
    )


def test_the_whole_pool_is_the_default():
    job = machines.llama_job()
    assert job.speeds.tolist() == [devices.device(name).compute for name in machines.POOL]
    assert job.within == {"memory": job.memory, "capacity": job.capacity}
