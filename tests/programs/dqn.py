import random
from collections import deque, namedtuple

import numpy as np
import torch
from torch import nn

from fixed import fill

Transition = namedtuple("Transition", ("state", "action", "reward", "next_state"))


class Agent:
    def __init__(self):
        self.policy_net = fill(nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2)))
        self.target_net = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2))
        self.target_net.load_state_dict(self.policy_net.state_dict())
        self.target_net.eval()
        self.memory = deque(maxlen=100)
        self.optimizer = torch.optim.RMSprop(self.policy_net.parameters(), lr=0.005)

    def learn(self, size, gamma=0.9):
        batch = Transition(*zip(*random.sample(self.memory, size)))
        state, next_state = torch.cat(batch.state), torch.cat(batch.next_state)
        action, reward = torch.cat(batch.action), torch.cat(batch.reward)
        q = self.policy_net(state).gather(1, action)
        next_q = self.target_net(next_state).max(1)[0].detach()
        expected = reward + gamma * next_q
        loss = nn.functional.smooth_l1_loss(q, expected.unsqueeze(1))
        self.optimizer.zero_grad()
        loss.backward()
        for param in self.policy_net.parameters():
            param.grad.data.clamp_(-1, 1)
        self.optimizer.step()
        return loss.item()


random.seed(0)
agent = Agent()
rng = np.random.RandomState(0)
for i in range(20):
    s, t = rng.randn(2, 1, 3).astype(np.float32)
    a = torch.tensor([[i % 2]], dtype=torch.long)
    agent.memory.append(Transition(torch.from_numpy(s), a, torch.tensor([float(i % 3)]), torch.from_numpy(t)))
for step in range(6):
    print(step, agent.learn(8))
    if step % 3 == 2:
        agent.target_net.load_state_dict(agent.policy_net.state_dict())
