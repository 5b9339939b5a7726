"""Layers that are made like others: with a bias where these have one."""

import torch
from torch import nn


def widen(conv, extra):
    made = nn.Conv2d(conv.in_channels + extra, conv.out_channels, conv.kernel_size, conv.stride, conv.padding,
                     groups=conv.groups, bias=conv.bias is not None)
    return made


def same_linear(layer):
    return nn.Linear(layer.in_features, layer.out_features, bias=layer.bias)


class Head(nn.Module):
    def __init__(self, like, bias=False):
        super().__init__()
        self.fc = nn.Linear(like.in_features, 2, bias=bias)
        self.conv = nn.Conv1d(2, 2, 1, bias=like.bias)
        self.up = nn.ConvTranspose2d(2, 2, 2, bias=like.bias)

    def forward(self, x):
        return self.fc(x)


for bias in (True, False):
    conv = widen(nn.Conv2d(3, 4, 3, padding=1, bias=bias), 2)
    print(conv.in_channels, conv.kernel_size, conv.padding, conv.bias is not None, len(list(conv.parameters())))
plain = nn.Linear(3, 3, bias=False)
print(same_linear(plain).bias, same_linear(nn.Linear(3, 1)).bias is not None)
head = Head(plain)
print(head.fc.bias, head.conv.bias, head.up.bias, [n for n, _ in head.named_parameters()])
print(nn.Linear(2, 2, bias=0).bias, nn.Linear(2, 2, bias=1).bias is not None)
