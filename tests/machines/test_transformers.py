"""The layers of a transformer against published counts, by hand, and what is refused."""

import math
from fractions import Fraction

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


LLAMA = {
    "model_type": "llama",
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "vocab_size": 128,
}


def test_heads_need_not_divide_the_width_if_their_own_is_given():
    shape = from_config(LLAMA | {"num_attention_heads": 3, "head_dim": 8})
    assert (shape.query_size, shape.hidden_size) == (24, 64)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"intermediate_size": None}, "^config must have the field 'intermediate_size'$"),
        ({"mlp_bias": True}, "^mlp_bias must be false: the count leaves such biases out$"),
        ({"vocab_size": "many"}, "^vocab_size must be real numbers .* got 'many'$"),
        ({"vocab_size": [1, 2]}, r"^vocab_size must be a single number, got shape \(2,\)$"),
    ],
)
def test_bad_fields(change, message):
    with pytest.raises(ValueError, match=message):
        from_config(LLAMA | change)


def test_the_names_of_the_layers():
    names = layers(from_config(LLAMA), sequence_length=8).names
    assert names == ("embedding", "block 0", "block 1", "head")


def test_bytes_are_whole_and_rounded_up():
    chain = layers(
        from_config(LLAMA), sequence_length=8, bytes_per_parameter=1 / 3, bytes_per_value=0.7
    )
    counted = (chain.parameter_bytes, chain.parameters / 3), (chain.activation_bytes[-1:], 1433.6)
    for whole, exact in counted:
        assert whole.dtype.kind == "i"
        np.testing.assert_array_equal(whole, np.ceil(exact))


@pytest.mark.parametrize(
    "change",
    [
        {"bytes_per_value": 1e308},
        {"bytes_per_parameter": 1e308},
        {"sequence_length": 2**30, "microbatch_size": 2**30},
        {"sequence_length": 2**53, "microbatch_size": 2**53},
    ],
)
def test_bytes_beyond_integers_are_refused(change):
    with pytest.raises(ValueError, match=r"must give each layer less than 2\*\*63 bytes"):
        layers(from_config(LLAMA), **{"sequence_length": 8} | change)


def test_layers_beyond_integers_are_refused():
    config = {"model_type": "llama", "hidden_size": 2**40, "intermediate_size": 2**40}
    config |= {"num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 100}
    with pytest.raises(ValueError, match=r"^transformer must have less than 2\*\*63 parameters"):
        layers(from_config(config), sequence_length=4)


def test_one_parameter_too_many_is_refused():
    """A block of width h has 4 h**2 + 3 h i + 2 h parameters: here 2**63."""
    config = LLAMA | {"hidden_size": 2**11, "intermediate_size": 2 * (2**51 - 2**12 - 1) // 3}
    with pytest.raises(ValueError, match=r"in each layer, but one has 9.223e\+18"):
        layers(from_config(config), sequence_length=4)


def test_the_most_bytes_of_a_layer():
    """The head keeps 2 * 64 + 128 values of one token; each may have just under 2**55 bytes."""
    lean = {"sequence_length": 1, "recompute": True}
    most = math.nextafter(2.0**55, 0)
    chain = layers(from_config(LLAMA), **lean, bytes_per_value=most)
    assert chain.activation_bytes[-1] == 2**8 * int(most)
    with pytest.raises(ValueError, match=r"but it is 3\.60288e\+16 and a layer has 256 numbers"):
        layers(from_config(LLAMA), **lean, bytes_per_value=2.0**55)


def test_bytes_are_rounded_up_from_the_decimals_that_were_typed():
    for tenths in range(1, 80):
        size = tenths / 10
        found = layers(
            model("gpt2-xl"), sequence_length=10, bytes_per_parameter=size, bytes_per_value=size
        )
        exact = [math.ceil(Fraction(tenths, 10) * int(n)) for n in found.parameters]
        assert found.parameter_bytes.tolist() == exact
        assert found.boundary_bytes == 1600 * tenths  # ten tokens of 1600 values
