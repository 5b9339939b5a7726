"""Loops that freeze a network with batch statistics, then free a part of it; asserts of torch's."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 4)
        self.norm = nn.BatchNorm1d(4)

    def forward(self, x):
        torch._assert(x.dim() == 2, f"{x.dim()} axes, not 2")
        return self.norm(self.first(x))


net = Net()
for p in net.parameters():
    p.requires_grad = False
print(sum(p.numel() for p in net.parameters() if p.requires_grad), sum(p.numel() for p in net.parameters()))
for weight in net.first.parameters():
    weight.requires_grad = True
for weight in net.norm.parameters():
    weight.requires_grad_(False)
print([tuple(p.shape) for p in net.parameters() if p.requires_grad])
x = torch.arange(12.0).reshape(3, 4)
(net(x) ** 2).sum().backward()
print([p.grad is None for p in net.parameters()], [tuple(b.shape) for b in net.norm.buffers()])
try:
    net(x[0])
except AssertionError as error:
    print("AssertionError", error)
