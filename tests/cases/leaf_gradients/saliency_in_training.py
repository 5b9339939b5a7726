"""The gradient by the input is logged beside the training of the network, and reset for the next batch."""

import torch
from torch import nn

net = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1))
for i, p in enumerate(net.parameters()):
    nn.init.constant_(p, 0.25 * (i + 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
x = torch.arange(8.0).view(2, 4) / 8
x.requires_grad_(True)
target = torch.tensor([[1.0], [0.0]])
for step in range(3):
    optimizer.zero_grad()
    out = net(x)
    loss = nn.functional.mse_loss(out, target)
    loss.backward()
    optimizer.step()
    print(step, round(loss.item(), 5), [round(v, 5) for v in x.grad.abs().sum(dim=0).tolist()])
    x.grad.zero_()
