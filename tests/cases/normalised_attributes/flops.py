"""Multiplications of a network, counted by hooks that read the settings of its layers."""

import torch
from torch import nn

counts = {}


def hook(layer, inputs, output):
    n = output.numel()
    if isinstance(layer, nn.Conv2d):
        k = layer.kernel_size[0] * layer.kernel_size[1] * layer.in_channels // layer.groups
        counts["conv"] = counts.get("conv", 0) + n * k + (n if layer.bias is not None else 0)
    elif isinstance(layer, nn.Linear):
        counts["linear"] = counts.get("linear", 0) + n * layer.in_features
    elif isinstance(layer, nn.AvgPool1d):
        counts["pool"] = counts.get("pool", 0) + n * layer.kernel_size[0]
    elif isinstance(layer, nn.LayerNorm):
        affine = layer.weight is not None
        counts["norm"] = counts.get("norm", 0) + n * (2 if affine else 1)


net = nn.Sequential(
    nn.Conv2d(3, 4, 3, padding=1),
    nn.Conv2d(4, 4, (1, 3), groups=4, bias=False),
    nn.Flatten(2),
    nn.AvgPool1d(4),
    nn.LayerNorm(12, elementwise_affine=False),
    nn.Linear(12, 2),
    nn.LayerNorm(2),
)
for layer in net:
    layer.register_forward_hook(hook)
net(torch.ones(2, 3, 8, 8))
print(dict(sorted(counts.items())))
