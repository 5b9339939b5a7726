# The network of another file forgets its gradients whenever it is called; no one else does.
import torch
from torch import optim
from network_parts import Whole


def train():
    net = Whole()
    with torch.no_grad():
        net.inner.fc.weight.fill_(0.5)
        net.inner.fc.bias.fill_(0.1)
    opt = optim.SGD(net.parameters(), lr=0.1)
    x = torch.arange(12.).view(4, 3) / 10
    y = torch.ones(4, 1)
    for _ in range(4):
        loss = net(x, y)
        loss.backward()
        opt.step()
        print(loss.item())


train()
