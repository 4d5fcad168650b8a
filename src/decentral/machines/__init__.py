"""What models and machines are: the layers of a transformer, the rates of a device.

Every figure of the outside world comes from one file, ``constants.toml``, which gives its
value, unit, source, the date when it was checked, and its kind.
"""

from decentral.machines.devices import Device, device, device_names
from decentral.machines.transformers import Layers, Transformer, from_config, layers, model

__all__ = [
    "model",
    "from_config",
    "Transformer",
    "layers",
    "Layers",
    "device",
    "device_names",
    "Device",
]
