"""A network whose class says itself what its parameters are, and another whose class asks its base."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Learner(nn.Module):
    def __init__(self):
        super().__init__()
        self.vars = nn.ParameterList([nn.Parameter(torch.full((2, 2), 0.5)), nn.Parameter(torch.zeros(2))])

    def forward(self, x, vars=None):
        weight, bias = self.vars if vars is None else vars
        return F.linear(x, weight, bias)

    def parameters(self):
        return self.vars


class Matrices(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 1)

    def forward(self, x):
        return self.layer(x)

    def parameters(self, recurse=True):
        return [p for p in super().parameters(recurse) if p.ndim > 1]


def prepared(network):
    network.eval()
    return network


def shapes(network):
    return [tuple(p.shape) for p in network.parameters()]


net = prepared(Learner())
print(shapes(net), net.parameters()[0].sum().item(), shapes(prepared(Matrices())))
x, y = torch.ones(3, 2), torch.zeros(3, 2)
gradients = torch.autograd.grad(F.mse_loss(net(x), y), net.parameters())
fast = [p - 0.1 * g for p, g in zip(net.parameters(), gradients)]
print([round(v, 4) for v in net(x, fast)[0].tolist()])
