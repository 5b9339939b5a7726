"""The heat equation, a network of two arguments; all of it inside of one function."""

import math

import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim
from torch.autograd import grad


class HeatNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(2, 10)
        self.hidden2 = nn.Linear(10, 10)
        self.out = nn.Linear(10, 1)

    def forward(self, x, t):
        inputs = torch.cat([x, t], axis=1)
        h = torch.sigmoid(self.hidden(inputs))
        h = torch.sigmoid(self.hidden2(h))
        return self.out(h)


def train(net, x, t, x0, steps=3, alpha=0.3):
    optimizer = optim.Adam(net.parameters(), lr=0.01)
    mse = nn.MSELoss()
    history = []
    for epoch in range(steps):
        optimizer.zero_grad()
        u = net(x, t)
        u_x = grad(u.sum(), x, create_graph=True)[0]
        u_xx = grad(u_x.sum(), x, create_graph=True)[0]
        u_t = grad(u.sum(), t, create_graph=True)[0]
        residual = u_t - alpha * u_xx
        mse_f = mse(residual, torch.zeros_like(residual))
        u0 = net(x0, torch.zeros_like(x0))
        mse_u = mse(u0, torch.sin(math.pi * x0))
        loss = mse_u + mse_f
        loss.backward()
        optimizer.step()
        history.append((round(loss.item(), 5), round(mse_f.item(), 6)))
    return history


net = HeatNet()
r = np.random.RandomState(7)
for p in net.parameters():
    p.data.copy_(torch.as_tensor(r.normal(0, 1, tuple(p.shape)), dtype=torch.float32))
x = torch.tensor(r.rand(9, 1), dtype=torch.float32, requires_grad=True)
t = torch.tensor(r.rand(9, 1), dtype=torch.float32, requires_grad=True)
x0 = torch.linspace(0, 1, 5).reshape(-1, 1)
print(*train(net, x, t, x0), sep="\n")
