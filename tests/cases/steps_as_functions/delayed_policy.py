"""An actor and two critics, as attributes of an agent; the batch comes out of a buffer that train() is handed."""

import copy

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from replay_parts import ReplayBuffer, fill


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.l1, self.l2 = nn.Linear(3, 5), nn.Linear(5, 2)

    def forward(self, state):
        return torch.tanh(self.l2(F.relu(self.l1(state))))


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.l1, self.l2 = nn.Linear(5, 4), nn.Linear(5, 4)
        self.o1, self.o2 = nn.Linear(4, 1), nn.Linear(4, 1)

    def forward(self, state, action):
        sa = torch.cat([state, action], 1)
        return self.o1(torch.relu(self.l1(sa))), self.o2(torch.relu(self.l2(sa)))

    def Q1(self, state, action):
        return self.o1(torch.relu(self.l1(torch.cat([state, action], 1))))


class Agent:
    def __init__(self):
        self.actor = fill(Actor(), 1)
        self.actor_target = copy.deepcopy(self.actor)
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=0.01)
        self.critic = fill(Critic(), 2)
        self.critic_target = copy.deepcopy(self.critic)
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters(), lr=0.01)
        self.total_it = 0

    def train(self, replay_buffer, batch_size=8):
        self.total_it += 1
        state, action, reward, next_state = replay_buffer.sample(batch_size)
        with torch.no_grad():
            target_Q1, target_Q2 = self.critic_target(next_state, self.actor_target(next_state))
            target_Q = reward + 0.9 * torch.min(target_Q1, target_Q2)
        current_Q1, current_Q2 = self.critic(state, action)
        critic_loss = F.mse_loss(current_Q1, target_Q) + F.mse_loss(current_Q2, target_Q)
        self.critic_optimizer.zero_grad()
        critic_loss.backward()
        self.critic_optimizer.step()
        actor_loss = None
        if self.total_it % 2 == 0:
            actor_loss = -self.critic.Q1(state, self.actor(state)).mean()
            self.actor_optimizer.zero_grad()
            actor_loss.backward()
            self.actor_optimizer.step()
            for param, target in zip(self.critic.parameters(), self.critic_target.parameters()):
                target.data.copy_(0.1 * param.data + 0.9 * target.data)
        return critic_loss.item(), None if actor_loss is None else actor_loss.item()


buffer = ReplayBuffer(3, 2)
draw = np.random.RandomState(9)
for _ in range(20):
    buffer.add(draw.randn(3), draw.uniform(-1, 1, 2), draw.rand(), draw.randn(3))
agent = Agent()
for _ in range(4):
    critic, actor = agent.train(buffer)
    print(round(critic, 5), None if actor is None else round(actor, 5))
