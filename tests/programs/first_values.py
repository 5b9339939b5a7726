"""First values that are written through other names and views of a weight: ``w.view(n, -1)``, ``m.weight.data``."""

import torch
from torch import nn, optim

from fixed import points

x, y = points()


class Net(nn.Module):
    def __init__(self, body):
        super().__init__()
        self.body = body
        self.head = nn.Linear(8, 3)
        self.token = nn.Parameter(torch.zeros(1, 1, 8))
        self.initialize_weights()

    def initialize_weights(self):
        w = self.head.weight.data
        w.fill_(0.1)
        nn.init.eye_(w.view(w.shape[0], -1))
        w.view(-1)[2:5] = 0.3
        w[1].mul_(2)
        w += 0.01
        nn.init.constant_(self.token.view(-1)[:4], 0.2)
        b = self.body.weight.data
        nn.init.constant_(b.view([b.shape[0], -1]), 0.05)
        b.view(-1)[3] = -0.4
        for part in self.head.bias.data.chunk(3):
            nn.init.constant_(part, 0.15)
        self.body.bias.data.view(2, 4).zero_()

    def forward(self, x):
        return self.head(torch.tanh(self.body(x)) + self.token.view(1, -1))


def init_all(m):
    if isinstance(m, nn.Linear):
        values = m.weight.data
        nn.init.constant_(values.t(), 0.02)
        values.view(-1)[::3] = 0.3
        nn.init.ones_(m.bias.detach())


def train(net):
    optimizer = optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    criterion = nn.CrossEntropyLoss()
    for _ in range(3):
        optimizer.zero_grad()
        loss = criterion(net(x), y)
        loss.backward()
        optimizer.step()
        print("loss", loss.item())


net = Net(nn.Linear(4, 8))
print("start", [p.sum().item() for p in net.parameters()], net.head.weight.tolist())
train(net)
net.apply(init_all)
print("again", [p.sum().item() for p in net.parameters()])
train(net)
print("norm", sum(p.norm().item() for p in net.parameters()))
