"""A loss as a module, whose weights a function of a function computes with gradients set off and on."""

import torch
from torch import nn


def focus(p, gamma):
    with torch.set_grad_enabled(False):
        return (1 - p) ** gamma


def weigh(logits, target, gamma=2.0):
    p = torch.sigmoid(logits)
    pt = torch.where(target > 0.5, p, 1 - p)
    return focus(pt, gamma), pt


class Focal(nn.Module):
    def forward(self, logits, target):
        weights, pt = weigh(logits, target)
        return (-weights * torch.log(pt)).mean()


w = nn.Linear(2, 1)
nn.init.constant_(w.weight, 0.2)
nn.init.zeros_(w.bias)
criterion = Focal()
opt = torch.optim.SGD(w.parameters(), lr=1.0)
x, y = torch.tensor([[1.0, 2.0], [-1.0, 0.5]]), torch.tensor([[1.0], [0.0]])
for _ in range(2):
    opt.zero_grad()
    loss = criterion(w(x), y)
    loss.backward()
    opt.step()
    print(round(loss.item(), 5), w.weight.tolist(), w.bias.tolist())
