"""Pickled and copied networks with normalised weights, buffers and frozen parts."""

import copy
import pickle

import torch
from torch import nn
from torch.nn.utils.parametrizations import weight_norm


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = weight_norm(nn.Linear(2, 3))
        self.norm = nn.LayerNorm(3, elementwise_affine=False)
        self.register_buffer("steps", torch.zeros(1))
        self.out = nn.Linear(3, 1)
        for p in self.out.parameters():
            p.requires_grad = False

    def forward(self, x):
        self.steps += 1
        return self.out(self.norm(self.fc(x)))


net = Net()
for i, p in enumerate(net.parameters()):
    nn.init.constant_(p, 0.3 + 0.1 * i)
with torch.no_grad():
    net.fc.parametrizations.weight.original1.copy_(torch.arange(6.0).view(3, 2))
x = torch.tensor([[1.0, 2.0]])
twin = copy.deepcopy(net)
y = net(x)
state = pickle.loads(pickle.dumps(net.state_dict()))
print(sorted(state), state["steps"].item())
print(torch.allclose(twin(x), y), twin.steps.item(), net.steps.item(), [p.requires_grad for p in twin.parameters()])
