"""Gradients are unscaled, clipped, and used; clipping by value hides an infinity that unscale_ has seen."""

import torch
import torch.nn.functional as F
from torch import nn


def train(clip, bad):
    net = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 1))
    for i, p in enumerate(net.parameters()):
        nn.init.constant_(p, 0.2 * (i + 1))
    optimizer = torch.optim.Adam(net.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler(device="cpu")
    norms = []
    for step in range(4):
        x = torch.full((3, 2), 1.0 + step)
        y = torch.full((3, 1), bad if step == 1 else 2.0)
        optimizer.zero_grad(set_to_none=True)
        loss = F.mse_loss(net(x), y)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        if clip == "norm":
            norms.append(torch.nn.utils.clip_grad_norm_(net.parameters(), max_norm=0.5).item())
        else:
            torch.nn.utils.clip_grad_value_(net.parameters(), 0.1)
        scaler.step(optimizer)
        scaler.update()
    print(clip, bad, scaler.get_scale(), [round(p.sum().item(), 4) for p in net.parameters()], [round(n, 3) for n in norms])


train("norm", float("nan"))
train("norm", 3.0)
train("value", float("inf"))
train("value", 3.0)
