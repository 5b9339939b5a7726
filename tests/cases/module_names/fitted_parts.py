"""Trains where it is imported, as scripts of a course do."""

import torch
from torch import nn

inputs = torch.tensor([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
targets = torch.tensor([1, 0, 1])
net = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 2))
for k, p in enumerate(net.parameters()):
    nn.init.constant_(p, 0.2 - 0.1 * k)
opt = torch.optim.Adam(net.parameters(), lr=0.05)
for _ in range(5):
    hidden = net[1](net[0](inputs))
    logits = net[2](hidden)
    loss = nn.functional.cross_entropy(logits, targets)
    opt.zero_grad()
    loss.backward()
    opt.step()

leaf = torch.ones(2, requires_grad=True)
square = leaf**2
total = (square * torch.tensor([1.0, 2.0])).sum()
total.backward()
