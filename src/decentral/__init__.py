"""Exact laws of decentralised training.

Each module answers one question and is imported by name, so that importing
one law does not pay for the others:

- :mod:`decentral.partition`: how to cut a chain of layers across devices of
  unequal speed.
- :mod:`decentral.ordering`: in which order unequal devices should stand.
- :mod:`decentral.redundancy`: whether to replicate the stages of a pipeline or
  to skip them.
- :mod:`decentral.inner_steps`: how to weight workers that ran different numbers of
  inner steps.
- :mod:`decentral.stragglers`: how many workers to wait for, and how soon an accuracy
  is reached.
- :mod:`decentral.sampling`: whom the server hears when it skips the slowest workers,
  and how to average what they say.
- :mod:`decentral.transformers`: what the layers of a decoder-only transformer
  cost.
- :mod:`decentral.devices`: what accelerators offer.
"""

from decentral.errors import InfeasibleError

__all__ = ["InfeasibleError", "__version__"]
__version__ = "0.1.0"
