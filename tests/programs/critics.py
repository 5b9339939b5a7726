"""Gradient penalties on critics that change shapes: what PyNative's second derivatives lose parts of."""

import torch
import torch.autograd as autograd
import torch.nn as nn
from torch.autograd import Variable, grad

from fixed import fill

Tensor = torch.cuda.FloatTensor if torch.cuda.is_available() else torch.FloatTensor


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv2d(1, 4, 3, 2, 1), nn.LeakyReLU(0.2, inplace=True))
        self.fc = nn.Linear(64, 1)

    def forward(self, image):
        h = self.conv(image)
        return self.fc(h.view(h.shape[0], -1))


class Conditional(Critic):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(3, 8)
        self.fc = nn.Linear(72, 1)

    def forward(self, image, label):
        h = torch.tanh(self.conv(image)).flatten(1)
        return self.fc(torch.cat([h, self.embedding(label)], 1))


def weighed_penalty(D, real_samples, fake_samples, alpha):
    interpolates = (alpha * real_samples + ((1 - alpha) * fake_samples)).requires_grad_(True)
    d_interpolates = D(interpolates)
    fake = Variable(Tensor(real_samples.shape[0], 1).fill_(1.0), requires_grad=False)
    gradients = autograd.grad(
        outputs=d_interpolates,
        inputs=interpolates,
        grad_outputs=fake,
        create_graph=True,
        retain_graph=True,
        only_inputs=True,
    )[0]
    gradients = gradients.view(gradients.size(0), -1)
    return ((gradients.norm(2, dim=1) - 1) ** 2).mean()


def older_penalty(netD, real_data, fake_data, alpha, use_cuda=False):
    interpolates = alpha * real_data + ((1 - alpha) * fake_data)
    interpolates = autograd.Variable(interpolates, requires_grad=True)
    disc_interpolates = netD(interpolates)
    gradients = autograd.grad(outputs=disc_interpolates, inputs=interpolates,
                              grad_outputs=torch.ones(disc_interpolates.size()).cuda() if use_cuda else torch.ones(
                                  disc_interpolates.size()),
                              create_graph=True, retain_graph=True, only_inputs=True)[0]
    return ((gradients.norm(2, dim=1) - 1) ** 2).mean() * 10


class Trainer:
    def __init__(self):
        self.critic = fill(Conditional())
        self.optimizer = torch.optim.SGD(self.critic.parameters(), lr=0.1)

    def penalty(self, x, label):
        x.requires_grad_(True)
        out = self.critic(x, label)
        g = grad(out.sum(), x, create_graph=True)[0]
        return (g.pow(2).sum((1, 2, 3)).sqrt() - 1).pow(2).mean()

    def step(self, x, label):
        self.optimizer.zero_grad()
        loss = self.critic(x, label).mean() + self.penalty(x.detach().clone(), label)
        loss.backward()
        self.optimizer.step()
        return loss.item()


real = torch.cos(torch.arange(256.0)).view(4, 1, 8, 8)
fake = torch.sin(torch.arange(256.0) * 1.3).view(4, 1, 8, 8)

critic = fill(Critic())
optimizer = torch.optim.Adam(critic.parameters(), lr=0.01)
for step in range(4):
    optimizer.zero_grad()
    loss = critic(real).mean() - critic(fake).mean() + weighed_penalty(critic, real, fake, 0.3)
    loss.backward()
    optimizer.step()
    print("weighed", step, loss.item())

critic = fill(Critic())
optimizer = torch.optim.Adam(critic.parameters(), lr=0.01)
for step in range(4):
    optimizer.zero_grad()
    loss = critic(real).mean() - critic(fake).mean() + older_penalty(critic, real, fake, 0.3)
    loss.backward()
    optimizer.step()
    print("older", step, loss.item())

trainer = Trainer()
for step in range(4):
    print("conditional", step, trainer.step(real, torch.tensor([0, 1, 2, 1])))
