import torch
from torch import nn

from fixed import fill, points

x, y = points()
crit = nn.CrossEntropyLoss()
features = {}


def keep(module, inputs, output):
    features["logits"] = output


net = fill(nn.Linear(4, 3))
net.register_forward_hook(keep)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    net(x)
    reg = 0.01 * net.weight.norm()
    loss = crit(features["logits"], y) + reg
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(step, loss.item(), [round(p.abs().sum().item(), 4) for p in net.parameters()])
