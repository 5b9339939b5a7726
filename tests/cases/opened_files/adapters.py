# needs: safetensors
"""Adapter weights under prefixes: read key by key by a class of another file, and added to the base's."""

import torch
from safetensors.torch import save_file
from torch import nn

from adapter_parts import Adapter

base = nn.Linear(3, 2)
nn.init.constant_(base.weight, 0.5)
nn.init.zeros_(base.bias)
save_file(
    {"lora.down": torch.arange(3.0).view(1, 3), "lora.up": torch.ones(2, 1), "other.scale": torch.tensor([2.0])},
    "adapter.safetensors",
    metadata={"rank": "1", "alpha": "0.5"},
)
adapter = Adapter("adapter.safetensors")
print(adapter.rank, adapter.alpha, adapter.names())
with torch.no_grad():
    base.weight += adapter.delta()
print(base(torch.ones(1, 3)).tolist(), base.weight.tolist())
