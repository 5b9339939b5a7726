import numpy as np
import torch
from torch import nn


def derivative(y, x, order=1):
    for _ in range(order):
        y = torch.autograd.grad(y, x, torch.ones_like(y), create_graph=True)[0]
    return y


class Stream(nn.Module):
    """psi and p of a flow in two dimensions."""

    def __init__(self, width=6):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 2))
        draw = np.random.RandomState(5)
        for p in self.net.parameters():
            p.data = torch.tensor(draw.uniform(-0.8, 0.8, tuple(p.shape)), dtype=torch.float32)

    def forward(self, x, y, t):
        out = self.net(torch.hstack((x, y, t)))
        return out[:, 0:1], out[:, 1:2]
