"""Prints and logs stand among the parts of a loss, before and behind the parts they show."""

import torch
import torch.nn.functional as F
from meters_parts import AverageMeter
from torch import nn


class Log:
    def __init__(self):
        self.rows = []

    def add_scalar(self, name, value, step):
        self.rows.append((name, round(float(value), 4), step))


net = nn.Linear(3, 2)
nn.init.constant_(net.weight, 0.3)
nn.init.zeros_(net.bias)
optimizer = torch.optim.Adam(net.parameters(), lr=0.05)
log, meter = Log(), AverageMeter("a")


def run(data):
    for step, (x, y) in enumerate(data):
        out = net(x)
        first = F.mse_loss(out, y)
        meter.update(first.item(), len(x))
        print(f"{step}: {first.item():.4f}")
        second = 0.1 * net.weight.abs().sum()
        log.add_scalar("second", second.item(), step)
        loss = first + second
        log.add_scalar("loss", loss, step)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


run([(torch.full((2, 3), 0.5 + k), torch.ones(2, 2) * k) for k in range(3)])
print(log.rows, round(meter.avg, 4), meter.count)
