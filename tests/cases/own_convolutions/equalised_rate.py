"""Equalised learning rate and demodulation, the convolution in another file, trained for two steps."""

import torch
from torch import nn

from equalised_rate_parts import EqualConv2d, PartialConv2d

net = nn.Sequential(EqualConv2d(1, 2, 3, 1, 1), nn.LeakyReLU(0.2), EqualConv2d(2, 1, 1))
for i, p in enumerate(net.parameters()):
    nn.init.constant_(p, 0.5 / (i + 1))
x = torch.arange(16.0).view(1, 1, 4, 4) / 16
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    optimizer.zero_grad()
    loss = net(x).pow(2).mean()
    loss.backward()
    optimizer.step()
    print(round(loss.item(), 5))
partial = PartialConv2d(1, 1, 3, padding=1)
nn.init.constant_(partial.weight, 1.0)
nn.init.constant_(partial.bias, 0.5)
mask = (torch.arange(16).view(1, 1, 4, 4) % 3 > 0).float()
y, kept = partial(x, mask)
print(round(y.sum().item(), 4), kept.sum().item())
