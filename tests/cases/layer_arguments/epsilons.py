"""Epsilons of every size, and sizes in their place."""

import torch
from torch import nn


def block(channels, norm_layer=nn.BatchNorm2d):
    return nn.Sequential(nn.Conv2d(1, channels, 1), norm_layer(channels, 1e-3), nn.ReLU())


class Wide(nn.Module):
    def __init__(self, features, hidden):
        super().__init__()
        self.bn1 = nn.BatchNorm1d(features, hidden)
        self.bn2 = nn.BatchNorm1d(num_features=features, eps=2.0)

    def forward(self, x):
        return self.bn2(self.bn1(x))


x = torch.arange(8.0).view(2, 4)
net = Wide(4, 16)
print([round(v, 4) for v in net(x).flatten().tolist()], net.bn1.eps, net.bn2.eps)
print([round(v, 4) for v in net.bn1.running_var.tolist()])
net.eval()
print([round(v, 4) for v in net(x).flatten().tolist()])
small = block(2)
nn.init.ones_(small[0].weight)
nn.init.zeros_(small[0].bias)
print(small[1].eps, [round(v, 4) for v in small(torch.arange(4.0).view(1, 1, 2, 2)).flatten().tolist()])
for norm_layer in (nn.BatchNorm2d, nn.InstanceNorm2d):
    print(norm_layer(2, 1e-3, 0.3).eps, norm_layer(2, 1e-3, 0.3).momentum)
loss = Wide(4, 4)(x).pow(2).sum()
loss.backward()
print(round(loss.item(), 4))
