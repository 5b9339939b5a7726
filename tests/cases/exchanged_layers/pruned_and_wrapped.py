"""A wrapper around each child of a network, and a part that is taken away."""

import torch
from torch import nn


class Timed(nn.Module):
    def __init__(self, module):
        super().__init__()
        self.module = module
        self.calls = 0

    def forward(self, *args):
        self.calls += 1
        return self.module(*args)


class Twin(nn.Module):
    def __init__(self):
        super().__init__()
        self.left = nn.Sequential(nn.Linear(2, 2), nn.Tanh())
        self.right = nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5))

    def forward(self, x):
        return self.left(x) + self.right(x)


def wrap_leaves(module):
    for name, child in list(module.named_children()):
        if any(True for _ in child.children()):
            wrap_leaves(child)
        else:
            module.add_module(name, Timed(child))
    return module


net = wrap_leaves(Twin())
for p in net.parameters():
    nn.init.constant_(p, 0.3)
net.right[1] = nn.Identity()
print([n for n, _ in net.named_modules()])
optimizer = torch.optim.RMSprop(net.parameters(), lr=0.01)
x = torch.tensor([[1.0, 2.0]])
for _ in range(2):
    loss = net(x).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(round(loss.item(), 4))
print(net.left[0].calls, net.right[0].module.weight.shape[0])
