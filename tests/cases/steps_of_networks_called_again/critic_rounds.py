"""A critic that is trained several rounds, each of two losses, inside of a generator's round; short batches are skipped."""

import time

import torch
from critics_parts import Critic, batches, fill
from torch import nn


class Trainer:
    def __init__(self):
        self.critic = fill(Critic(), 0.1)
        self.maker = fill(nn.Linear(2, 3), 0.05)
        self.critic_steps = torch.optim.RMSprop(self.critic.parameters(), lr=0.01)
        self.maker_steps = torch.optim.RMSprop(self.maker.parameters(), lr=0.01)
        self.size, self.limit = 4, 0.2

    def on_device(self, value):
        return value

    def endless(self):
        while True:
            yield from batches(7)

    def train(self, rounds):
        self.data = self.endless()
        self.started = time.time()
        one = torch.tensor([1.0])
        minus = one * -1
        for turn in range(rounds):
            for weight in self.critic.parameters():
                weight.requires_grad = True
            for inner in range(3):
                self.critic.zero_grad()
                for weight in self.critic.parameters():
                    weight.data.clamp_(-self.limit, self.limit)
                images = self.data.__next__()
                if images.size()[0] != self.size:
                    continue
                images = self.on_device(images)
                real = self.critic(images)
                real = real.mean(0).view(1)
                real.backward(one)
                noise = self.on_device(torch.ones(self.size, 2) * (inner + 1))
                fake = self.critic(self.maker(noise))
                fake = fake.mean(0).view(1)
                fake.backward(minus)
                distance = real - fake
                self.critic_steps.step()
                print(f"{turn} {inner}: {distance.item():.5f}")
            for weight in self.critic.parameters():
                weight.requires_grad = False
            self.maker.zero_grad()
            noise = self.on_device(torch.ones(self.size, 2) * 0.5)
            made = self.maker(noise)
            loss = self.critic(made)
            loss = loss.mean().mean(0).view(1)
            loss.backward(minus)
            self.maker_steps.step()
            info = {"loss": loss, "made": self.show(made)}
            for name, value in info.items():
                print(turn, name, round(float(value.sum()), 5))
        self.ended = time.time()
        print(self.ended >= self.started)

    def show(self, made):
        return self.on_device(made.view(-1, 3))[:2]


Trainer().train(3)
