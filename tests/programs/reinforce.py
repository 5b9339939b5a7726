import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

from fixed import fill


class Bandit:
    def reset(self):
        self.t = 0
        return np.array([1.0, 0.0], dtype=np.float32)

    def step(self, action):
        self.t += 1
        return np.array([np.cos(self.t), np.sin(self.t)], dtype=np.float32), float(action == 1), self.t >= 5, {}


policy = fill(nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 2), nn.Softmax(dim=-1)))
optimizer = torch.optim.Adam(policy.parameters(), lr=0.05)
env = Bandit()
for episode in range(4):
    state, done = env.reset(), False
    log_probs, rewards = [], []
    while not done:
        probs = policy(torch.from_numpy(state).unsqueeze(0))
        m = Categorical(probs)
        action = probs.argmax(dim=1)
        log_probs.append(m.log_prob(action))
        state, reward, done, _ = env.step(action.item())
        rewards.append(reward + 0.1)
    returns = torch.tensor(rewards)
    loss = torch.cat([-lp * r for lp, r in zip(log_probs, returns)]).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(episode, loss.item())
