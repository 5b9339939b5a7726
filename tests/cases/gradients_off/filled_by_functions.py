"""Functions that fill weights and measure networks run outside of any forward pass: no_grad goes."""

import math

import torch
from torch import nn


def _truncated(tensor, mean, std, a, b):
    low, high = (1 + math.erf((a - mean) / std / math.sqrt(2))) / 2, (1 + math.erf((b - mean) / std / math.sqrt(2))) / 2
    tensor.uniform_(2 * low - 1, 2 * high - 1)
    tensor.erfinv_()
    tensor.mul_(std * math.sqrt(2.0))
    tensor.add_(mean)
    tensor.clamp_(min=a, max=b)
    return tensor


def truncated_(tensor, mean=0.0, std=1.0, a=-2.0, b=2.0):
    with torch.no_grad():
        return _truncated(tensor, mean, std, a, b)


@torch.no_grad()
def spread(net):
    return [round(float(p.abs().max() <= 0.04), 1) for p in net.parameters()]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)
        self.apply(self._start)

    def _start(self, m):
        if isinstance(m, nn.Linear):
            truncated_(m.weight, std=0.02, a=-0.04, b=0.04)
            nn.init.zeros_(m.bias)

    def forward(self, x):
        return self.fc(x)


net = Net()
print(spread(net), bool(net.fc.weight.std() > 0.01))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
opt.zero_grad()
net(torch.ones(2, 8)).sum().backward()
opt.step()
print([round(v, 4) for v in net.fc.bias.tolist()], net.fc.weight.requires_grad)
