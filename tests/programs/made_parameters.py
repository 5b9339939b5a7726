"""Parameters made of tensors that are changed afterwards, states that classes make of themselves."""

from copy import deepcopy

import torch
from torch import nn


def show(name, *tensors):
    print(name, [[round(v, 3) for v in t.detach().reshape(-1).tolist()] for t in tensors])


class Filled(nn.Module):
    def __init__(self):
        super().__init__()
        weight = torch.empty(3, 2)
        bias = torch.Tensor(3)
        scale = torch.zeros(3)
        self.weight = nn.Parameter(weight)
        self.bias = nn.Parameter(bias)
        self.scale = nn.Parameter(scale)
        nn.init.constant_(weight, 2.0)
        bias.fill_(0.5)
        scale[1] = 5
        scale += 1

    def forward(self, x):
        return (x @ self.weight.t() + self.bias) * self.scale


net = Filled()
show("parameters", *net.parameters(), net(torch.ones(1, 2)))
print([name for name, _ in net.named_parameters()])


class Kept(nn.Module):
    def __init__(self):
        super().__init__()
        self.function = lambda x: x
        self.layer = nn.Linear(2, 2)
        nn.init.ones_(self.layer.weight)

    def __getstate__(self):
        return {key: value for key, value in self.__dict__.items() if key != "function"}

    def __setstate__(self, state):
        self.__dict__.update(state)
        self.function = abs


show("states", deepcopy(Kept()).function(deepcopy(Kept()).layer.weight))


class Layers(nn.ModuleDict):
    _modules: dict[str, nn.Module]

    def pick(self, key):
        return self._modules[key]


layers = Layers()
layers["a"] = nn.ReLU()
print(list(layers.keys()), type(layers.pick("a")).__name__)
