"""A mixture of kernels, chosen by the input, through super().forward and _conv_forward."""

import torch
from torch import nn


class Mixture(nn.Conv2d):
    def __init__(self, channels, out, size, experts):
        super().__init__(channels, out, size, padding=size // 2, bias=True)
        self.experts = nn.Parameter(torch.stack([torch.full(self.weight.shape, 0.1 * (i + 1)) for i in range(experts)]))

    def forward(self, x):
        share = torch.softmax(x.mean((1, 2, 3)), 0)
        weight = sum(w * k for w, k in zip(share, self.experts))
        return super().forward(x) + self._conv_forward(x, weight, self.bias * 0)


layer = Mixture(2, 2, 3, 2)
nn.init.constant_(layer.weight, 0.05)
nn.init.constant_(layer.bias, 0.3)
x = torch.arange(36.0).view(2, 2, 3, 3) / 36
print([round(v, 4) for v in layer(x).sum((2, 3)).flatten().tolist()])
