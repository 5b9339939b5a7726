# A method that computes the loss has another one forget the gradients of the optimizer that it hands over.
import torch
from torch import nn, optim


class Trainer:
    def __init__(self, net):
        self.net = net
        self.opt = optim.SGD(net.parameters(), lr=0.1)

    def clean(self, *, which):
        which.zero_grad()

    def loss(self, x, y):
        self.clean(which=self.opt)
        return ((self.net(x) - y) ** 2).mean()

    def fit(self, x, y):
        for _ in range(4):
            loss = self.loss(x, y)
            loss.backward()
            self.opt.step()
            print(loss.item())


net = nn.Linear(3, 1)
with torch.no_grad():
    net.weight.fill_(0.5)
    net.bias.fill_(0.1)
x = torch.arange(12.).view(4, 3) / 10
y = torch.ones(4, 1)
Trainer(net).fit(x, y)
