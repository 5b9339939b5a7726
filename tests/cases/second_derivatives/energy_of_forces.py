"""Forces are gradients of an energy, and training is by forces; another network in the file has a gradient penalty."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import autograd, nn


class Energy(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(3, 5)
        self.b = nn.Linear(5, 1)

    def forward(self, r):
        return self.b(F.softplus(self.a(r))).sum()


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(nn.Linear(3, 4), nn.LeakyReLU(0.2), nn.Linear(4, 1))

    def forward(self, v):
        return self.main(v)


def fill(net, seed):
    rs = np.random.RandomState(seed)
    with torch.no_grad():
        for w in net.parameters():
            w.copy_(torch.tensor(rs.randn(*w.shape).astype("float32") * 0.5))
    return net


def penalty(critic, real, fake):
    alpha = torch.full((real.size(0), 1), 0.25)
    mixed = (alpha * real + (1 - alpha) * fake).requires_grad_(True)
    scores = critic(mixed)
    gradients = autograd.grad(
        outputs=scores, inputs=mixed, grad_outputs=torch.ones(scores.size()), create_graph=True, retain_graph=True
    )[0]
    return ((gradients.norm(2, dim=1) - 1) ** 2).mean()


energy, critic = fill(Energy(), 1), fill(Critic(), 2)
positions = torch.tensor(np.random.RandomState(4).rand(6, 3).astype("float32"))
wanted = -positions
opt_e = torch.optim.Adam(energy.parameters(), lr=0.01)
opt_c = torch.optim.Adam(critic.parameters(), lr=0.01)
for epoch in range(2):
    r = positions.clone().detach().requires_grad_(True)
    e = energy(r)
    forces = -autograd.grad(e, r, create_graph=True)[0]
    stiffness = autograd.grad(forces.sum(), r, create_graph=True)[0]
    loss = F.mse_loss(forces, wanted) + 0.1 * stiffness.pow(2).mean()
    opt_e.zero_grad()
    loss.backward()
    opt_e.step()

    fake = forces.detach()
    loss_c = critic(fake).mean() - critic(positions).mean() + 10 * penalty(critic, positions, fake)
    opt_c.zero_grad()
    loss_c.backward()
    opt_c.step()
    print(epoch, round(loss.item(), 4), round(loss_c.item(), 4))
