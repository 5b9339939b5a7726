"""Weights that are given other values between the steps, and go on being trained."""

import torch
import torch.nn.functional as F
from torch import nn

from fixed import fill, points

x, y = points()


class EMA:
    def __init__(self, model, decay):
        self.model = model
        self.decay = decay
        self.shadow = {}
        self.backup = {}

    def register(self):
        for name, param in self.model.named_parameters():
            if param.requires_grad:
                self.shadow[name] = param.data.clone()

    def update(self):
        for name, param in self.model.named_parameters():
            if param.requires_grad:
                new_average = (1.0 - self.decay) * param.data + self.decay * self.shadow[name]
                self.shadow[name] = new_average.clone()

    def apply_shadow(self):
        for name, param in self.model.named_parameters():
            if param.requires_grad:
                self.backup[name] = param.data
                param.data = self.shadow[name]

    def restore(self):
        for name, param in self.model.named_parameters():
            if param.requires_grad:
                param.data = self.backup[name]
        self.backup = {}


def averaged(net: nn.Module, epoch, ema):
    ema.update()
    ema.apply_shadow()
    print("average", F.cross_entropy(net(x), y).item())
    ema.restore()


def clipped(net: nn.Module, epoch, ema):
    for p in net.parameters():
        p.data = torch.clamp(p.data, -0.3, 0.3)


def shrunk(net: nn.Module, epoch, ema):
    for p in net.parameters():
        p.data *= 0.95


def normalised(net: nn.Module, epoch, ema):
    net.first.weight.data = F.normalize(net.first.weight.data, dim=1)


def swapped(net: nn.Module, epoch, ema):
    saved = [p.data for p in net.parameters()]
    for p in net.parameters():
        p.data = p.data * 0.5
    print("half", F.cross_entropy(net(x), y).item())
    for p, old in zip(net.parameters(), saved):
        p.data = old


def flattened(net: nn.Module, epoch, ema):
    vector = nn.utils.parameters_to_vector(net.parameters())
    nn.utils.vector_to_parameters(vector * 0.9, net.parameters())


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 8)
        self.last = nn.Linear(8, 3)

    def forward(self, x):
        return self.last(torch.tanh(self.first(x)))


def train(change, adam=False):
    net = fill(Net())
    if adam:
        optimizer = torch.optim.Adam(net.parameters(), lr=0.05)
    else:
        optimizer = torch.optim.SGD(net.parameters(), lr=0.5, momentum=0.9)
    ema = EMA(net, 0.5)
    ema.register()
    for epoch in range(5):
        optimizer.zero_grad()
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        print(epoch, loss.item())
        change(net, epoch, ema)


for change in (averaged, clipped, shrunk, normalised, swapped, flattened):
    print(change.__name__)
    train(change)
train(averaged, adam=True)

net = fill(Net())
optimizer = torch.optim.SGD(net.parameters(), lr=0.5, momentum=0.9)
for epoch in range(6):
    optimizer.zero_grad()
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    optimizer.step()
    print("filled", epoch, loss.item())
    if epoch == 1:
        nn.init.constant_(net.last.bias, 0.1)
        net.first.bias.data.zero_()
    elif epoch == 3:
        for layer in net.children():
            if isinstance(layer, nn.Linear):
                nn.init.zeros_(layer.bias)
