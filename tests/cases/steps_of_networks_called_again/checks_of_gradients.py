"""Functions that call backward and take no step: of networks of their own, and of those that others step by."""

import torch
import torch.nn.functional as F
from critics_parts import Critic, fill
from torch import nn


class Scored(nn.Module):
    def __init__(self, net, scale=1.0):
        super().__init__()
        self.net = net
        self.norm = nn.BatchNorm1d(1)
        self.scale = scale

    def forward(self, x):
        return self.norm(self.net(x)).pow(2).mean() * self.scale + self.net(x).mean()


def check_plain():
    net = fill(nn.Linear(3, 2), 0.1)
    out = net(torch.ones(4, 3))
    assert out.shape == (4, 2)
    loss = F.mse_loss(out, torch.zeros(4, 2))
    loss.backward()
    print(f"plain {loss.item():.5f} {out.sum().item():.5f}")


def check_wrapped(scale=2.0):
    net = fill(Critic(), 0.2)
    scored = Scored(net, scale=scale)
    x = torch.arange(12.0).reshape(4, 3) / 5
    loss = scored(x)
    loss.backward()
    scored.eval()
    print(f"wrapped {loss.item():.5f} {scored(x).item():.5f} {scored.norm.running_mean.item():.6f}")


def check_twice():
    net = fill(Critic(), 0.2)
    for i in range(2):
        loss = net(torch.ones(2, 3) * i).sum()
        loss.backward()
        print(f"twice {loss.item():.5f}")


def add_to(net, x):
    loss = net(x).pow(2).mean()
    loss.backward()
    return loss.item()


def step_by_others():
    net = fill(Critic(), 0.2)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for i in range(3):
        optimizer.zero_grad()
        value = add_to(net, torch.ones(2, 3) * i)
        value += add_to(net, torch.ones(2, 3))
        optimizer.step()
        print(f"others {value:.5f}")


check_plain()
check_wrapped()
check_twice()
step_by_others()
