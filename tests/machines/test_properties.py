"""Properties that hold for all models and machines."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.library.strategies import close, few

from decentral import machines
from decentral.machines import constants

SHAPE = {
    "model_type": "llama", "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 3,
    "num_attention_heads": 4, "vocab_size": 100,
}  # fmt: skip


@few
@given(st.integers(1, 100), st.integers(1, 8))
def test_transformers(length, batch):
    shape = machines.from_config(SHAPE)
    one = machines.layers(shape, sequence_length=length)
    many = machines.layers(shape, sequence_length=length, microbatch_size=batch)
    assert close(many.flops, batch * one.flops)
    causal = machines.layers(shape, sequence_length=length, causal=True)
    again = machines.layers(shape, sequence_length=length, recompute=True)
    assert np.all(causal.flops <= one.flops)
    assert np.all(again.flops >= one.flops)
    assert np.all(again.activation_bytes <= one.activation_bytes)
    assert one.parameters.sum() == shape.parameters


@given(st.sampled_from(machines.device_names()))
def test_devices_are_plausible(name):
    found = machines.device(name)
    assert 1e12 < found.compute < 1e17
    assert found.bandwidth > 1e11


@given(st.sampled_from(list(constants.load()["models"])))
def test_models_are_plausible(name):
    assert 1e9 < machines.model(name).parameters < 1e12
