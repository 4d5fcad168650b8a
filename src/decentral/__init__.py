"""Exact laws of decentralised training.

Each package answers one question and is imported by name, so that importing one law does
not pay for the others: ``from decentral.partition import partition``.
"""

from decentral.errors import InfeasibleError

__all__ = ["InfeasibleError", "__version__"]
__version__ = "0.1.0"
