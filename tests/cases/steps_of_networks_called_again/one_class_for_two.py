"""Two networks of one trainer are called twice a round, and the trainer keeps times as attributes."""

import torch
from critics_parts import Critic, Timed, batches, fill
from torch import nn


class Pair(Timed):
    def __init__(self):
        self.D, self.G = fill(Critic(), 0.2), fill(nn.Linear(3, 3), 0.1)
        self.loss = nn.BCEWithLogitsLoss()
        self.d_steps = torch.optim.Adam(self.D.parameters(), lr=0.02)
        self.g_steps = torch.optim.Adam(self.G.parameters(), lr=0.02)
        self.scores = []

    def train(self):
        self.began = 0.0
        for images in batches(4):
            ones, zeros = torch.ones(len(images), 1), torch.zeros(len(images), 1)
            outputs = self.D(images)
            real = self.loss(outputs, ones)
            real_score = outputs
            fakes = self.G(images * 0.5)
            outputs = self.D(fakes)
            fake = self.loss(outputs, zeros)
            loss = real + fake
            self.D.zero_grad()
            loss.backward()
            self.d_steps.step()
            fakes = self.G(images * 0.25)
            outputs = self.D(fakes)
            tricked = self.loss(outputs, ones)
            self.D.zero_grad()
            self.G.zero_grad()
            tricked.backward()
            self.g_steps.step()
            self.scores.append(real_score.mean().item())
            print(f"{loss.item():.5f} {tricked.item():.5f} {self.scores[-1]:.5f} {self.began}")


Pair().train()
