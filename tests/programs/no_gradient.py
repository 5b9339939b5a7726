import copy

import numpy as np
import torch
from torch import nn

from fixed import fill


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.actor, self.critic = nn.Linear(3, 2), nn.Linear(3, 1)

    def forward(self, x):
        return torch.log_softmax(self.actor(x), 1), self.critic(x).squeeze(-1)


def advantages(rewards, values, last_value, gamma=0.9):
    found = torch.zeros_like(rewards)
    following = last_value
    for t in reversed(range(len(rewards))):
        following = rewards[t] + gamma * following
        found[t] = following - values[t]
    return found, found + values


@torch.no_grad()
def confidence(values):
    return torch.sigmoid(values)


def prepared(net):
    for p in net.parameters():
        p.data.mul_(0.5)
    return net


FORMAT = "{} loss {:.5f} value {value:.5f}"
rng = np.random.RandomState(0)
net = prepared(fill(ActorCritic()))
shadow = copy.deepcopy(net).eval()
optimizer = torch.optim.Adam(net.parameters(), lr=0.02)
for update in range(5):
    states = torch.from_numpy(rng.randn(6, 4, 3).astype(np.float32))
    rewards = torch.from_numpy(rng.rand(6, 4).astype(np.float32))
    log_probs, values = [], []
    for state in states:
        log_prob, value = net(state)
        log_probs.append(log_prob[:, 0])
        values.append(value)
    with torch.no_grad():
        _, last = net(states[0])
        found, returns = advantages(rewards, torch.stack(values), last)
    values = torch.stack(values)
    loss = -(torch.stack(log_probs) * found).mean() + ((returns - values) ** 2 * confidence(values)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(FORMAT.format(update, loss, value=shadow(states[0])[1].mean()))
