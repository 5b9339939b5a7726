"""Two networks with an optimizer each and one scaler: only the step with bad gradients is left out."""

import torch
from torch import nn


def linear(value):
    net = nn.Linear(2, 1)
    nn.init.constant_(net.weight, value)
    nn.init.zeros_(net.bias)
    return net


gen, critic = linear(0.5), linear(-0.5)
opt_g = torch.optim.SGD(gen.parameters(), lr=0.1)
opt_c = torch.optim.SGD(critic.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu", init_scale=64.0)
for step in range(3):
    real = torch.full((2, 2), 1.0 + step)
    if step == 1:
        real[0, 0] = float("nan")
    fake = torch.ones(2, 2)

    opt_c.zero_grad()
    loss_c = critic(real).mean() - critic(fake).mean()
    scaler.scale(loss_c).backward()
    scaler.step(opt_c)

    opt_g.zero_grad()
    loss_g = (gen(fake) - 2).pow(2).mean()
    scaler.scale(loss_g).backward()
    scaler.unscale_(opt_g)
    scaler.step(opt_g)
    scaler.update()
    print(scaler.get_scale(), round(gen.weight.sum().item(), 4), round(critic.weight.sum().item(), 4))
