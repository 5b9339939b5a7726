"""A buffer and a history take what a network computes for one sample, with and without the axis of the batch."""

import torch
from torch import nn


class Memory(nn.Module):
    def __init__(self, n, d):
        super().__init__()
        self.register_buffer("bank", torch.zeros(n, d))
        self.proj = nn.Linear(d, d, bias=False)
        nn.init.ones_(self.proj.weight)
        self.at = 0

    def write(self, x):
        self.bank[self.at] = self.proj(x).detach()
        self.at = self.at + 1

    def forward(self, x):
        self.write(x)
        return self.bank.sum(0)


class History:
    def __init__(self, shape, n):
        self.states, self.values = torch.zeros((n, *shape)), torch.zeros(n)
        self.n = 0

    def add(self, state, value):
        self.states[self.n] = state
        self.values[self.n] = value
        self.n += 1


memory = Memory(3, 2)
print(memory(torch.ones(1, 2)).tolist(), memory(torch.ones(2)).tolist(), memory.bank.tolist())
history = History((4,), 3)
history.add(torch.ones(1, 4), 1)
history.add(torch.arange(4.0), torch.tensor([[2.0]]))
history.add(torch.full((1, 1, 4), 5.0), memory.proj(torch.ones(1, 2))[:, :1].detach())
print(history.states.tolist(), history.values.tolist())
