"""Elements behind a mask and a slice of ``.data`` are set; then the data is another tensor, then copied into."""

import torch
from torch import nn


def prune(layer, limit):
    w = layer.weight.data
    w[w.abs() < limit] = 0
    layer.weight.data[0, :] = 9


layer = nn.Linear(2, 2, bias=False)
layer.weight.data = torch.tensor([[0.1, 2.0], [3.0, 0.2]])
prune(layer, 0.5)
print(layer.weight.tolist())
layer.weight.data = layer.weight.data * 2
print(layer.weight.tolist())
layer.weight.data.copy_(torch.ones(2, 2))
layer.weight.data[1] = torch.tensor([4.0, 5.0])
print(layer.weight.tolist(), layer(torch.ones(1, 2)).tolist())
