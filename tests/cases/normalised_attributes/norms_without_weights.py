"""Initial weights for normalisations, some of which have none."""

import torch
from torch import nn

layers = [
    nn.LayerNorm(4),
    nn.LayerNorm((2, 4), elementwise_affine=False),
    nn.LayerNorm(4, bias=False),
    nn.GroupNorm(2, 4, affine=False),
    nn.GroupNorm(2, 4),
    nn.BatchNorm1d(4, affine=False),
]
norm = nn.LayerNorm(4, elementwise_affine=False)
print(norm.weight is None, norm.bias is None, norm.normalized_shape, norm.eps, norm.elementwise_affine)
group = nn.GroupNorm(2, 4, affine=False)
print(group.weight, group.bias, group.affine, group.num_groups, group.num_channels)
no_bias = nn.LayerNorm(4, bias=False)
print(tuple(no_bias.weight.shape), no_bias.bias)
for layer in layers:
    if layer.weight is not None:
        nn.init.constant_(layer.weight, 2.0)
    if layer.bias is not None:
        nn.init.constant_(layer.bias, 0.5)
x = torch.tensor([[1.0, 2.0, 4.0, -1.0], [0.0, 3.0, 1.0, 1.0]])
for layer in layers:
    shape = (1, 2, 4) if isinstance(layer, nn.LayerNorm) and len(layer.normalized_shape) == 2 else (2, 4)
    y = layer(x.view(shape))
    print(type(layer).__name__, [n for n, _ in layer.named_parameters()], [round(v, 3) for v in y.flatten().tolist()])
