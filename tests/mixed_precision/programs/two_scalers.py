"""A generator and a discriminator, each with an optimizer and a scaler."""

import torch
from begin import fill, numbers, weights_of
from torch import nn


def train(amp, shift):
    generator = fill(nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 6)), shift)
    discriminator = fill(nn.Sequential(nn.Linear(6, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1)), shift)
    opt_g = torch.optim.Adam(generator.parameters(), lr=0.002, betas=(0.5, 0.999))
    opt_d = torch.optim.Adam(discriminator.parameters(), lr=0.002, betas=(0.5, 0.999))
    scaler_g = torch.amp.GradScaler("cpu", init_scale=2.0**20, enabled=amp)
    scaler_d = torch.amp.GradScaler("cpu", init_scale=256.0, growth_interval=6, enabled=amp)
    criterion = nn.BCEWithLogitsLoss()
    losses = []
    for step in range(20):
        real, noise = numbers(16, 6, seed=step), numbers(16, 4, seed=100 + step)
        opt_d.zero_grad()
        with torch.autocast("cpu", dtype=torch.float16, enabled=amp):
            fake = generator(noise)
            answer = discriminator(fake.detach())
            loss_d = criterion(discriminator(real), torch.ones(16, 1)) + criterion(answer, torch.zeros(16, 1))
        scaler_d.scale(loss_d).backward()
        scaler_d.step(opt_d)
        scaler_d.update()

        opt_g.zero_grad()
        with torch.autocast("cpu", dtype=torch.float16, enabled=amp):
            loss_g = criterion(discriminator(generator(noise)), torch.ones(16, 1))
        scaler_g.scale(loss_g).backward()
        scaler_g.step(opt_g)
        scaler_g.update()
        losses.append(loss_d.item() + loss_g.item())
    return losses, scaler_g.get_scale() + scaler_d.get_scale(), weights_of(generator, discriminator)
