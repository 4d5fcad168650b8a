"""decentral.machines.transformers against published counts and formulas."""

import math

import numpy as np
import pytest

from decentral.machines import constants
from decentral.machines.transformers import Transformer, from_config, layers, model

MODELS = constants.load()["models"]


@pytest.mark.parametrize("name", MODELS)
def test_published_parameter_counts(name):
    assert model(name).parameters == MODELS[name]["parameters"]["value"]


@pytest.mark.parametrize("name", MODELS)
def test_the_chain_adds_up_to_the_model(name):
    shape, chain = model(name), layers(model(name), sequence_length=16)
    assert len(chain.names) == len(chain.flops) == shape.num_hidden_layers + 2
    copy = shape.vocab_size * shape.hidden_size if shape.tie_word_embeddings else 0
    assert chain.parameters.sum() == shape.parameters + copy
    np.testing.assert_array_equal(chain.parameter_bytes, 2 * chain.parameters)


@pytest.mark.parametrize("name", MODELS)
def test_flops_against_the_palm_formula(name):
    """6 N per token for N weights that multiply, and 12 s h_q for attention in each block."""
    shape, context, batch = model(name), 512, 3
    chain = layers(shape, sequence_length=context, microbatch_size=batch)
    blocks = shape.num_hidden_layers
    matrices = blocks * shape.block_weights + shape.vocab_size * shape.hidden_size
    per_token = 6 * matrices + 12 * blocks * context * shape.query_size
    assert chain.flops.sum() == pytest.approx(context * batch * per_token, rel=1e-12)
    assert chain.flops[0] == 0


def test_attention_by_counting_pairs():
    """Causal attention does 4 h_q FLOP for each pair of a token and one it may see."""
    shape, context = model("llama-3-8b"), 37
    full = layers(shape, sequence_length=context).flops[1]
    causal = layers(shape, sequence_length=context, causal=True).flops[1]
    pairs = sum(1 for i in range(context) for j in range(context) if j > i)
    assert full - causal == pytest.approx(3 * 4 * shape.query_size * pairs, rel=1e-12)


def test_activations_against_korthikanti():
    """34 s b h bytes a block, less the two dropout masks, for GPT without attention weights."""
    shape, context, batch = model("gpt2-xl"), 1024, 2
    chain = layers(shape, sequence_length=context, microbatch_size=batch)
    masks = 2
    assert chain.activation_bytes[1] == (34 - masks) * context * batch * shape.hidden_size
    assert chain.boundary_bytes == 2 * context * batch * shape.hidden_size


def test_recomputation():
    plain = layers(model("llama-3-70b"), sequence_length=64)
    lean = layers(model("llama-3-70b"), sequence_length=64, recompute=True)
    np.testing.assert_allclose(lean.flops[1:-1], plain.flops[1:-1] * 4 / 3, rtol=1e-12)
    assert np.all(lean.activation_bytes[1:-1] == lean.boundary_bytes)
    assert lean.flops[-1] == plain.flops[-1]
    assert lean.activation_bytes[-1] == plain.activation_bytes[-1]


def test_a_shape_by_hand():
    """Two blocks of width 4 with 2 heads, 1 key/value head, inner width 6, vocabulary 10."""
    config = {
        "model_type": "llama",
        "hidden_size": 4,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "num_key_value_heads": 1,
        "intermediate_size": 6,
        "vocab_size": 10,
    }
    shape = from_config(config)
    assert shape == Transformer(4, 2, 2, 1, 2, 6, 10, False)
    block = 4 * 4 + 2 * 4 * 2 + 4 * 4 + 3 * 4 * 6  # queries, keys and values, output, gated MLP
    assert shape.block_weights == block == 120
    assert shape.parameters == 40 + 2 * (120 + 8) + 4 + 40
    chain = layers(shape, sequence_length=3, bytes_per_parameter=16)
    assert chain.flops.tolist() == [0, 3 * 3 * (240 + 48), 3 * 3 * (240 + 48), 3 * 3 * 80]
    assert chain.parameter_bytes.tolist() == [640, 2048, 2048, 704]
    assert chain.activation_bytes.tolist() == [0, 276, 276, 2 * 3 * (8 + 10)]
    wide = from_config(config | {"head_dim": 8, "tie_word_embeddings": True})
    assert (wide.query_size, wide.key_value_size) == (16, 8)
    assert wide.parameters == 40 + 2 * (2 * 4 * 24 + 72 + 8) + 4


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"model_type": "mamba"},
            "model_type of config must be 'gpt2', 'llama' or 'mistral', got 'mamba'",
        ),
        ({"hidden_size": None}, "config must have the field 'hidden_size'"),
        ({"hidden_size": 4.5}, "hidden_size must be a whole number"),
        ({"num_hidden_layers": 0}, "num_hidden_layers must be at least 1"),
        ({"num_attention_heads": 3}, "hidden_size must be a multiple of the attention heads"),
        ({"attention_bias": True}, "attention_bias must be false"),
        ({"tie_word_embeddings": "false"}, "tie_word_embeddings must be True or False"),
        ({"num_key_value_heads": 3}, "must be a multiple of num_key_value_heads, got 32 and 3"),
    ],
)
def test_bad_config(change, message):
    config = MODELS["llama-2-7b"]["config"]["value"] | change
    with pytest.raises(ValueError, match=message):
        from_config(config)


@pytest.mark.parametrize(
    "change",
    [
        {"sequence_length": 0},
        {"microbatch_size": 1.5},
        {"bytes_per_parameter": 0},
        {"bytes_per_value": math.nan},
        {"causal": "no"},
        {"recompute": 1},
        {"sequence_length": 1025},
    ],
)
def test_bad_arguments(change):
    (name,) = change
    with pytest.raises(ValueError, match=f"{name} must be"):
        layers(model("gpt2-xl"), **({"sequence_length": 8} | change))


def test_unknown_model():
    with pytest.raises(ValueError, match=r"name must be 'gpt2-xl', .*, got 'gpt9'"):
        model("gpt9")
