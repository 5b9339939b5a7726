"""Lookahead: slow weights around another optimizer."""

from collections import defaultdict

import torch
from torch import nn


class Lookahead(torch.optim.Optimizer):
    def __init__(self, optimizer, k=2, alpha=0.5):
        self.optimizer, self.k, self.alpha = optimizer, k, alpha
        self.param_groups = optimizer.param_groups
        self.defaults = optimizer.defaults
        self.state = defaultdict(dict)
        self.count = 0
        self.slow = [[p.clone().detach() for p in group["params"]] for group in self.param_groups]

    def zero_grad(self, set_to_none=True):
        self.optimizer.zero_grad(set_to_none)

    @torch.no_grad()
    def step(self, closure=None):
        loss = self.optimizer.step(closure)
        self.count += 1
        if self.count % self.k == 0:
            for group, slow in zip(self.param_groups, self.slow):
                for p, q in zip(group["params"], slow):
                    q.add_(p - q, alpha=self.alpha)
                    p.copy_(q)
        return loss


net = nn.Linear(2, 1)
nn.init.constant_(net.weight, 0.5)
nn.init.zeros_(net.bias)
opt = Lookahead(torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9))
for step in range(4):
    opt.zero_grad()
    loss = (net(torch.tensor([[1.0, 2.0]])) - 3).pow(2).sum()
    loss.backward()
    opt.step()
    print(round(loss.item(), 5), [round(v, 5) for v in net.weight[0].tolist()])
