"""Weights of an older network, whose names are changed by patterns; some are counted and left."""

import re

import torch
from torch import nn

PATTERNS = [(r"^features\.(\d+)\.", r"body.\1."), (r"^norm\.", "final_norm."), (r"^classifier\.", "head.")]


class Old(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))
        self.norm = nn.LayerNorm(4)
        self.classifier = nn.Linear(4, 2)


class New(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))
        self.final_norm = nn.LayerNorm(4)
        self.head = nn.Linear(4, 2)


def fill(net, start):
    for i, p in enumerate(net.parameters()):
        nn.init.constant_(p, start + i)


def load_renamed(path):
    found = {}
    for name, value in torch.load(path)["weights"].items():
        for pattern, new in PATTERNS:
            name = re.sub(pattern, new, name)
        found[name] = value
    return found


old, new = Old(), New()
fill(old, 1.0)
fill(new, -5.0)
torch.save({"weights": old.state_dict(), "version": 1}, "old.bin")
state = load_renamed("old.bin")
print(sorted(state))
print(new.load_state_dict(state))
state.pop("final_norm.bias")
state["extra.weight"] = torch.ones(1)
missing, unexpected = new.load_state_dict(state, strict=False)
print(missing, unexpected)
print({name: round(p.mean().item(), 3) for name, p in new.named_parameters()})
try:
    new.load_state_dict(state)
except RuntimeError as error:
    text = str(error)
    print("final_norm.bias" in text, "extra.weight" in text, "beta" in text)
norms = [k for k in state if "norm" in k or ".1." in k]
print(norms, sum(state[k].numel() for k in norms if not k.endswith("num_batches_tracked")))
