"""A count that functions declare global weighs a term of the loss, and a step is a static method of the network."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from fixed import fill, points

count = 0
rate = 0.5


class Coder(nn.Module):
    def __init__(self):
        super().__init__()
        self.coder = nn.Linear(4, 3)
        self.decoder = nn.Linear(3, 4)

    def forward(self, x):
        code = torch.tanh(self.coder(x))
        return self.decoder(code), code

    @staticmethod
    def train_step(net, updater, batches, cut):
        net.train()
        updater.zero_grad()
        x = next(batches)
        made, code = net(x)
        loss = F.mse_loss(made, x) + cut * code.abs().mean()
        loss.backward()
        updater.step()
        return {"loss": loss.item(), "code": code.abs().mean().item()}


def batches_of(x, size):
    while True:
        for start in range(0, len(x), size):
            yield x[start:start + size]


def train(net, optimizer, x):
    global count
    total = 0.0
    for start in range(0, len(x), 16):
        batch = x[start:start + 16]
        optimizer.zero_grad()
        anneal = min(rate, 1.0 * count / 10)
        made, code = net(batch)
        loss = F.mse_loss(made, batch) + anneal * code.pow(2).mean()
        loss.backward()
        total += loss.item()
        optimizer.step()
        count += 1
    return total


def main():
    x, _ = points()
    net = fill(Coder())
    optimizer = torch.optim.Adam(net.parameters(), lr=0.02)
    for epoch in range(3):
        print(f"{epoch} {train(net, optimizer, x):.5f} {count}")
    if count > 5:
        optimizer = torch.optim.SGD(filter(lambda p: p.requires_grad, net.parameters()), lr=0.1, momentum=0.9)
    batches = batches_of(x, 16)
    for step in range(6):
        log = net.train_step(net, optimizer, batches, 0.1)
        print(step, " ".join(f"{name} {value:.5f}" for name, value in log.items()))


main()
