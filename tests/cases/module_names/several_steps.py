"""Two networks in turn, an if on the way: what is bound in any case stays."""

import torch
from torch import nn

generator, critic = nn.Linear(2, 2), nn.Linear(2, 1)
for p in (*generator.parameters(), *critic.parameters()):
    nn.init.constant_(p, 0.3)
opt_g = torch.optim.SGD(generator.parameters(), lr=0.1)
opt_c = torch.optim.SGD(critic.parameters(), lr=0.1)
real = torch.tensor([[1.0, 0.5], [0.2, -1.0]])
noise = torch.tensor([[0.1, 0.2], [-0.3, 0.4]])
for step in range(3):
    fake = generator(noise)
    d_real, d_fake = critic(real), critic(fake.detach())
    d_loss = d_fake.mean() - d_real.mean()
    opt_c.zero_grad()
    d_loss.backward()
    opt_c.step()

    g_out = critic(generator(noise))
    weight = 1.0
    if step > 1:
        weight = 0.5
    g_loss = -weight * g_out.mean()
    opt_g.zero_grad()
    g_loss.backward()
    opt_g.step()


def report():
    here = globals()
    return {k: round(here[k].mean().item(), 4) for k in ("fake", "d_real", "d_fake", "d_loss", "g_out", "g_loss")}


print(report(), weight)
