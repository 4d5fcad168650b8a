"""Properties that hold for all models and machines."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.library.strategies import close, few

from decentral import machines

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


def test_tables_are_plausible():
    for name in machines.device_names():
        found = machines.device(name)
        assert 1e12 < found.compute < 1e17
        assert found.bandwidth > 1e11
    assert machines.model("llama-3-8b").parameters > 8e9
