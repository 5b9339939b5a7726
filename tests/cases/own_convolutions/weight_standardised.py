"""Weight standardisation, written the two usual ways."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class WSConv2d(nn.Conv2d):
    def forward(self, x):
        weight = self.weight
        mean = weight.mean(dim=(1, 2, 3), keepdim=True)
        std = weight.std(dim=(1, 2, 3), keepdim=True) + 1e-5
        return F.conv2d(x, (weight - mean) / std, self.bias, self.stride, self.padding, self.dilation, self.groups)


class StdConv(nn.Conv2d):
    def forward(self, x):
        v, m = torch.var_mean(self.weight, dim=[1, 2, 3], keepdim=True, unbiased=False)
        return self._conv_forward(x, (self.weight - m) / torch.sqrt(v + 1e-10), self.bias)


x = torch.arange(50.0).view(1, 2, 5, 5) / 50
for conv in (WSConv2d(2, 3, 3, padding=1), StdConv(2, 4, 3, stride=2, padding=1, groups=2), StdConv(2, 2, 3, bias=False)):
    with torch.no_grad():
        conv.weight.copy_(torch.arange(conv.weight.numel(), dtype=torch.float32).view(conv.weight.shape).sin())
        if conv.bias is not None:
            conv.bias.fill_(0.25)
    y = conv(x)
    print(tuple(y.shape), round(y.sum().item(), 3), round(y[0, 1, 1, 1].item(), 4))
padded = StdConv(2, 2, 3, padding=1, padding_mode="circular", bias=False)
nn.init.dirac_(padded.weight)
print(round(padded(x).abs().sum().item(), 3))
