"""Gradients that functions beside the step clip and measure: with the loop in a script, in a method, in a helper."""

import numpy as np
import torch
import torch.nn as nn
from torch.nn.utils import clip_grad_norm_

from fixed import fill

X = torch.from_numpy(np.random.RandomState(0).randn(16, 4).astype(np.float32))


def clip(model, limit):
    return clip_grad_norm_(model.parameters(), limit)


def clip_params(params, limit=0.5):
    torch.nn.utils.clip_grad_norm_(params, limit)


def grad_norm(model):
    total = 0.0
    for p in model.parameters():
        if p.grad is not None:
            total += p.grad.detach().data.norm(2).item() ** 2
    return total ** 0.5


def optimizer_step(model, optimizer, loss, limit):
    optimizer.zero_grad()
    loss.backward()
    clip_params(model.parameters(), limit)
    optimizer.step()


class Runner:
    def __init__(self, model, max_norm):
        self.model, self.max_norm = model, max_norm
        self.opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

    def clip_gradients(self):
        return torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.max_norm)

    def run(self, n):
        for i in range(n):
            self.opt.zero_grad()
            loss = (self.model(X) ** 2).mean()
            loss.backward()
            norm = self.clip_gradients()
            self.opt.step()
            print("runner %.5f %.5f" % (loss.item(), norm.item()))


model = fill(nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1)))
opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for i in range(4):
    opt.zero_grad()
    loss = (model(X) - 3).pow(2).mean()
    loss.backward()
    n = clip(model, 1.0)
    opt.step()
    print("clip %.5f %.5f %.5f" % (loss.item(), n.item(), grad_norm(model)))
for i in range(3):
    loss = (model(X) - 3).pow(2).mean()
    optimizer_step(model, opt, loss, 0.3)
    print("step %.5f" % loss.item())
Runner(fill(nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))), 0.2).run(3)
