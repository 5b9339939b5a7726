"""The same with torch.nn.utils.parametrizations."""

import copy

import torch
from torch import nn
from torch.nn.utils import parametrizations, parametrize


def normalised(layer):
    return parametrizations.spectral_norm(layer, n_power_iterations=1)


net = nn.Sequential(normalised(nn.Linear(3, 2)), nn.Tanh(), parametrizations.weight_norm(nn.Linear(2, 2)))
print(sorted(n for n, _ in net.named_parameters()))
print(sorted(n for n, _ in net.named_buffers()))
print(sorted(net.state_dict()))
print(sum(p.numel() for p in net.parameters() if p.requires_grad), len(list(net.buffers())))
with torch.no_grad():
    for p in net.parameters():
        p.fill_(0.25)
    for b in net.buffers():
        b.fill_(1 / b.numel() ** 0.5)
twin = copy.deepcopy(net)
for mine, theirs in zip(twin.parameters(), net.parameters()):
    with torch.no_grad():
        mine.mul_(0.5).add_(theirs, alpha=0.5)
print(round(sum(p.sum() for p in twin.parameters()).item(), 4), len(list(twin.buffers())))
x = torch.tensor([[1.0, -1.0, 2.0]])
print([round(v, 4) for v in net(x).flatten().tolist()], [round(v, 4) for v in twin(x).flatten().tolist()])
twin.load_state_dict(net.state_dict())
print(parametrize.is_parametrized(net[0]), parametrize.is_parametrized(net[1]))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
for _ in range(2):
    optimizer.zero_grad()
    net(x).sum().backward()
    optimizer.step()
print([round(p.norm().item(), 4) for p in net.parameters()])
