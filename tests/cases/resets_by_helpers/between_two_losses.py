# The second forward pass forgets the gradients of the first loss.
import torch
from torch import nn, optim


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 1)

    def forward(self, x, y):
        self.zero_grad()
        return ((self.fc(x) - y) ** 2).mean()


net = Net()
with torch.no_grad():
    net.fc.weight.fill_(0.5)
    net.fc.bias.fill_(0.1)
opt = optim.SGD(net.parameters(), lr=0.1)
x = torch.arange(12.).view(4, 3) / 10
y = torch.ones(4, 1)
for _ in range(4):
    first = net(x, y)
    first.backward()
    second = net(x * 2, y)
    second.backward()
    opt.step()
    print(first.item(), second.item())
