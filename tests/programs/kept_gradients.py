"""Gradients that functions of another file clip, cancel and use."""

import torch
from torch import nn

from fixed import fill, points
from kept_tools import LARS, Adam, cancel_gradients, clip_gradients

x, y = points()


def train(name, scaler=None, clip=0.0, until=0):
    net = fill(nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3)))
    if name == "lars":
        optimizer = LARS(net.parameters(), lr=0.5)
    elif name == "adam":
        optimizer = Adam(net.parameters(), lr=0.02)
    else:
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, weight_decay=0.01)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2, 0.5)
    for epoch in range(5):
        loss = nn.functional.cross_entropy(net(x), y)
        optimizer.zero_grad()
        norms = []
        if scaler is None:
            loss.backward()
            if clip:
                norms = clip_gradients(net, clip)
            cancel_gradients(epoch, net, until)
            optimizer.step()
        else:
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            norms = clip_gradients(net, 0.1)
            scaler.step(optimizer)
            scaler.update()
        scheduler.step()
        print(name, epoch, loss.item(), sum(norms))
    return optimizer


optimizer = train("lars")
saved = optimizer.state_dict()
optimizer.load_state_dict(saved)
print(len(saved["param_groups"]), len(saved["state"]), sorted(saved["state"][0]))
train("adam")
train("adam", clip=0.1, until=2)
train("sgd", clip=0.1, until=2)
train("sgd", scaler=torch.amp.GradScaler("cpu", enabled=False))
