"""A loss that begins as a tensor of zeros is added to in place, and kept in a tensor of its own."""

import torch
from torch import nn

net = nn.Linear(3, 1)
nn.init.constant_(net.weight, 0.2)
nn.init.zeros_(net.bias)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.arange(12.0).view(4, 3) / 10
y = torch.tensor([[0.0], [1.0], [0.5], [0.2]])
history = torch.zeros(4)
for i in range(4):
    loss = torch.zeros(1)
    loss += nn.functional.mse_loss(net(x), y)
    loss += 0.01 * net.weight.pow(2).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
    history[i] = loss
print([round(v, 5) for v in history.tolist()])
