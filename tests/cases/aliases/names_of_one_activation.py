import torch
from torch import nn

data, target = torch.arange(6.0).reshape(2, 3) / 6, torch.ones(2, 4)


def layer():
    net = nn.Linear(3, 4)
    with torch.no_grad():
        net.weight.copy_(torch.arange(12.0).reshape(4, 3) / 12)
        net.bias.fill_(0.25)
    return net


net = layer()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x = net(data)
y = x
seen = x.sum().item()
y.clamp_(max=0.5)
loss = ((x - target) ** 2).mean()
loss.backward()
opt.step()
print(round(seen, 4), round(loss.item(), 4), net.weight.tolist())

net = layer()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x = net(data)
y = torch.as_tensor(x)
seen = x.sum().item()
y.clamp_(max=0.5)
loss = ((x - target) ** 2).mean()
loss.backward()
opt.step()
print(round(seen, 4), round(loss.item(), 4), net.weight.tolist())


def added():
    net = layer()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    opt.zero_grad()
    x = net(data)
    y = x
    x += 1
    loss = (y * y).mean()
    loss.backward()
    opt.step()
    return loss.item(), net.weight.tolist()


print(added())
