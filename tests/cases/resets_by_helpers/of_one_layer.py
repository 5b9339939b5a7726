# A layer forgets its gradients when it is called; those of the other layer build up.
import torch
from torch import nn, optim


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(3, 2)
        self.b = nn.Linear(2, 1)

    def forward(self, x):
        self.a.zero_grad()
        return self.b(self.a(x))


net = Net()
with torch.no_grad():
    for p in net.parameters():
        p.fill_(0.5)
opt = optim.SGD(net.parameters(), lr=0.1)
x = torch.arange(12.).view(4, 3) / 10
y = torch.ones(4, 1)
for _ in range(4):
    loss = ((net(x) - y) ** 2).mean()
    loss.backward()
    opt.step()
    print(loss.item())
