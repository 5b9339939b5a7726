import time

import torch
from torch import nn


def fill(module, start):
    with torch.no_grad():
        for place, weight in enumerate(module.parameters()):
            weight.copy_(torch.arange(weight.numel()).reshape(weight.shape) * 0.03 - start + 0.02 * place)
    return module


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))

    def forward(self, x):
        return self.body(x)


class Timed:
    """Keeps the time of its last round."""

    def begin(self):
        self.began = time.time()

    def passed(self):
        return time.time() - self.began


def batches(count, size=4):
    for index in range(count):
        rows = size if index % 3 != 1 else size - 1
        yield torch.arange(rows * 3.0).reshape(rows, 3) / (6 + index)
