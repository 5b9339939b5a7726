"""Gradient penalties inside of a step, and by functions that are handed the output and the input it was computed from."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import autograd
from torch.autograd import Variable, grad

from fixed import fill
from penalty_tools import compute_grad2


class Two(nn.Module):
    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(nn.Conv2d(1, 4, 3, 2, 1), nn.LeakyReLU(0.01), nn.Conv2d(4, 6, 3, 2, 1), nn.Tanh())
        self.source = nn.Conv2d(6, 1, 3, 1, 1)
        self.label = nn.Linear(24, 3)

    def forward(self, x):
        h = self.main(x)
        return self.source(h), self.label(h.view(h.size(0), -1))


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3, 2, 1)
        self.fc = nn.Linear(64, 1)

    def forward(self, x):
        h = torch.tanh(self.conv(x))
        return self.fc(h.view(h.size(0), -1))


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 64)

    def forward(self, z):
        return torch.tanh(self.fc(z)).view(-1, 1, 8, 8)


class Solver:
    """The output is handed to a method; one of two that the network gives."""

    def __init__(self):
        self.D = fill(Two())
        self.d_optimizer = torch.optim.Adam(self.D.parameters(), 0.01, [0.5, 0.999])

    def gradient_penalty(self, y, x):
        weight = torch.ones(y.size())
        dydx = torch.autograd.grad(
            outputs=y, inputs=x, grad_outputs=weight, retain_graph=True, create_graph=True, only_inputs=True
        )[0]
        dydx = dydx.view(dydx.size(0), -1)
        dydx_l2norm = torch.sqrt(torch.sum(dydx**2, dim=1))
        return torch.mean((dydx_l2norm - 1) ** 2)

    def train(self, x_real, x_fake, label):
        for i in range(4):
            out_src, out_cls = self.D(x_real)
            d_loss_real = -torch.mean(out_src)
            d_loss_cls = F.cross_entropy(out_cls, label)
            out_src, out_cls = self.D(x_fake.detach())
            d_loss_fake = torch.mean(out_src)
            x_hat = (0.3 * x_real.data + 0.7 * x_fake.data).requires_grad_(True)
            out_src, _ = self.D(x_hat)
            d_loss_gp = self.gradient_penalty(out_src, x_hat)
            d_loss = d_loss_real + d_loss_fake + d_loss_cls + 10 * d_loss_gp
            self.d_optimizer.zero_grad()
            d_loss.backward()
            self.d_optimizer.step()
            print("handed", i, d_loss.item(), d_loss_gp.item())


class Collection:
    """The gradient stands in the step, once for each device."""

    def __init__(self, gpu_mode=False):
        self.gpu_mode = gpu_mode
        self.G, self.D = fill(Generator()), fill(Critic())
        self.G_optimizer = torch.optim.Adam(self.G.parameters(), lr=0.01, betas=(0.5, 0.9))
        self.D_optimizer = torch.optim.Adam(self.D.parameters(), lr=0.01, betas=(0.5, 0.9))

    def train(self, x_, z_):
        for epoch in range(4):
            self.D_optimizer.zero_grad()
            D_real_loss = -torch.mean(self.D(x_))
            G_ = self.G(z_)
            D_fake_loss = torch.mean(self.D(G_))
            x_hat = 0.4 * x_.data + 0.6 * G_.data
            x_hat.requires_grad = True
            pred_hat = self.D(x_hat)
            if self.gpu_mode:
                gradients = grad(outputs=pred_hat, inputs=x_hat, grad_outputs=torch.ones(pred_hat.size()).cuda(),
                                 create_graph=True, retain_graph=True, only_inputs=True)[0]
            else:
                gradients = grad(outputs=pred_hat, inputs=x_hat, grad_outputs=torch.ones(pred_hat.size()),
                                 create_graph=True, retain_graph=True, only_inputs=True)[0]
            gradient_penalty = 10 * ((gradients.view(gradients.size()[0], -1).norm(2, 1) - 1) ** 2).mean()
            D_loss = D_real_loss + D_fake_loss + gradient_penalty
            D_loss.backward()
            self.D_optimizer.step()
            self.G_optimizer.zero_grad()
            G_ = self.G(z_)
            G_loss = -torch.mean(self.D(G_))
            G_loss.backward()
            self.G_optimizer.step()
            print("inline", epoch, D_loss.item(), G_loss.item(), gradient_penalty.item())


real = torch.cos(torch.arange(256.0)).view(4, 1, 8, 8)
fake = torch.sin(torch.arange(256.0) * 1.3).view(4, 1, 8, 8)
noise = torch.sin(torch.arange(32.0)).view(4, 8)

Solver().train(real, fake, torch.tensor([0, 2, 1, 0]))
Collection().train(real, noise)

# The regulariser has a backward call of its own; the function stands in another file.
discriminator = fill(Critic())
d_optimizer = torch.optim.RMSprop(discriminator.parameters(), lr=0.01, alpha=0.99)
for it in range(4):
    d_optimizer.zero_grad()
    x_real = real.clone()
    x_real.requires_grad_()
    d_real = discriminator(x_real)
    dloss_real = F.softplus(-d_real).mean()
    dloss_real.backward(retain_graph=True)
    reg = 5.0 * compute_grad2(d_real, x_real).mean()
    reg.backward()
    d_fake = discriminator(fake)
    dloss_fake = F.softplus(d_fake).mean()
    dloss_fake.backward()
    d_optimizer.step()
    print("apart", it, dloss_real.item(), reg.item(), dloss_fake.item())

# Two gradients in one step, of outputs that the loss is computed from as well.
k, p = 2, 6
discriminator = fill(Critic())
optimizer_D = torch.optim.Adam(discriminator.parameters(), lr=0.01, betas=(0.5, 0.9))
for i in range(4):
    real_imgs = Variable(real.clone(), requires_grad=True)
    optimizer_D.zero_grad()
    fake_imgs = Variable(fake.clone(), requires_grad=True)
    real_validity = discriminator(real_imgs)
    fake_validity = discriminator(fake_imgs)
    real_grad_out = Variable(torch.FloatTensor(real_imgs.size(0), 1).fill_(1.0), requires_grad=False)
    real_grad = autograd.grad(
        real_validity, real_imgs, real_grad_out, create_graph=True, retain_graph=True, only_inputs=True
    )[0]
    real_grad_norm = real_grad.view(real_grad.size(0), -1).pow(2).sum(1) ** (p / 2)
    fake_grad_out = Variable(torch.FloatTensor(fake_imgs.size(0), 1).fill_(1.0), requires_grad=False)
    fake_grad = autograd.grad(
        fake_validity, fake_imgs, fake_grad_out, create_graph=True, retain_graph=True, only_inputs=True
    )[0]
    fake_grad_norm = fake_grad.view(fake_grad.size(0), -1).pow(2).sum(1) ** (p / 2)
    div_gp = torch.mean(real_grad_norm + fake_grad_norm) * k / 2
    d_loss = -torch.mean(real_validity) + torch.mean(fake_validity) + div_gp
    d_loss.backward()
    optimizer_D.step()
    print("div", i, d_loss.item(), div_gp.item())
