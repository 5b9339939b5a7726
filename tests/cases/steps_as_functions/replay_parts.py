from collections import namedtuple

import numpy as np
import torch

Batch = namedtuple("Batch", ["states", "actions", "rewards", "next_states"])


class ReplayBuffer:
    def __init__(self, state_dim, action_dim, size=50):
        self.size, self.ptr, self.count = size, 0, 0
        self.states = np.zeros((size, state_dim), dtype=np.float32)
        self.next_states = np.zeros((size, state_dim), dtype=np.float32)
        self.actions = np.zeros((size, action_dim), dtype=np.float32)
        self.rewards = np.zeros((size, 1), dtype=np.float32)
        self.random = np.random.RandomState(0)

    def add(self, state, action, reward, next_state):
        self.states[self.ptr] = state
        self.actions[self.ptr] = action
        self.rewards[self.ptr] = reward
        self.next_states[self.ptr] = next_state
        self.ptr = (self.ptr + 1) % self.size
        self.count = min(self.count + 1, self.size)

    def sample(self, n):
        ind = self.random.randint(0, self.count, size=n)
        return (
            torch.FloatTensor(self.states[ind]),
            torch.FloatTensor(self.actions[ind]),
            torch.FloatTensor(self.rewards[ind]),
            torch.FloatTensor(self.next_states[ind]),
        )

    def batch(self, n):
        return Batch(*self.sample(n))


class LogProbs:
    """Keeps what a policy gave, with the way to its weights."""

    def __init__(self):
        self.values = []
        self.rewards = []

    def push(self, value, reward):
        self.values.append(value)
        self.rewards.append(reward)

    def get(self):
        values, self.values = self.values, []
        rewards, self.rewards = torch.tensor(self.rewards), []
        return torch.stack(values), rewards


def fill(module, seed):
    draw = np.random.RandomState(seed)
    with torch.no_grad():
        for p in module.parameters():
            p.copy_(torch.from_numpy(draw.uniform(-0.5, 0.5, tuple(p.shape)).astype(np.float32)))
    return module
