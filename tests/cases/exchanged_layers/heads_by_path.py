"""Layers at paths, replaced with getattr and setattr of the parent."""

import torch
from torch import nn
from functools import reduce


class Scale(nn.Module):
    def __init__(self, inner, by):
        super().__init__()
        self.inner = inner
        self.by = nn.Parameter(torch.tensor(by))

    def forward(self, x):
        return self.inner(x) * self.by


def parent_of(net, path):
    *parents, last = path.split(".")
    return reduce(getattr, parents, net), last


net = nn.Sequential()
for i in range(2):
    stage = nn.Sequential()
    stage.add_module("fc", nn.Linear(2, 2))
    stage.add_module("act", nn.ReLU())
    net.add_module(f"stage{i}", stage)
net.add_module("out", nn.Linear(2, 1))
paths = [n for n, m in net.named_modules() if isinstance(m, nn.Linear)]
for number, path in enumerate(paths):
    owner, last = parent_of(net, path)
    setattr(owner, last, Scale(getattr(owner, last), float(number + 1)))
for p in net.parameters():
    if p.ndim:
        nn.init.constant_(p, 0.5)
print([n for n, _ in net.named_parameters()])
opt = torch.optim.Adam(net.parameters(), lr=0.05)
x = torch.tensor([[1.0, -0.5]])
for _ in range(2):
    opt.zero_grad()
    out = net(x).sum()
    out.backward()
    opt.step()
print(round(net(x).item(), 4), [round(p.item(), 4) for n, p in net.named_parameters() if n.endswith("by")])
