"""Indices that are a list, an array or a slice, whichever the settings ask for."""
import numpy as np
import torch


def folds(kind, n):
    if kind == "list":
        return [0, 2], [1, 3]
    if kind == "array":
        order = np.arange(n)
        return order[: n // 2], order[n // 2 :]
    if kind == "mask":
        return np.arange(n) % 2 == 0, np.arange(n) % 2 == 1
    return slice(0, np.int64(2)), slice(np.int64(2), None)


class Split:
    def __init__(self, kind, data):
        self.train, self.valid = folds(kind, len(data))
        self.data = data

    def part(self, name):
        return self.data[getattr(self, name)]


x = torch.linspace(0, 1, 8).view(4, 2)
for kind in ("list", "array", "mask", "slice"):
    split = Split(kind, x)
    print(kind, split.part("train").sum().item(), split.part("valid").sum().item())
    first, second = folds(kind, 4)
    print(x[first].tolist(), x[second, 1].tolist())
    y = x.clone()
    y[first] = -1.0
    print(y.sum().item())
