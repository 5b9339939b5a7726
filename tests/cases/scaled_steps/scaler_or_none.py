"""Half precision as an option: with a scaler, with a disabled one, and without."""

import torch
from torch import nn


def run(net, scaler, xs):
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for x in xs:
        loss = net(x).pow(2).mean()
        opt.zero_grad()
        if scaler is not None:
            scaler.scale(loss).backward()
            scaler.step(opt)
            scaler.update()
        else:
            loss.backward()
            opt.step()
    return [round(v, 4) for v in net.weight[0].tolist()]


def build():
    net = nn.Linear(2, 1, bias=False)
    nn.init.constant_(net.weight, 1.0)
    return net


good = [torch.tensor([[1.0, 2.0]]), torch.tensor([[0.5, 1.0]])]
bad = [good[0], torch.tensor([[float("inf"), 0.0]]), good[1]]
print(run(build(), None, good), run(build(), None, bad))
print(run(build(), torch.amp.GradScaler("cpu"), good), run(build(), torch.amp.GradScaler("cpu"), bad))
print(run(build(), torch.amp.GradScaler("cpu", enabled=False), bad))
