"""A buffer that forward binds to what weights make, and weights whose data forward limits."""

import torch
from fixed import points
from torch import nn


class Filter(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = nn.Parameter(torch.tensor([0.5, 0.7, 0.2, 0.9]))
        self.width = nn.Parameter(torch.tensor([0.3, 1.5, 0.4, 0.6]))
        self.register_buffer("response", self.make(), persistent=False)
        self.register_buffer("seen", torch.zeros(4))

    def make(self):
        mean = torch.clamp(self.mean, 0.1, 1.0)
        width = torch.clamp(self.width, 0.2, 1.0)
        self.mean.data = mean
        self.width.data = width
        return torch.exp(-((mean / width) ** 2))

    def forward(self, x):
        self.response = self.make()
        self.seen = self.seen.detach() * 0.9 + self.response * 0.1
        return x * self.response + self.seen


net = Filter()
optimizer = torch.optim.SGD(net.parameters(), lr=0.5, momentum=0.9)
x, _ = points()
for step in range(8):
    optimizer.zero_grad()
    loss = (net(x) - 1).pow(2).mean()
    loss.backward()
    optimizer.step()
    print(loss.item(), net.seen.sum().item())
print(net.mean.detach().tolist(), net.width.detach().tolist(), sorted(net.state_dict()))
