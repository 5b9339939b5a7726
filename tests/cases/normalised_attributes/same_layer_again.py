"""Layers that are made anew from the settings of others."""

import torch
from torch import nn

pad = nn.ReflectionPad2d((1, 2, 0, 1))
again = nn.ReflectionPad2d(pad.padding)
x = torch.arange(12.0).view(1, 1, 3, 4)
print(pad.padding, torch.equal(pad(x), again(x)))
zero = nn.ZeroPad2d(pad.padding)
print(zero.padding, tuple(zero(x).shape))
unpool = nn.MaxUnpool2d(2)
print(unpool.kernel_size, unpool.stride, unpool.padding)
one = nn.MaxUnpool1d(3, stride=2)
print(one.kernel_size, one.stride, one.padding)
frac = nn.FractionalMaxPool2d(3, output_size=2)
print(frac.kernel_size, frac.output_size, frac.output_ratio)
wide = nn.ReflectionPad1d(pad.padding[0])
print(wide.padding, sum(wide.padding))
