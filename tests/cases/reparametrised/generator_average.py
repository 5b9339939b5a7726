"""An average of a network's weights copies the vectors, and averages the weights alone."""

import torch
from torch import nn
from torch.nn.utils import spectral_norm


class Average:
    def __init__(self, network, decay):
        self.decay = decay
        self.weights = {name: p.detach().clone() for name, p in network.named_parameters()}
        self.buffers = {name: b.clone() for name, b in network.named_buffers()}

    def update(self, network):
        for name, p in network.named_parameters():
            self.weights[name] = self.decay * self.weights[name] + (1 - self.decay) * p.detach()
        for name, b in network.named_buffers():
            self.buffers[name] = b.clone()


def make(width):
    layers = [spectral_norm(nn.Linear(2, width)), nn.BatchNorm1d(width), nn.ReLU(), spectral_norm(nn.Linear(width, 1))]
    return nn.Sequential(*layers)


net = make(3)
with torch.no_grad():
    for number, p in enumerate(net.parameters()):
        p.fill_(0.1 * (number + 1))
average = Average(net, 0.5)
with torch.no_grad():
    for p in net.parameters():
        p.mul_(3)
average.update(net)
print(sorted(average.weights))
print(sorted(average.buffers))
print({name: round(value.sum().item(), 4) for name, value in sorted(average.weights.items())})
groups = [
    {"params": [p for n, p in net.named_parameters() if p.ndim > 1], "weight_decay": 0.1},
    {"params": [p for n, p in net.named_parameters() if p.ndim <= 1], "weight_decay": 0.0},
]
print([len(g["params"]) for g in groups])
optimizer = torch.optim.SGD(groups, lr=0.1)
print(len(optimizer.param_groups[1]["params"]))
penalty = sum(p.pow(2).sum() for p in net.parameters())
print(round(penalty.item(), 4))
