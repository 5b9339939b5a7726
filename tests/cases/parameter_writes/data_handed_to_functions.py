"""Functions that change in place what they are handed: the data of a weight, a row of it, a tensor that is detached."""

import torch
import torch.nn as nn


def copy_to(target, source):
    target.copy_(source)


def move(target: torch.Tensor, source: torch.Tensor):
    target.lerp_(source, 0.5)


def grow(target: torch.Tensor):
    target += 1


def clip(values: torch.Tensor):
    torch.clamp(values, 0, 1, out=values)


def scale(*, values: torch.Tensor):
    with torch.no_grad():
        values.mul_(2)


a = nn.Linear(2, 2)
b = nn.Linear(2, 2)
for p, q in zip(a.parameters(), b.parameters()):
    copy_to(p.data, q.data)
print(torch.equal(a.weight, b.weight))
nn.init.zeros_(a.weight)
move(a.weight.data, b.weight.data)
print(torch.allclose(a.weight * 2, b.weight))
w = torch.zeros(2, 2)
copy_to(w.data, b.weight)
print(torch.equal(w, b.weight))
copy_to(w.detach(), a.weight)
print(torch.equal(w, a.weight))
nn.init.zeros_(a.weight)
grow(a.weight.data)
grow(a.weight.detach().view(-1))
grow(a.weight.data[0])
print(a.weight.tolist())
clip(a.weight.data)
print(a.weight.tolist())
scale(values=a.weight.data)
print(a.weight.tolist())
opt = torch.optim.Adam(a.parameters(), lr=0.5)
x = torch.ones(1, 2)
for _ in range(2):
    opt.zero_grad()
    a(x).sum().backward()
    opt.step()
move(a.weight.data, torch.zeros(2, 2))
print([[round(v, 3) for v in row] for row in a.weight.tolist()])
