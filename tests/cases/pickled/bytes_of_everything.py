"""pickle of layers, parameters, tensors, optimizers, state dictionaries, and what holds them."""

import pickle

import torch
from torch import nn


class Holder:
    def __init__(self, net, note):
        self.net = net
        self.note = note


def again(value):
    return pickle.loads(pickle.dumps(value))


net = nn.Sequential(nn.Conv2d(1, 2, 3, padding=1), nn.BatchNorm2d(2), nn.ReLU(), nn.Flatten(), nn.Linear(8, 2))
for i, p in enumerate(net.parameters()):
    nn.init.constant_(p, 0.1 * (i + 1))
x = torch.arange(4.0).view(1, 1, 2, 2)
net.eval()
copy = again(net)
print(type(copy).__name__, copy.training, torch.equal(net(x), copy(x)), [n for n, _ in copy.named_parameters()])
t = again(torch.arange(3))
print(t.tolist(), again(nn.Parameter(torch.ones(2))).requires_grad, again(torch.float32) == torch.float32)
state = again(net.state_dict())
print(len(state), sorted(state)[:2], state["4.bias"].tolist())
held = again({"holder": Holder(nn.GRU(2, 3), "gru"), "sizes": (1, 2)})
print(held["holder"].net.hidden_size, held["holder"].note, held["sizes"])
with torch.no_grad():
    copy[4].bias.add_(1)
print(torch.equal(net(x), copy(x)), round((copy(x) - net(x)).sum().item(), 4))
