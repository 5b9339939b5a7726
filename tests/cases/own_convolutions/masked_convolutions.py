"""Masked convolutions of one and three dimensions, and a causal one."""

import torch
from torch import nn


class MaskedConv1d(nn.Conv1d):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        mask = torch.ones_like(self.weight)
        mask[:, :, self.kernel_size[0] // 2 + 1 :] = 0
        self.register_buffer("mask", mask)

    def forward(self, x):
        return self._conv_forward(x, self.weight * self.mask, self.bias)


class CausalConv1d(nn.Conv1d):
    def __init__(self, channels, out, size):
        super().__init__(channels, out, size, padding=size - 1)

    def forward(self, x):
        y = self._conv_forward(x, self.weight, self.bias)
        return y[..., : -self.padding[0]]


class Scaled3d(nn.Conv3d):
    def __init__(self, *args, scale=2.0, **kwargs):
        super().__init__(*args, **kwargs)
        self.scale = nn.Parameter(torch.tensor(scale))

    def forward(self, x):
        return self._conv_forward(x, self.weight * self.scale, None)


masked, causal, scaled = MaskedConv1d(1, 2, 3, padding="same"), CausalConv1d(1, 1, 3), Scaled3d(1, 1, 2, bias=False)
for layer in (masked, causal, scaled):
    nn.init.constant_(layer.weight, 0.5)
    if layer.bias is not None:
        nn.init.zeros_(layer.bias)
x = torch.arange(6.0).view(1, 1, 6)
print(masked(x).tolist())
print(causal(x).tolist())
v = torch.ones(1, 1, 2, 3, 3)
loss = scaled(v).sum()
loss.backward()
print(loss.item(), scaled.scale.grad.item(), scaled.weight.grad.sum().item())
