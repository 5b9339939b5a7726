"""Networks and optimizers in dictionaries, a reset in a method of its own, losses from functions: StarGAN v2's shape."""

import torch
import torch.nn as nn
import torch.nn.functional as F

from fixed import fill, points

x, _ = points()


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, x.shape[1]))

    def forward(self, z):
        return self.net(z)


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(x.shape[1], 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
        self.unused = nn.Linear(2, 2)

    def forward(self, x):
        return self.net(x)


class Solver(nn.Module):
    def __init__(self):
        super().__init__()
        self.nets = {"generator": fill(Generator(), 0.3), "discriminator": fill(Discriminator(), 0.2)}
        for name, module in self.nets.items():
            setattr(self, name, module)
        self.optims = {}
        for net in self.nets.keys():
            self.optims[net] = torch.optim.Adam(
                params=self.nets[net].parameters(), lr=1e-2, betas=[0.0, 0.99], weight_decay=1e-1
            )

    def _reset_grad(self):
        for optim in self.optims.values():
            optim.zero_grad()

    def fit(self, n):
        nets = self.nets
        optims = self.optims
        for i in range(n):
            z = torch.cos(torch.arange(32).reshape(8, 4) * 0.7 + i)
            d_loss, d_losses = compute_d_loss(nets, x[:8], z)
            self._reset_grad()
            d_loss.backward()
            optims["discriminator"].step()
            g_loss = compute_g_loss(nets, z)
            self._reset_grad()
            g_loss.backward()
            optims["generator"].step()
            print("step %d: %.5f %.5f %.5f" % (i, d_loss.item(), g_loss.item(), d_losses["real"]))
        print("untrained %.6f" % nets["discriminator"].unused.weight.sum().item())


def adv_loss(logits, target):
    assert target in [1, 0]
    targets = torch.full_like(logits, fill_value=target)
    return F.binary_cross_entropy_with_logits(logits, targets)


def compute_d_loss(nets, x, z):
    out = nets["discriminator"](x)
    loss_real = adv_loss(out, 1)
    with torch.no_grad():
        fake = nets["generator"](z)
    out = nets["discriminator"](fake)
    loss_fake = adv_loss(out, 0)
    return loss_real + loss_fake, {"real": loss_real.item()}


def compute_g_loss(nets, z):
    out = nets["discriminator"](nets["generator"](z))
    return adv_loss(out, 1)


Solver().fit(5)
