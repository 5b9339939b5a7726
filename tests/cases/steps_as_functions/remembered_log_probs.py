"""A memory of another file gives back what the policy gave it, gradients and all: no function holds that step."""

import torch
from replay_parts import LogProbs, fill
from torch import nn


class Learner:
    def __init__(self, policy):
        self.policy = policy
        self.optimizer = torch.optim.SGD(policy.parameters(), lr=0.1)
        self.memory = LogProbs()

    def act(self, state, reward):
        probs = torch.softmax(self.policy(state), dim=-1)
        self.memory.push(probs[0].log(), reward)
        return probs.argmax().item()

    def learn(self):
        values, rewards = self.memory.get()
        loss = -(values * rewards).sum()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


learner = Learner(fill(nn.Linear(2, 3), 6))
for episode in range(3):
    taken = [learner.act(torch.tensor([0.5 * t, 1.0 - episode]), 1.0 + t) for t in range(3)]
    print(taken, round(learner.learn(), 5))
