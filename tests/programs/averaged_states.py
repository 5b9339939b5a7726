"""Weights averaged through the tensors of a state_dict, between the steps of one optimizer."""

import copy
import torch
from torch import nn, optim

x = torch.linspace(-1, 1, 32).reshape(8, 4)
y = torch.arange(8) % 3


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 8)
        self.bn = nn.BatchNorm1d(8)
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        return self.head(torch.tanh(self.bn(self.body(x))))


def soft(model, target, w):
    msd = target.state_dict()
    for k, v in model.state_dict().items():
        v.copy_(v * w + (1 - w) * msd[k])


def soft2(model, target, w):
    other = target.state_dict()
    own = model.state_dict()
    for k in own:
        if own[k].dtype == torch.float32:
            own[k].mul_(w).add_(other[k] * (1 - w))


def soft3(model, target, w):
    for a, b in zip(model.state_dict().values(), target.state_dict().values()):
        if a.is_floating_point():
            a.data.mul_(w).add_(b.data * (1 - w))


def soft7(model, target):
    own = model.state_dict()
    for name, p in target.state_dict().items():
        if isinstance(p, nn.Parameter):
            p = p.data
        own[name].copy_(p)
        own[name] += 0.01 if p.ndim else 1


def soft4(model, target):
    for k, v in target.state_dict().items():
        model.state_dict()[k].copy_(v)


def soft5(model, target, w):
    params = [p for p in model.parameters() if p.requires_grad]
    other = list(target.parameters())
    for i in range(len(params)):
        params[i].data.mul_(w).add_(other[i].data, alpha=1 - w)
        params[i].data[...] = params[i].data * 0.99


def soft6(pairs, w):
    for a, b in pairs:
        a.data.copy_(w * a.data + (1 - w) * b.data)


def train(net, opt):
    for _ in range(2):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        opt.step()
        print("loss", loss.item())


net = Net()
for n, p in enumerate(net.parameters()):
    with torch.no_grad():
        p.copy_(torch.sin(torch.arange(p.numel()).float() * (1 + n)).reshape(p.shape))
start = copy.deepcopy(net)
opt = optim.Adam(net.parameters(), lr=0.1)
train(net, opt)
soft(net, start, 0.6)
train(net, opt)
soft2(net, start, 0.6)
train(net, opt)
soft3(net, start, 0.6)
train(net, opt)
soft5(net, start, 0.6)
train(net, opt)
soft6(zip(net.parameters(), start.parameters()), 0.5)
train(net, opt)
soft7(net, start)
train(net, opt)
soft4(net, start)
train(net, opt)
