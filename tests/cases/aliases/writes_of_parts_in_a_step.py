"""Rows are written where views are read before, in another order, and not at all behind the write."""

import torch
from torch import nn

net = nn.Linear(3, 4)
with torch.no_grad():
    net.weight.copy_(torch.arange(12.0).reshape(4, 3) / 12)
    net.bias.fill_(0.25)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
data, target = torch.arange(6.0).reshape(2, 3) / 6, torch.ones(2, 4)
for step in range(2):
    opt.zero_grad()
    x = net(data)
    first = x.split(1)[0]
    seen = first.sum().item()
    x[0] = 0
    loss = ((x - target) ** 2).mean()
    loss.backward()
    opt.step()
    print(round(loss.item(), 5), round(seen, 5))
row = x[1]
row[0] = 5
print(x.tolist(), net.weight.tolist())
