# needs: safetensors
"""A checkpoint in two files with an index, opened lazily by a helper of another file."""

import json

import torch
from safetensors.torch import save_file
from torch import nn

from shards_parts import Shards

net = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
for i, p in enumerate(net.parameters()):
    nn.init.constant_(p, 0.1 * (i + 1))
state = net.state_dict()
index = {}
for number, prefix in enumerate(("0.", "2.")):
    name = f"shard{number}.safetensors"
    part = {k: v for k, v in state.items() if k.startswith(prefix)}
    save_file(part, name)
    index.update(dict.fromkeys(part, name))
with open("index.json", "w") as f:
    json.dump(index, f)
shards = Shards("index.json")
again = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
with torch.no_grad():
    for name, p in again.named_parameters():
        p.copy_(shards.get(name))
x = torch.ones(1, 2)
print(torch.equal(again(x), net(x)), sorted(shards.names()), shards.total())
