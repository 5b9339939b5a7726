import torch
from torch import nn

from fixed import fill, points

x, y = points()
net = fill(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3)))
optimizer = torch.optim.SGD(net.parameters(), lr=0.2)
for step in range(4):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(net(x), y)
    loss.backward()
    total_norm = 0.0
    for p in net.parameters():
        if p.grad is not None:
            total_norm += p.grad.data.norm(2).item() ** 2
    total_norm = total_norm**0.5
    for p in net.parameters():
        p.grad.data.clamp_(-0.05, 0.05)
    optimizer.step()
    largest = max(p.grad.abs().max().item() for p in net.parameters())
    print(step, loss.item(), total_norm, largest)
