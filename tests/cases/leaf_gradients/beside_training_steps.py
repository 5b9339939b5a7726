"""Gradients by images beside training steps: adversarial examples in the loop, and saliency behind it."""

import torch, torch.nn as nn, torch.nn.functional as F
net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Tanh(), nn.Linear(4, 3))
with torch.no_grad():
    for i, p in enumerate(net.parameters()):
        p.copy_(torch.linspace(-0.5, 0.6, p.numel()).reshape(p.shape) + 0.1 * i)
opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
def pgd(model, x, y, eps, steps=3):
    delta = torch.zeros_like(x, requires_grad=True)
    for _ in range(steps):
        loss = F.cross_entropy(model(x + delta), y)
        loss.backward()
        delta.data = (delta + 0.01 * delta.grad.detach().sign()).clamp(-eps, eps)
        delta.grad.zero_()
    return delta.detach()
def train(loader):
    for x, y in loader:
        x.requires_grad = True
        out = net(x)
        loss = F.cross_entropy(out, y)
        net.zero_grad()
        loss.backward()
        adv = x + 0.1 * x.grad.data.sign()
        opt.zero_grad()
        loss = F.cross_entropy(net(adv), y)
        loss.backward()
        opt.step()
        print("%.5f" % loss.item())
def train2(loader):
    for x, y in loader:
        delta = pgd(net, x, y, 0.1)
        loss = F.cross_entropy(net(x + delta), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        print("%.5f" % loss.item())
data = [(torch.linspace(-1, 1, 12).reshape(4, 3).roll(i, 1) * (1 + i), torch.tensor([0, 1, 2, i % 3])) for i in range(3)]
train([(x.clone(), y) for x, y in data])
train2(data)
xx = data[0][0].clone().requires_grad_(True)
net.eval()
out = net(xx)
loss = F.cross_entropy(out, data[0][1])
net.zero_grad()
loss.backward()
adv = torch.clamp(xx + 0.1 * xx.grad.sign(), -3, 3)
print("%.5f" % (adv - xx).abs().mean().item(), ["%.4f" % v for v in xx.grad.abs().max(dim=1)[0].tolist()])
