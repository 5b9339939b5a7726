"""Weights changed by masks, lists and views between the steps of one optimizer, and averages by names of parameters."""

import copy
from collections import OrderedDict

import torch
from torch import nn, optim

from fixed import fill, points

x, y = points()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 8)
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        return self.head(torch.tanh(self.body(x)))


def prune(net, rows):
    for name, p in net.named_parameters():
        p.data[p.abs() < 0.05] = 0
    weights = dict(net.named_parameters())
    for key in weights:
        weights[key].data.clamp_(-0.4, 0.4)
    with torch.no_grad():
        net.head.weight[rows] = 0.1
        net.head.weight[torch.tensor([0, 2])] += 0.05
    net.body.weight.data.view(-1)[torch.tensor([1, 5, 7])] = 0.2
    net.body.weight.data.t()[rows] = 0.15
    w = net.body.weight.data
    w[w < -0.3] = -0.3
    params = list(net.parameters())
    params[1].data.mul_(0.5)
    with torch.no_grad():
        params[3] += 0.01


@torch.no_grad()
def update(average, net, decay=0.5):
    averages = OrderedDict(average.named_parameters())
    for name, p in net.named_parameters():
        averages[name].mul_(decay).add_(p.data, alpha=1 - decay)


net = fill(Net())
average = copy.deepcopy(net)
optimizer = optim.Adam(net.parameters(), lr=0.05)
criterion = nn.CrossEntropyLoss()
for round in range(4):
    for _ in range(3):
        optimizer.zero_grad()
        loss = criterion(net(x), y)
        loss.backward()
        optimizer.step()
        print("loss", loss.item())
    update(average, net)
    prune(net, [1])
    print("sums", [p.sum().item() for p in net.parameters()])
print("average", [p.norm().item() for p in average.parameters()], criterion(average(x), y).item())
