import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(size, size), nn.ReLU())

    def forward(self, x):
        return self.layers(x) + x


def keep(nets, pattern):
    paths = {}
    for name, net in nets.items():
        paths[name] = pattern.format(name)
        torch.jit.script(net.eval()).save(paths[name])
    return paths
