"""What a state dictionary of an optimizer shows: names, numbers of the parameters, shapes and settings."""

import torch
from torch import nn


def fill(net):
    for i, p in enumerate(net.parameters()):
        nn.init.constant_(p, 0.1 * (i + 1))


def describe(opt):
    found = opt.state_dict()
    for number, kept in found["state"].items():
        print(number, {k: tuple(v.shape) if torch.is_tensor(v) and v.dim() else float(v) for k, v in kept.items()})
    for group in found["param_groups"]:
        print(list(group), group["params"])


net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1, bias=False))
fill(net)
x = torch.tensor([[1.0, -1.0], [0.5, 2.0]])
for opt in (
    torch.optim.SGD([{"params": net[0].parameters(), "momentum": 0.0}, {"params": net[1].parameters()}], 0.1, 0.5),
    torch.optim.Adam(net.parameters(), lr=0.1),
    torch.optim.AdamW(net.parameters(), lr=0.1, amsgrad=True),
    torch.optim.NAdam(net.parameters(), lr=0.1),
    torch.optim.RAdam(net.parameters(), lr=0.1),
    torch.optim.Adamax(net.parameters(), lr=0.1),
    torch.optim.Adagrad(net.parameters(), lr=0.1),
    torch.optim.ASGD(net.parameters(), lr=0.1),
    torch.optim.Rprop(net.parameters(), lr=0.1),
    torch.optim.Adafactor(net.parameters(), lr=0.1),
):
    print(type(opt).__name__, len(opt.state_dict()["state"]))
    opt.zero_grad()
    loss = net(x).pow(2).mean()
    loss.backward()
    opt.step()
    describe(opt)
