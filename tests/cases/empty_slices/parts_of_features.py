"""The first features are rotated, or none of them: what is left of them, and right, may be nothing."""

import torch
from torch import nn


def rotated(x, angles, start=0):
    stop = start + angles.shape[-1]
    left, middle, right = x[..., :start], x[..., start:stop], x[..., stop:]
    turned = middle * angles.cos() + middle.flip(-1) * angles.sin()
    return torch.cat((left, turned, right), dim=-1)


class Prefix(nn.Module):
    def __init__(self, kept=0):
        super().__init__()
        self.kept = kept
        self.project = nn.Linear(4, 4)

    def forward(self, x):
        return torch.cat((x[:, : self.kept], torch.tanh(self.project(x))), dim=1)


def sums_before(x):
    found = []
    for i in range(x.shape[1]):
        found.append(torch.cat((x[:, :i], x[:, i + 1 :]), dim=1).pow(2).sum(1))
    return torch.stack(found, 1)


def every_other(x, count=0):
    return torch.cat((x[..., :count:2], x), dim=-1)


x = (torch.arange(12.0).reshape(3, 4) / 10).requires_grad_()
angles = torch.linspace(0.1, 0.4, 4)
for name, value in {
    "rotated": rotated(x, angles),
    "rotated apart": rotated(x, angles[:2], start=1),
    "sums": sums_before(x),
    "every other": every_other(x),
    "every other of three": every_other(x, 3),
}.items():
    (grad,) = torch.autograd.grad((value * value).sum(), x)
    print(name, *(round(v, 4) for v in grad.flatten().tolist()))

net = Prefix()
with torch.no_grad():
    net.project.weight.copy_(torch.arange(16.0).reshape(4, 4) / 20 - 0.4)
    net.project.bias.zero_()
net(x).sum().backward()
print("prefix", *(round(v, 4) for v in net.project.weight.grad.flatten().tolist()))
