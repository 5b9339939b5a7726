"""Rows of a weight are set, then all of it is copied, read from a state, and trained on."""

import torch
from torch import nn

net = nn.Linear(2, 3)
nn.init.ones_(net.weight)
nn.init.zeros_(net.bias)
saved = {k: v.clone() for k, v in net.state_dict().items()}
with torch.no_grad():
    net.weight[0] = 5
    net.weight[:, 1] = 7.0
print(net.weight.tolist())
with torch.no_grad():
    net.weight.copy_(torch.arange(6.0).reshape(3, 2))
    net.weight[1:] = 2
print(net.weight.tolist())
net.load_state_dict(saved)
print(net.weight.tolist())
opt = torch.optim.SGD(net.parameters(), lr=0.1)
opt.zero_grad()
net(torch.ones(1, 2)).sum().backward()
opt.step()
print(net.weight.tolist(), net.bias.tolist())
