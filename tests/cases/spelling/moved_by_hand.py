"""A step that helpers of another file take (moved_by_hand_parts), found in a table by their names."""

import moved_by_hand_parts as ways
import torch
from torch import nn

net = nn.Linear(2, 2)
with torch.no_grad():
    net.weight.copy_(torch.tensor([[0.5, -0.5], [0.25, 1.0]]))
    net.bias.zero_()
for k in range(3):
    loss = (net(torch.tensor([[1.0, 2.0]])) - 1).pow(2).sum()
    loss.backward()
    print(round(loss.item(), 5), round(ways.total_norm(list(net.parameters())), 5))
    ways.scaled_step(list(net.parameters()), 0.05)
print(net.weight.tolist(), net.bias.tolist())
