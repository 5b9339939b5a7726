"""Two networks take turns, and the noise is refilled in place."""

import torch
from critics_parts import Critic, batches, fill
from torch import nn


def train(every=2):
    maker, critic = fill(nn.Linear(2, 3), 0.1), fill(Critic(), 0.1)
    makes = torch.optim.Adam(maker.parameters(), lr=0.02, betas=(0.5, 0.999))
    scores = torch.optim.Adam(critic.parameters(), lr=0.02, betas=(0.5, 0.999))
    noises = torch.zeros(4, 2)
    for turn in iter(range(2)):
        for i, real in enumerate(batches(5)):
            if i % 1 == 0:
                scores.zero_grad()
                of_real = critic(real)
                noises.data.copy_(torch.ones(4, 2) * (i + 1))
                fake = maker(noises).detach()
                of_fake = critic(fake)
                loss = (1 - of_real).clamp(min=0).mean() + (1 + of_fake).clamp(min=0).mean()
                loss.backward()
                scores.step()
                print(f"{turn} {i} critic {loss.item():.5f}")
            if i % every == 0:
                makes.zero_grad()
                noises.data.copy_(torch.ones(4, 2) * (i + 0.5))
                fake = maker(noises)
                error = torch.mean(torch.nn.ReLU()(1 + critic(real).mean() - critic(fake)))
                error.backward()
                makes.step()
                print(f"{turn} {i} maker {error.item():.5f} {noises.sum().item()}")


train()
