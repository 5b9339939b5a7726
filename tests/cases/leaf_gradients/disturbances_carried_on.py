"""Disturbances that training carries on: bound anew in the step, and by the backward call of the weights."""

import torch, torch.nn as nn, torch.nn.functional as F
net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Tanh(), nn.Linear(4, 3))
with torch.no_grad():
    for i, p in enumerate(net.parameters()):
        p.copy_(torch.linspace(-0.5, 0.6, p.numel()).reshape(p.shape) + 0.1 * i)
opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
def fast(loader, eps=0.2, alpha=0.25):
    delta = torch.zeros(4, 3)
    for i, (x, y) in enumerate(loader):
        delta.uniform_(0, 0)
        delta.requires_grad = True
        loss = F.cross_entropy(net(x + delta), y)
        loss.backward()
        grad = delta.grad.detach()
        delta = torch.clamp(delta + alpha * torch.sign(grad), -eps, eps).detach()
        out = net(x + delta)
        loss = F.cross_entropy(out, y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        print("%.5f %d" % (loss.item(), (out.max(1)[1] == y).sum().item()))
def free(loader, replay=2):
    delta = torch.zeros(4, 3, requires_grad=True)
    for x, y in loader:
        for _ in range(replay):
            out = net(x + delta[:x.size(0)])
            loss = F.cross_entropy(out, y)
            opt.zero_grad()
            loss.backward()
            grad = delta.grad.detach()
            delta.data = (delta + 0.02 * torch.sign(grad)).clamp(-0.2, 0.2)
            opt.step()
            delta.grad.zero_()
        print("%.5f %.4f" % (loss.item(), delta.abs().sum().item()))
data = [(torch.linspace(-1, 1, 12).reshape(4, 3).roll(i, 1) * (1 + i), torch.tensor([0, 1, 2, i % 3])) for i in range(3)]
fast(data)
free(data)
