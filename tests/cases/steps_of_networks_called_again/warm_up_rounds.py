"""A branch takes a step of its own and goes on to the next round, or returns."""

import torch
from torch import nn


def make():
    net = nn.Linear(2, 1)
    nn.init.constant_(net.weight, 0.4)
    nn.init.zeros_(net.bias)
    return net


def rounds(net, optimizer: torch.optim.Optimizer, data):
    for i, x in enumerate(data):
        optimizer.zero_grad()
        if i < 2:
            warm = net(x).abs().mean()
            warm.backward()
            optimizer.step()
            print(f"warm {warm.item():.5f}")
            continue
        loss = (net(x) - 1).pow(2).mean()
        loss.backward()
        optimizer.step()
        print(f"loss {loss.item():.5f}")


def one(net, optimizer: torch.optim.Optimizer, x, is_short):
    optimizer.zero_grad()
    if is_short:
        short = net(x[:1]).sum()
        short.backward()
        optimizer.step()
        return short.item()
    loss = net(x).pow(2).sum()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 0.5)
    optimizer.step()
    return loss.item()


def building_up(net, optimizer: torch.optim.Optimizer, data):
    """Gradients of rounds that go on early are not lost: the next step uses them."""
    optimizer.zero_grad()
    for i, x in enumerate(data):
        if i % 2 == 0:
            part = net(x).sum() * 0.1
            part.backward()
            continue
        loss = net(x).pow(2).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print(f"built {loss.item():.5f}")


def never_reset(net, optimizer: torch.optim.Optimizer, data):
    optimizer.zero_grad()
    for i, x in enumerate(data):
        if i % 2 == 0:
            part = net(x).sum() * 0.1
            part.backward()
            optimizer.step()
            continue
        loss = net(x).pow(2).mean()
        loss.backward()
        optimizer.step()
        print(f"kept {loss.item():.5f}")


data = [torch.arange(6.0).reshape(3, 2) / (3 + i) for i in range(6)]
for run in (rounds, building_up, never_reset):
    net = make()
    run(net, torch.optim.SGD(net.parameters(), lr=0.1), data)
    print(" ".join(f"{v:.5f}" for v in net.weight.flatten().tolist()))
net = make()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for i, x in enumerate(data):
    print(f"one {one(net, optimizer, x, i % 2 == 0):.5f}")
