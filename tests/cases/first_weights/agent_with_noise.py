"""An agent that explores with NumPy's numbers, and clones its network."""

import copy

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class Actor(nn.Module):
    def __init__(self, states, actions):
        super().__init__()
        self.l1 = nn.Linear(states, 8)
        self.l2 = nn.Linear(8, actions)
        self.l2.weight.data.uniform_(-3e-3, 3e-3)

    def forward(self, x):
        return torch.tanh(self.l2(F.relu(self.l1(x))))


np.random.seed(1)
actor = Actor(3, 2)
target = copy.deepcopy(actor)
memory = [np.random.rand(3).round(4) for _ in range(4)]
critic = nn.Sequential(nn.Linear(5, 4), nn.ReLU(), nn.Linear(4, 1))
batch = np.random.choice(len(memory), 2, replace=False)
print([memory[i].tolist() for i in batch])
for p in actor.parameters():
    nn.init.zeros_(p)
state = torch.tensor(memory[0], dtype=torch.float32)
action = actor(state).detach().numpy() + np.random.normal(0, 0.1, 2)
print(action.round(5).tolist())
