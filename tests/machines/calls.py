"""One good call of each public function, with all its arguments."""

from decentral.machines import transformers

CALLS = {
    "from_config": {"config": {
        "model_type": "llama", "hidden_size": 64, "intermediate_size": 128,
        "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 100,
    }},
    "layers": {
        "transformer": transformers.model("gpt2-xl"), "sequence_length": 16,
        "microbatch_size": 1, "bytes_per_parameter": 2.0, "bytes_per_value": 2.0,
        "causal": False, "recompute": False,
    },
    "model": {"name": "gpt2-xl"},
    "device": {"name": "h100-sxm"},
    "device_names": {},
}  # fmt: skip
