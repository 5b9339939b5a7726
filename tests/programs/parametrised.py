"""Weights that modules of the program compute from others, one of which knows what gives the first values."""

import torch
from torch import nn
from torch.nn.utils import parametrize
from torch.nn.utils.parametrize import register_parametrization


class MaxNorm(nn.Module):
    def __init__(self, limit):
        super().__init__()
        self.limit = limit

    def forward(self, x):
        return x.renorm(p=2, dim=0, maxnorm=self.limit)


class Symmetric(nn.Module):
    def forward(self, x):
        return x.triu() + x.triu(1).transpose(-1, -2)

    def right_inverse(self, a):
        return a.triu()


class Limited(nn.Conv2d):
    def __init__(self, *args, max_norm=0.5, **kwargs):
        super().__init__(*args, **kwargs)
        register_parametrization(self, "weight", MaxNorm(max_norm))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = Limited(1, 2, 3)
        self.fc = nn.Linear(8, 8)
        parametrize.register_parametrization(self.fc, "weight", Symmetric())

    def forward(self, x):
        return self.fc(torch.relu(self.conv(x)).flatten(1))


net = Net()
with torch.no_grad():
    for i, p in enumerate(net.parameters()):
        p.copy_(torch.linspace(-1, 1, p.numel()).reshape(p.shape) * (i + 1) / 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.linspace(0, 1, 32).reshape(2, 1, 4, 4)
for _ in range(3):
    loss = net(x).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(loss.item())
print(sorted(net.state_dict()), parametrize.is_parametrized(net.fc), parametrize.is_parametrized(net.fc, "bias"))
print(torch.allclose(net.fc.weight, net.fc.weight.T), net.conv.weight.norm().item() <= 1, isinstance(net.conv, nn.Conv2d))
print(list(net.fc.parametrizations.weight.original.shape))
parametrize.remove_parametrizations(net.fc, "weight")
print(sorted(net.state_dict()), type(net.fc).__name__)
