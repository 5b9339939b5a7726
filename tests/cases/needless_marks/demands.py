"""Assertions and filters that say nothing where no graph is recorded."""
import warnings

import torch
from torch import nn

warnings.simplefilter("ignore", category=torch.jit.TracerWarning)
warnings.filterwarnings("ignore", category=torch.serialization.SourceChangeWarning)


def fixed(features):
    assert not any(f.requires_grad for f in features), "features are fixed"
    assert all(f.requires_grad is False for f in features)
    return torch.stack(features).mean(0)


net = nn.Linear(2, 2)
with torch.no_grad():
    net.weight.fill_(0.5)
    net.bias.zero_()
    frozen = net(torch.ones(1, 2))
assert not frozen.requires_grad and not frozen.detach().requires_grad
assert net(torch.ones(1, 2)).requires_grad
print(fixed([frozen, frozen * 2]).tolist())
