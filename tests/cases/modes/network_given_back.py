"""Methods and functions that give back networks that are there, in the mode that they have."""

import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 3, bias=False), nn.Dropout(0.5))
        nn.init.ones_(self.body[0].weight)

    def backbone(self):
        return self.body

    def forward(self, x):
        return self.backbone()(x)


def first_of(networks):
    return networks[0].body


def chosen(network, deep):
    part = network.body
    return part if deep else network.body[0]


net = Net()
net.eval()
x = torch.ones(2, 3)
print(net.backbone()(x).tolist())
body = net.backbone()
print(body(x).sum().item(), body.training, first_of([net]).training, chosen(net, True).training)
net.train()
print(net.backbone().training, body.training)
