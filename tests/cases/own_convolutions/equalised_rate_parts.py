import math

import torch
from torch import nn
from torch.nn import functional as F


class EqualConv2d(nn.Conv2d):
    @property
    def gain(self):
        return 1 / math.sqrt(self.in_channels * self.kernel_size[0] * self.kernel_size[1])

    def forward(self, x):
        return self._conv_forward(x, self.weight * self.gain, self.bias)


class PartialConv2d(nn.Conv2d):
    def forward(self, x, mask):
        ones = torch.ones_like(self.weight)
        with torch.no_grad():
            seen = F.conv2d(mask, ones, None, self.stride, self.padding, self.dilation)
            kept = (seen > 0).float()
            ratio = ones[0].numel() / (seen + 1e-8) * kept
        raw = self._conv_forward(x * mask, self.weight, None)
        return raw * ratio + self.bias.view(1, -1, 1, 1) * kept, kept
