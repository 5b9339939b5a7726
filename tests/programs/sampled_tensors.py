"""Examples made by the gradients of a tensor: robust training's restarts, and samples of an energy."""

import torch
import torch.nn as nn
import torch.nn.functional as F

from fixed import fill

net = fill(nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3)))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
data = [(torch.sin(torch.arange(32.) * (k + 1)).view(8, 4), torch.arange(8) % 3) for k in range(3)]
upper, lower = 1, -1


def clamp(x, low, high):
    return torch.max(torch.min(x, high), low)


def attack_pgd(model, X, y, epsilon, alpha, iters, restarts, early_stop=False):
    max_loss = torch.zeros(y.shape[0])
    max_delta = torch.zeros_like(X)
    for restart in range(restarts):
        delta = torch.zeros_like(X)
        delta += 0.02 * (restart + 1)
        delta = clamp(delta, lower - X, upper - X)
        delta.requires_grad = True
        for _ in range(iters):
            output = model(X + delta)
            if early_stop:
                index = torch.where(output.max(1)[1] == y)[0]
            else:
                index = slice(None, None, None)
            if not isinstance(index, slice) and len(index) == 0:
                break
            loss = F.cross_entropy(output, y)
            loss.backward()
            grad = delta.grad.detach()
            d = delta[index, :]
            g = grad[index, :]
            x = X[index, :]
            d = torch.clamp(d + alpha * torch.sign(g), min=-epsilon, max=epsilon)
            d = clamp(d, lower - x, upper - x)
            delta.data[index, :] = d
            delta.grad.zero_()
        all_loss = F.cross_entropy(model(X + delta), y, reduction="none")
        max_delta[all_loss >= max_loss] = delta.detach()[all_loss >= max_loss]
        max_loss = torch.max(max_loss, all_loss)
    return max_delta


for early in (False, True):
    for x, y in data:
        delta = attack_pgd(net, x, y, 0.1, 0.03, 3, 2, early_stop=early)
        delta = delta.detach()
        loss = F.cross_entropy(net(x + delta), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        print("robust", early, delta.abs().sum().item(), loss.item())


energy = fill(nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1)))
optimizer = torch.optim.Adam(energy.parameters(), lr=1e-2, betas=(0.0, 0.999))


def start(count, width):
    return torch.cos(torch.arange(float(count * width))).view(count, width), torch.arange(count)


def sample(steps):
    for x, _ in data:
        fake, number = start(8, 4)
        fake.requires_grad = True
        for p in energy.parameters():
            p.requires_grad = False
        for _ in range(steps):
            fake.data.add_(0.01)
            out = energy(fake)
            out.sum().backward()
            fake.grad.data.clamp_(-0.1, 0.1)
            fake.data.add_(fake.grad.data, alpha=-1.0)
            fake.grad.detach_()
            fake.grad.zero_()
            fake.data.clamp_(-1, 1)
        fake = fake.detach()
        for p in energy.parameters():
            p.requires_grad = True
        energy.zero_grad()
        real_out, fake_out = energy(x), energy(fake)
        loss = (real_out - fake_out + real_out ** 2 + fake_out ** 2).mean()
        loss.backward()
        optimizer.step()
        print("energy", number.sum().item(), fake.sum().item(), loss.item())


sample(4)
