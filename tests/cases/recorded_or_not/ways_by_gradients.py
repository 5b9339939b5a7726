"""A function takes another way where a gradient is recorded, and both compute the same."""

import torch
from torch import nn


def blurred(x: torch.Tensor, weight: torch.Tensor):
    if torch.is_grad_enabled() and (x.requires_grad or weight.requires_grad):
        return sum(weight[i] * x.roll(i, -1) for i in range(3))
    out = torch.zeros_like(x)
    for i in range(3):
        out += weight[i] * x.roll(i, -1)
    return out


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.tensor([0.2, 0.5, 0.3]))

    def forward(self, x):
        return blurred(x, self.weight.softmax(0)).pow(2).mean()


net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.5)
x = torch.arange(12.0).reshape(2, 6) / 5
for step in range(3):
    optimizer.zero_grad()
    loss = net(x)
    loss.backward()
    optimizer.step()
    print(step, loss.item())
with torch.no_grad():
    print(net(x).item(), *net.weight.tolist())
