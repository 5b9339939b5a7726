"""An optimizer of the program's own without a base, and gradients that are changed, dropped and added up by hand."""

import torch
import torch.nn as nn

from fixed import fill, points

x, y = points()


class HeavyBall:
    def __init__(self, params, lr=0.1, beta=0.9):
        self.params = list(params)
        self.lr, self.beta = lr, beta
        self.bufs = [torch.zeros_like(p) for p in self.params]

    def zero_grad(self):
        for p in self.params:
            if p.grad is not None:
                p.grad.detach_()
                p.grad.zero_()

    @torch.no_grad()
    def step(self):
        for p, b in zip(self.params, self.bufs):
            if p.grad is None:
                continue
            b.mul_(self.beta).add_(p.grad)
            p.add_(b, alpha=-self.lr)


net = fill(nn.Sequential(nn.Linear(x.shape[1], 8), nn.Tanh(), nn.Linear(8, 3)), 0.3)
loss_fn = nn.CrossEntropyLoss()
optimizer = HeavyBall(net.parameters())
for step in range(4):
    loss = loss_fn(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("loss %.5f" % loss.item())

for step in range(3):
    for part in range(2):
        loss = loss_fn(net(x[part::2]), y[part::2])
        loss.backward()
    with torch.no_grad():
        for p in net.parameters():
            p.grad.clamp_(-0.05, 0.05)
            p -= 0.1 * p.grad
            p.grad = None
    print("by hand %.5f" % loss.item())
