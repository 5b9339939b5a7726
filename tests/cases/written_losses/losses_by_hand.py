"""PINN-like sums: loss terms start as plain numbers or as tensors, in a method, and stay attributes."""

import torch
from torch import nn


class Solver:
    def __init__(self, net, terms):
        self.net = net
        self.terms = terms
        self.losses = []
        self.optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        self.best = torch.full((1,), 1e9)

    def fit(self, x, steps):
        for k in range(steps):
            self.optimizer.zero_grad()
            out = self.net(x)
            loss = torch.zeros(1)
            parts = torch.zeros(len(self.terms))
            for i, (weight, term) in enumerate(self.terms):
                value = weight * term(out, x)
                parts[i] = value.item()
                loss += value
            loss.backward()
            self.optimizer.step()
            self.losses.append(loss.item())
            if loss < self.best:
                self.best = loss.detach()
            self.parts = parts
        return self


net = nn.Linear(1, 1)
nn.init.constant_(net.weight, 2.0)
nn.init.constant_(net.bias, 0.5)
terms = [(1.0, lambda o, x: (o - x).pow(2).mean()), (0.1, lambda o, x: o.abs().mean())]
solver = Solver(net, terms).fit(torch.tensor([[0.0], [0.5], [1.0]]), 4)
print([round(v, 5) for v in solver.losses], round(solver.best.item(), 5), [round(v, 5) for v in solver.parts.tolist()])
