"""Lookahead as it is often written: an optimizer that holds another one, and never calls its base's __init__."""

from collections import defaultdict

import torch
from torch import nn
from torch.optim import Optimizer

from fixed import fill, points

x, y = points()


class Lookahead(Optimizer):
    def __init__(self, optimizer, alpha=0.5, k=2):
        self.optimizer = optimizer
        self.param_groups = self.optimizer.param_groups
        self.alpha = alpha
        self.k = k
        self.step_counter = 0
        self.state = defaultdict(dict)
        for group in self.optimizer.param_groups:
            for p in group["params"]:
                param_state = self.state[p]
                param_state["cached_params"] = torch.zeros_like(p.data)
                param_state["cached_params"].copy_(p.data)

    def zero_grad(self):
        self.optimizer.zero_grad()

    def step(self, closure=None):
        loss = self.optimizer.step(closure)
        self.step_counter += 1
        if self.step_counter >= self.k:
            self.step_counter = 0
            for group in self.optimizer.param_groups:
                for p in group["params"]:
                    param_state = self.state[p]
                    p.data.mul_(self.alpha).add_(param_state["cached_params"], alpha=1.0 - self.alpha)
                    param_state["cached_params"].copy_(p.data)
        return loss


net = fill(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3)), 0.3)
criterion = nn.CrossEntropyLoss()
optimizer = Lookahead(torch.optim.Adam(net.parameters(), lr=0.05))
for step in range(5):
    optimizer.zero_grad()
    loss = criterion(net(x), y)
    loss.backward()
    optimizer.step()
    print("step %d %.5f" % (step, loss.item()))


def closure():
    optimizer.zero_grad()
    loss = criterion(net(x), y)
    loss.backward()
    return loss


for step in range(3):
    loss = optimizer.step(closure)
    print("closure %d %.5f" % (step, loss.item()))
for group in optimizer.param_groups:
    group["lr"] = 0.01
print("lr %.3f" % optimizer.param_groups[0]["lr"])
