"""Adversarial examples made inside of the step, by gradients that are asked for by the input."""

import torch
import torch.nn as nn
import torch.nn.functional as F

from fixed import fill

net = fill(nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3)))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
data = [(torch.sin(torch.arange(32.) * (k + 1)).view(8, 4), torch.arange(8) % 3) for k in range(3)]
def train(epochs, eps=0.1):
    for epoch in range(epochs):
        for x, y in data:
            x_adv = x.detach() + 0.01
            for _ in range(3):
                x_adv.requires_grad_()
                with torch.enable_grad():
                    loss = F.cross_entropy(net(x_adv), y)
                grad = torch.autograd.grad(loss, [x_adv])[0]
                x_adv = x_adv.detach() + 0.03 * torch.sign(grad.detach())
                x_adv = torch.min(torch.max(x_adv, x - eps), x + eps)
            opt.zero_grad()
            out = net(x_adv)
            loss = F.cross_entropy(out, y)
            loss.backward()
            opt.step()
            print(epoch, loss.item())
train(2)


def robust_loss(model, x_natural, y, optimizer, step_size=0.02, epsilon=0.1, steps=3, beta=2.0):
    criterion_kl = nn.KLDivLoss(reduction="sum")
    model.eval()
    x_adv = x_natural.detach() + 0.01
    for _ in range(steps):
        x_adv.requires_grad_()
        with torch.enable_grad():
            loss_kl = criterion_kl(F.log_softmax(model(x_adv), dim=1), F.softmax(model(x_natural), dim=1))
        grad = torch.autograd.grad(loss_kl, [x_adv])[0]
        x_adv = x_adv.detach() + step_size * torch.sign(grad.detach())
        x_adv = torch.min(torch.max(x_adv, x_natural - epsilon), x_natural + epsilon)
    model.train()
    optimizer.zero_grad()
    logits = model(x_natural)
    robust = criterion_kl(F.log_softmax(model(x_adv), dim=1), F.softmax(model(x_natural), dim=1)) / len(x_natural)
    return F.cross_entropy(logits, y) + beta * robust


for x, y in data:
    opt.zero_grad()
    loss = robust_loss(net, x, y, opt)
    loss.backward()
    opt.step()
    print("robust", loss.item())
