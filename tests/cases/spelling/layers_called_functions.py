"""Layers and functions of the program that have the names of functions of torch which let no gradient through."""

import torch
from torch import nn


def tensor(x):
    return x * 2


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.full = nn.Linear(2, 3)
        self.item = nn.Linear(3, 1)

    def size(self, x):
        return self.full(x).abs()

    def forward(self, x):
        return self.item(self.size(x))


def run(one_hot, array, batches):
    seen = []
    opt = torch.optim.SGD([*one_hot.parameters(), *array.parameters()], lr=0.05)
    for x, y in batches:
        opt.zero_grad()
        h = one_hot(x)
        g = tensor(h)
        z = array(g)
        loss = (z - y).pow(2).mean()
        loss.backward()
        opt.step()
        seen.append(round(loss.item(), 5))
    return seen


one_hot, array = nn.Linear(3, 2), Net()
with torch.no_grad():
    for i, p in enumerate([*one_hot.parameters(), *array.parameters()]):
        p.copy_(torch.linspace(-0.5, 0.5, p.numel()).view(p.shape) + 0.1 * i)
print(run(one_hot, array, [(torch.full((2, 3), 0.5 + k), torch.ones(2, 1)) for k in range(3)]))
print([[round(v, 4) for v in p.flatten().tolist()] for p in one_hot.parameters()])
