# The function that computes the loss resets gradients in every other call only: those of the next are added.
import torch
from torch import nn, optim


def compute(net, opt, x, y, step):
    if step % 2 == 0:
        opt.zero_grad()
    return ((net(x) - y) ** 2).mean()


net = nn.Linear(3, 1)
with torch.no_grad():
    net.weight.fill_(0.5)
    net.bias.fill_(0.1)
opt = optim.SGD(net.parameters(), lr=0.1)
x = torch.arange(12.).view(4, 3) / 10
y = torch.ones(4, 1)
for step in range(4):
    loss = compute(net, opt, x, y, step)
    loss.backward()
    opt.step()
    print(loss.item())
