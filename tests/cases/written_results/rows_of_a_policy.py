import numpy as np
import torch


class Policy:
    def __init__(self, table):
        self.table = table

    def __call__(self, state):
        return self.table[state : state + 1], float(state)


def rollout(policy, steps):
    logits, rewards = torch.zeros(steps, 3), torch.zeros(steps)
    for t in range(steps):
        row, reward = policy(t)
        logits[t] = row
        rewards[t] = reward
    return logits, rewards


table = torch.from_numpy(np.random.RandomState(0).rand(4, 3).astype(np.float32))
logits, rewards = rollout(Policy(table), 4)
print(np.round(logits.numpy(), 4).tolist(), rewards.tolist())
