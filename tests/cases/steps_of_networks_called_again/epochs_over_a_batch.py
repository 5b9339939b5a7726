"""Several steps over what a method made of remembered values, with graphs that are kept for nothing."""

import torch
import torch.nn.functional as F
from torch import nn


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.data = []
        self.shared = nn.Linear(2, 4)
        self.choice = nn.Linear(4, 2)
        self.value = nn.Linear(4, 1)
        self.optimizer = torch.optim.Adam(self.parameters(), lr=0.01)

    def pi(self, x, dim=0):
        return F.softmax(self.choice(F.relu(self.shared(x))), dim=dim)

    def v(self, x):
        return self.value(F.relu(self.shared(x)))

    def put(self, transition):
        self.data.append(transition)

    def make_batch(self):
        states, actions, rewards, probs = [], [], [], []
        for state, action, reward, prob in self.data:
            states.append(state)
            actions.append([action])
            rewards.append([reward])
            probs.append([prob])
        self.data = []
        return torch.tensor(states), torch.tensor(actions), torch.tensor(rewards), torch.tensor(probs)

    def train_net(self):
        s, a, r, before = self.make_batch()
        for epoch in range(3):
            advantage = (r - self.v(s)).detach()
            pi_a = self.pi(s, dim=1).gather(1, a)
            ratio = torch.exp(torch.log(pi_a) - torch.log(before))
            surrogate = torch.min(ratio * advantage, torch.clamp(ratio, 0.9, 1.1) * advantage)
            loss = -surrogate + F.smooth_l1_loss(self.v(s), r)
            self.optimizer.zero_grad()
            loss.mean().backward(retain_graph=True)
            self.optimizer.step()
            print(f"{epoch}: {loss.mean().item():.5f}")


torch.manual_seed(0)
model = Policy()
with torch.no_grad():
    for place, weight in enumerate(model.parameters()):
        weight.copy_(torch.arange(weight.numel()).reshape(weight.shape) * 0.05 - 0.1 * place)
for turn in range(2):
    for i in range(4):
        prob = model.pi(torch.tensor([0.1 * i, 1.0]))
        model.put(([0.1 * i, 1.0], i % 2, float(i), prob[i % 2].item()))
    model.train_net()
