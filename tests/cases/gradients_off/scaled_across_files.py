"""Functions of two other files switch gradients off inside of a forward pass; one fills weights before any."""

import torch

from scaled_parts import Net

net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
torch.nn.init.zeros_(net.fc.bias)
x = torch.arange(6.0).reshape(3, 2)
opt.zero_grad()
loss = (net(x) ** 2 * torch.tensor([1.0, 3.0])).mean()
loss.backward()
opt.step()
print(round(loss.item(), 5), net.fc.weight.tolist(), net.fc.bias.tolist())
