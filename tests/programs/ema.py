import copy

import torch
from torch import nn

from fixed import fill, points


class EMA:
    def __init__(self, model, decay):
        self.module = copy.deepcopy(model)
        self.module.eval()
        self.decay = decay
        for p in self.module.parameters():
            p.requires_grad_(False)

    @torch.no_grad()
    def update(self, model):
        for ema_p, p in zip(self.module.parameters(), model.parameters()):
            ema_p.mul_(self.decay).add_(p, alpha=1 - self.decay)


x, y = points()
net = fill(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3)))
ema = EMA(net, 0.8)
optimizer = torch.optim.SGD(net.parameters(), lr=0.3)
for step in range(6):
    loss = nn.functional.cross_entropy(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    ema.update(net)
    with torch.no_grad():
        print(step, loss.item(), nn.functional.cross_entropy(ema.module(x), y).item())
