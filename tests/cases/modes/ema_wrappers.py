"""Shadow copies of a network: each wrapper is born in train mode, what it holds keeps its own."""

import copy

import torch
import torch.nn as nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn


class Shadow(nn.Module):
    def __init__(self, network, decay=0.9):
        super().__init__()
        self.decay = decay
        self.network = copy.deepcopy(network)
        for p in self.network.parameters():
            p.requires_grad_(False)

    @torch.no_grad()
    def update(self, network):
        for mine, theirs in zip(self.network.parameters(), network.parameters()):
            mine.mul_(self.decay).add_(theirs, alpha=1 - self.decay)

    def forward(self, x):
        return self.network(x)


class FrozenShadow(Shadow):
    def __init__(self, network):
        super().__init__(network)
        self.network.eval()


def build():
    net = nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5), nn.BatchNorm1d(2))
    nn.init.constant_(net[0].weight, 0.5)
    nn.init.zeros_(net[0].bias)
    return net


def modes(wrapper):
    return [bool(m.training) for m in wrapper.modules()]


net = build()
ema = AveragedModel(net, multi_avg_fn=get_ema_multi_avg_fn(0.9))
shadow, frozen = Shadow(net), FrozenShadow(net)
print(modes(ema), modes(shadow), modes(frozen))
net.eval()
late = AveragedModel(net)
late_shadow = Shadow(net)
print(modes(late), modes(late_shadow), modes(net))
net.train()
print(modes(net), modes(late), modes(ema))
ema.eval()
shadow.eval()
x = torch.tensor([[1.0, 2.0], [3.0, 5.0]])
print(ema(x).tolist(), shadow(x).tolist(), frozen(x).tolist())
print(ema.training, ema.module.training, late.training, late.module.training)
