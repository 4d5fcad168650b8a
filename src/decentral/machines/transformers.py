r"""What the layers of a decoder-only transformer cost, in FLOP and in bytes.

The shape comes from the fields of a Hugging Face ``config.json``. The chain has
one entry for the embedding, one for each block, and one for the final norm with
the output head.

Counting conventions. One multiply-accumulate is 2 FLOP. A matrix of n parameters
costs 2n FLOP per token going forward and twice that going back (once for the
gradient of its input, once for that of its weights). Attention scores and their
weighted sum cost :math:`4 s h_q` FLOP per token each way through the context s,
with :math:`h_q` the width of all query heads; with causal masking the mean context
is (s + 1)/2. Norms, activations, softmax and the embedding look-up are left out:
they are bound by memory bandwidth and small.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from decentral.machines import constants
from decentral.numerics.validation import Floats, Ints, choice, flag, integer, scalar

__all__ = [
    "model",
    "from_config",
    "Transformer",
    "layers",
    "Layers",
]


@dataclass(frozen=True)
class Transformer:
    """The shape of a decoder-only transformer.

    Attributes
    ----------
    hidden_size, num_hidden_layers, num_attention_heads, num_key_value_heads : int
        As in ``config.json``.
    head_dim, intermediate_size, vocab_size : int
        As in ``config.json``.
    tie_word_embeddings : bool
        Whether the output head reuses the embedding's matrix.
    gated : bool
        Whether the feed-forward part has a gate (three matrices instead of two).
    biased : bool
        Whether linear layers and norms carry biases.
    learned_positions : int
        Positions with an embedding of their own; 0 for rotary positions.
    """

    hidden_size: int
    num_hidden_layers: int
    num_attention_heads: int
    num_key_value_heads: int
    head_dim: int
    intermediate_size: int
    vocab_size: int
    tie_word_embeddings: bool
    gated: bool = True
    biased: bool = False
    learned_positions: int = 0

    @property
    def query_size(self) -> int:
        """Width of all query heads."""
        return self.num_attention_heads * self.head_dim

    @property
    def key_value_size(self) -> int:
        """Width of all key heads, and of all value heads."""
        return self.num_key_value_heads * self.head_dim

    @property
    def block_weights(self) -> int:
        """Parameters in the matrices of one block."""
        attention = 2 * self.hidden_size * (self.query_size + self.key_value_size)
        return attention + (3 if self.gated else 2) * self.hidden_size * self.intermediate_size

    @property
    def block_parameters(self) -> int:
        """Parameters of one block, with norms and biases."""
        norms = 2 * self.hidden_size
        if not self.biased:
            return self.block_weights + norms
        attention = self.query_size + 2 * self.key_value_size + self.hidden_size
        feed_forward = (2 if self.gated else 1) * self.intermediate_size + self.hidden_size
        return self.block_weights + 2 * norms + attention + feed_forward

    @property
    def embedding_parameters(self) -> int:
        """Parameters of the token embedding and of learned positions."""
        return (self.vocab_size + self.learned_positions) * self.hidden_size

    @property
    def norm_parameters(self) -> int:
        """Parameters of the final norm."""
        return (2 if self.biased else 1) * self.hidden_size

    @property
    def parameters(self) -> int:
        """All parameters, a tied matrix counted once."""
        head = 0 if self.tie_word_embeddings else self.vocab_size * self.hidden_size
        blocks = self.num_hidden_layers * self.block_parameters
        return self.embedding_parameters + blocks + self.norm_parameters + head


@dataclass(frozen=True, eq=False)
class Layers:
    """The chain of a transformer's layers, embedding first and output head last.

    Attributes
    ----------
    names : tuple of str, length L + 2
    flops : ndarray, shape (L + 2,)
        Forward and backward, for one microbatch.
    parameters : ndarray of int, shape (L + 2,)
        A tied head counts its copy of the matrix, which it needs as soon as it
        sits on another device than the embedding.
    parameter_bytes : ndarray of int, shape (L + 2,)
    activation_bytes : ndarray of int, shape (L + 2,)
        Kept between the forward and the backward pass of one microbatch.
    boundary_bytes : int
        What one cut passes on for one microbatch, in each direction.
    """

    names: tuple[str, ...]
    flops: Floats
    parameters: Ints
    parameter_bytes: Ints
    activation_bytes: Ints
    boundary_bytes: int


_FIELDS = {
    "gpt2": {
        "hidden_size": "n_embd",
        "num_hidden_layers": "n_layer",
        "num_attention_heads": "n_head",
        "intermediate_size": "n_inner",
    }
}
_SUPPORTED = ("gpt2", "llama", "mistral")


def from_config(config: Mapping[str, Any]) -> Transformer:
    """Read a transformer's shape from a Hugging Face ``config.json``.

    Parameters
    ----------
    config : mapping
        The parsed file. ``model_type`` must be ``"llama"``, ``"mistral"`` or
        ``"gpt2"``; fields that the family lets out take its defaults. A sliding
        window is ignored: attention is counted over the whole sequence.

    Returns
    -------
    Transformer

    Raises
    ------
    ValueError
        If a field is missing or malformed, or the family is not one of these.

    Examples
    --------
    >>> from decentral.machines import from_config
    >>> gpt2 = from_config({"model_type": "gpt2", "n_embd": 1600, "n_layer": 48,
    ...                     "n_head": 25, "n_positions": 1024, "vocab_size": 50257})
    >>> gpt2.parameters
    1557611200
    """
    if not isinstance(config, Mapping):
        raise ValueError(f"config must be a mapping, got an object of {type(config)}")
    family = choice("model_type of config", config.get("model_type"), _SUPPORTED)
    renamed = _FIELDS.get(family, {})

    def field(name: str, default: int | None = None) -> int:
        key = renamed.get(name, name)
        value = config.get(key)
        if value is None:
            value = default
        if value is None:
            raise ValueError(f"config must have the field {key!r}")
        return integer(key, value, least=1)

    hidden, heads = field("hidden_size"), field("num_attention_heads")
    if config.get("head_dim") is None and hidden % heads:
        raise ValueError(
            f"hidden_size must be a multiple of the attention heads unless head_dim is given, "
            f"got {hidden} and {heads}"
        )
    groups = field("num_key_value_heads", heads)
    if heads % groups:
        raise ValueError(
            f"num_attention_heads must be a multiple of num_key_value_heads, "
            f"got {heads} and {groups}"
        )
    for name in ("attention_bias", "mlp_bias"):
        if config.get(name):
            raise ValueError(f"{name} must be false: the count leaves such biases out")
    plain = family == "gpt2"
    return Transformer(
        hidden_size=hidden,
        num_hidden_layers=field("num_hidden_layers"),
        num_attention_heads=heads,
        num_key_value_heads=groups,
        head_dim=field("head_dim", hidden // heads),
        intermediate_size=field("intermediate_size", 4 * hidden if plain else None),
        vocab_size=field("vocab_size"),
        tie_word_embeddings=flag("tie_word_embeddings", config.get("tie_word_embeddings", plain)),
        gated=not plain,
        biased=plain,
        learned_positions=field("n_positions") if plain else 0,
    )


def model(name: str) -> Transformer:
    """Return the shape of a published model.

    Parameters
    ----------
    name : str
        One of ``"gpt2-xl"``, ``"llama-2-7b"``, ``"llama-3-8b"``,
        ``"llama-3-70b"``, ``"mistral-7b"``.

    Returns
    -------
    Transformer

    Raises
    ------
    ValueError
        If there is no such model.

    Examples
    --------
    >>> from decentral.machines import model
    >>> model("llama-3-70b").parameters
    70553706496
    """
    return from_config(constants.lookup("models", name)["config"]["value"])


def layers(
    transformer: Transformer,
    *,
    sequence_length: int,
    microbatch_size: int = 1,
    bytes_per_parameter: float = 2,
    bytes_per_value: float = 2,
    causal: bool = False,
    recompute: bool = False,
) -> Layers:
    """Cost every layer of a transformer for one microbatch of training.

    Parameters
    ----------
    transformer : Transformer
    sequence_length : int
        Tokens in a sequence.
    microbatch_size : int, optional
        Sequences in a microbatch.
    bytes_per_parameter : float, optional
        2 for bf16 weights alone; 16 with gradients and the state of Adam in mixed
        precision.
    bytes_per_value : float, optional
        Of an activation.
    causal : bool, optional
        Count only the attention that causal masking leaves. The default counts
        the full square, as is customary when utilisation is reported.
    recompute : bool, optional
        Keep only each block's input and run its forward pass again before the
        backward pass: fewer bytes, a third more work. The head is never run again,
        since its backward pass follows at once.

    Returns
    -------
    Layers

    Raises
    ------
    ValueError
        If an argument is malformed.

    Notes
    -----
    Kept values per token in a block without recomputation: the inputs of the two
    norms and their outputs (4h); queries and the attention's output (2 h_q); keys
    and values (2 h_kv); and of the feed-forward part the gate, the other branch
    and their product (3f), or input and output of the activation (2f). Attention
    weights are not kept (as in FlashAttention), nor are dropout masks.

    Examples
    --------
    >>> from decentral.machines import layers, model
    >>> chain = layers(model("llama-3-8b"), sequence_length=8192)
    >>> chain.names[0], chain.names[1], chain.names[-1], len(chain.flops)
    ('embedding', 'block 0', 'head', 34)
    >>> round(chain.flops.sum() / 1e12)  # one sequence, forward and backward
    474
    """
    if not isinstance(transformer, Transformer):
        raise ValueError(f"transformer must be a Transformer, got an object of {type(transformer)}")
    causal, recompute = flag("causal", causal), flag("recompute", recompute)
    context = integer("sequence_length", sequence_length, least=1)
    batch = integer("microbatch_size", microbatch_size, least=1)
    weight = scalar("bytes_per_parameter", bytes_per_parameter, positive=True)
    value = scalar("bytes_per_value", bytes_per_value, positive=True)
    shape, tokens, blocks = transformer, batch * context, transformer.num_hidden_layers
    hidden, vocabulary = shape.hidden_size, shape.vocab_size

    if shape.learned_positions and context > shape.learned_positions:
        raise ValueError(
            f"sequence_length must be at most the {shape.learned_positions} positions that the "
            f"model has learned, got {context}"
        )
    seen = (context + 1) / 2 if causal else context
    block = 2 * shape.block_weights + 4 * seen * shape.query_size
    head = 2 * hidden * vocabulary
    passes = 4 if recompute else 3  # backward counts twice
    flops = tokens * np.array([0.0, *[passes * block] * blocks, 3 * head])

    counts = [
        shape.embedding_parameters,
        *[shape.block_parameters] * blocks,
        shape.norm_parameters + hidden * vocabulary,
    ]
    if max(counts) >= 2**63:
        raise ValueError(
            "transformer must have less than 2**63 parameters in each layer, but one has "
            f"{max(counts):.4g}"
        )
    parameters = np.array(counts)
    branches = 3 if shape.gated else 2
    kept = 4 * hidden + 2 * (shape.query_size + shape.key_value_size)
    kept += branches * shape.intermediate_size
    values = [0, *[hidden if recompute else kept] * blocks, 2 * hidden + vocabulary]
    return Layers(
        names=("embedding", *(f"block {i}" for i in range(blocks)), "head"),
        flops=flops,
        parameters=parameters,
        parameter_bytes=_whole("bytes_per_parameter", weight, parameters),
        activation_bytes=_whole("bytes_per_value", value, tokens * np.array(values, float)),
        boundary_bytes=int(_whole("bytes_per_value", value, np.array([tokens * hidden]))[0]),
    )


def _whole(name: str, each: float, counts: npt.NDArray[np.number]) -> Ints:
    """Return the bytes of so many numbers, rounded up, or refuse counts beyond integers.

    A size with decimals may have been rounded up where it was typed, by half a unit in its last
    place at most: that is no further byte.
    """
    least = Fraction(each) if each.is_integer() else Fraction(each) * (1 - Fraction(1, 2**53))
    kinds, kind = np.unique(counts, return_inverse=True)
    total = [math.ceil(least * int(count)) for count in kinds]
    if max(total) >= 2**63:
        raise ValueError(
            f"{name} must give each layer less than 2**63 bytes, but it is {each:g} and a "
            f"layer has {counts.max():.4g} numbers"
        )
    return np.array(total, dtype=np.int64)[kind]
