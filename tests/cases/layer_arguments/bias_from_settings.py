"""The bias of layers from settings: booleans, numbers, and None."""

from types import SimpleNamespace

import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.query = nn.Linear(config.dim, config.dim, bias=config.attention_bias)
        self.out = nn.Linear(config.dim, config.dim, bias=not config.attention_bias)
        self.rnn = nn.LSTM(config.dim, 2, bias=config.dim > 3)

    def forward(self, x):
        return self.out(self.query(x))


for flag in (True, False):
    net = Attention(SimpleNamespace(dim=3, attention_bias=flag))
    print(net.query.bias is not None, net.out.bias is not None, net.rnn.bias, sum(p.numel() for p in net.parameters()))
conv = nn.Conv2d(1, 1, 1, bias=None)
print(conv.bias, tuple(conv(torch.ones(1, 1, 2, 2)).shape))
