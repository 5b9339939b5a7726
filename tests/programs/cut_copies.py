import warnings

import torch
from torch import nn

from fixed import fill

warnings.filterwarnings("ignore", message="To copy construct")
x = torch.linspace(-1, 1, 12).view(3, 4)


def train(net, kind, opt):
    for _ in range(2):
        y = net(x)
        if kind == "tensor":
            target = torch.tensor(y)
        elif kind == "new_tensor":
            target = y.new_tensor(y)
        elif kind == "as_tensor":
            target = torch.as_tensor(y)
        else:
            target = y.clone()
        loss = ((y - target * 0.5) ** 2).sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(f"{kind}: {loss.item():.5f}")


for kind in ("tensor", "as_tensor", "new_tensor", "clone"):
    net = fill(nn.Linear(4, 2))
    train(net, kind, torch.optim.SGD(net.parameters(), lr=0.05))

net = fill(nn.Linear(4, 2))
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for _ in range(2):
    y = net(x)
    loss = ((y - torch.tensor(y) * 0.5) ** 2).sum() + ((y - y.new_tensor(y)) ** 2).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(f"{loss.item():.5f}")
