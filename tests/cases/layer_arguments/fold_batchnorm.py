"""BatchNorm folded into the convolution before it: a new convolution with a bias."""

import torch
from torch import nn


@torch.no_grad()
def fold(conv, bn):
    fused = nn.Conv2d(conv.in_channels, conv.out_channels, conv.kernel_size, conv.stride, conv.padding,
                      conv.dilation, conv.groups, True)
    scale = bn.weight / torch.sqrt(bn.running_var + bn.eps)
    fused.weight.copy_(conv.weight * scale.view(-1, 1, 1, 1))
    before = conv.bias if conv.bias is not None else torch.zeros_like(bn.running_mean)
    fused.bias.copy_((before - bn.running_mean) * scale + bn.bias)
    return fused


for bias in (False, True):
    conv, bn = nn.Conv2d(1, 2, 3, 2, 1, bias=bias), nn.BatchNorm2d(2)
    with torch.no_grad():
        conv.weight.copy_(torch.arange(18.0).view(2, 1, 3, 3) / 18)
        bn.running_mean.fill_(0.5)
        bn.running_var.fill_(4.0)
        bn.weight.fill_(2.0)
        if bias:
            conv.bias.fill_(0.1)
    bn.eval()
    x = torch.arange(16.0).view(1, 1, 4, 4) / 16
    print(torch.allclose(bn(conv(x)), fold(conv, bn)(x), atol=1e-5), round(fold(conv, bn)(x).sum().item(), 4))
