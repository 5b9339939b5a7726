"""Weights in containers of which nothing is known, handed on as data."""

import torch
import torch.nn as nn


def blend(target: torch.Tensor, source: torch.Tensor, tau: float):
    target.mul_(1 - tau)
    target.add_(tau * source)


def follow(target, source, tau):
    for t, s in zip(target, source):
        blend(t.data, s.data, tau)


class Held:
    pass


held = Held()
first, second = nn.Linear(2, 1), nn.Linear(2, 1)
nn.init.constant_(first.weight, 1.0)
nn.init.constant_(second.weight, 3.0)
for name, net in (("first", first), ("second", second)):
    setattr(held, name, [net.weight])
follow(vars(held)["first"], vars(held)["second"], 0.5)
print(first.weight.tolist(), second.weight.tolist())
