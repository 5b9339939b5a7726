"""The norms of the gradients are logged between unscale_ and step."""

import torch
from torch import nn


def log_norms(net):
    return {name: round(p.grad.norm().item(), 4) for name, p in net.named_parameters()}


net = nn.Linear(3, 2)
nn.init.constant_(net.weight, 0.25)
nn.init.zeros_(net.bias)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
scaler = torch.amp.GradScaler("cpu")
for x in (torch.ones(2, 3), torch.full((2, 3), float("nan")), torch.full((2, 3), -2.0)):
    optimizer.zero_grad()
    loss = net(x).square().sum()
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    print(log_norms(net))
    scaler.step(optimizer)
    scaler.update()
print(scaler.get_scale(), round(net.weight.sum().item(), 4))
