"""The learning rates of a schedule, for a plot; the training is another function's."""

import torch
from torch import nn
from torch.optim.lr_scheduler import CosineAnnealingLR, LambdaLR


def curve(steps, warmup=2):
    layer = nn.Linear(2, 2)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.5)
    schedule = LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / warmup))
    rates = []
    for _ in range(steps):
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        schedule.step()
    return rates


def curve_of_groups(steps):
    layers = nn.Sequential(nn.Linear(1, 1), nn.Linear(1, 1))
    groups = [{"params": layers[0].parameters(), "lr": 1.0}, {"params": layers[1].parameters()}]
    opt = torch.optim.AdamW(groups, lr=0.1)
    plan = CosineAnnealingLR(opt, T_max=steps)
    found = []
    for _ in range(steps):
        found.append([round(group["lr"], 4) for group in opt.param_groups])
        opt.step()
        plan.step()
    return found


def train(net, x, steps):
    optimizer = torch.optim.Adam(net.parameters(), lr=0.1)
    for _ in range(steps):
        optimizer.zero_grad()
        loss = net(x).pow(2).sum()
        loss.backward()
        optimizer.step()
    return round(loss.item(), 4)


print(curve(4), curve_of_groups(3))
net = nn.Linear(2, 1)
nn.init.constant_(net.weight, 0.5)
nn.init.constant_(net.bias, 0.1)
print(train(net, torch.ones(1, 2), 3))
