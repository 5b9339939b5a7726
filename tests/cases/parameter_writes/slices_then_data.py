"""Rows of a parameter are set, then its data is another tensor or copied into: alone, in a layer, while it trains."""

import torch
from torch import nn

p = nn.Parameter(torch.zeros(3, 2))
p.data[0] = 1
p.data = torch.full((3, 2), 4.0)
print(p.tolist())
p.data[1] = torch.ones(1, 2)
p.data.copy_(torch.full((3, 2), 5.0))
print(p.tolist())
with torch.no_grad():
    p[2] = torch.tensor([[7.0, 8.0]])
    p.copy_(p * 2)
print(p.tolist())
layer = nn.Linear(2, 3)
layer.weight.data[0] = torch.ones(1, 2)
layer.weight.data[1:] = torch.zeros(1, 2, 2)
layer.weight.data = layer.weight.data * 3
print(layer.weight.tolist())
layer.weight.data[:, 0] = 2
layer.weight = nn.Parameter(torch.ones(3, 2))
layer.weight.data[:, 0] = 9
layer.weight.data.copy_(torch.zeros(3, 2))
layer.bias.data[0] = 1
layer.bias.data = torch.tensor([1.0, 2.0, 3.0])
print(layer.weight.tolist(), layer.bias.tolist(), layer(torch.ones(1, 2)).tolist())


def load(layer, values):
    layer.weight.data[0] = values[0]
    layer.weight.data = values


load(layer, torch.arange(6.0).reshape(3, 2))
print(layer.weight.tolist())
opt = torch.optim.SGD(layer.parameters(), lr=0.5)
for _ in range(2):
    opt.zero_grad()
    layer(torch.ones(1, 2)).sum().backward()
    opt.step()
    layer.weight.data[0] = 1
    layer.weight.data = layer.weight.data + 1
    layer.weight.data[1] = torch.zeros(1, 2)
    layer.bias.data[0] = 3
    layer.bias.data.copy_(torch.zeros(3))
print(layer.weight.tolist(), layer.bias.tolist())
