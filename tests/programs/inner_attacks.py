import torch
import torch.nn.functional as F
from torch import nn, optim
from torch.autograd import Variable

from fixed import fill, points


def train_pgd(batches, model, epsilon, opt):
    model.train()
    total = 0
    for i, (X, y) in enumerate(batches):
        X_pgd = Variable(X, requires_grad=True)
        for _ in range(4):
            opt_pgd = optim.Adam([X_pgd], lr=1e-3)
            opt.zero_grad()
            loss = nn.CrossEntropyLoss()(model(X_pgd), Variable(y))
            loss.backward()
            eta = 0.05 * X_pgd.grad.data.sign()
            X_pgd = Variable(X_pgd.data + eta, requires_grad=True)

            # adjust to be within [-epsilon, epsilon]
            eta = torch.clamp(X_pgd.data - X, -epsilon, epsilon)
            X_pgd.data = X + eta

        pout = model(Variable(X_pgd.data))
        pce = nn.CrossEntropyLoss()(pout, Variable(y))
        opt.zero_grad()
        pce.backward()
        opt.step()
        total += pce.item()
    return total


def train_fgsm(batches, model, epsilon, alpha, opt, scheduler, criterion):
    train_loss = 0
    for i, (X, y) in enumerate(batches):
        delta = torch.zeros_like(X)
        delta.requires_grad = True
        output = model(X + delta[:X.size(0)])
        loss = F.cross_entropy(output, y)
        loss.backward()
        grad = delta.grad.detach()
        delta.data = torch.clamp(delta + alpha * torch.sign(grad), -epsilon, epsilon)
        delta = delta.detach()
        output = model(X + delta[:X.size(0)])
        loss = criterion(output, y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        train_loss += loss.item() * y.size(0)
        scheduler.step()
    return train_loss


def train_kept(batches, model, epsilon, alpha, opt):
    for X, y in batches:
        delta = torch.zeros_like(X, requires_grad=True)
        for _ in range(3):
            loss = F.cross_entropy(model(X + delta), y)
            loss.backward()
            delta.data = (delta + alpha * delta.grad.detach().sign()).clamp(-epsilon, epsilon)
            delta.grad.zero_()
        loss = F.cross_entropy(model(X + delta.detach()), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    return loss.item()


x, y = points()
batches = [(x[i:i + 16], y[i:i + 16]) for i in range(0, 64, 16)]
net = fill(nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Tanh(), nn.Linear(8, 3)))
optimizer = optim.SGD(net.parameters(), lr=0.2, momentum=0.9)
schedule = optim.lr_scheduler.StepLR(optimizer, 4, 0.9)
for epoch in range(3):
    print(epoch, train_pgd(batches, net, 0.1, optimizer))
    print(epoch, train_fgsm(batches, net, 0.1, 0.08, optimizer, schedule, nn.CrossEntropyLoss()))
    print(epoch, train_kept(batches, net, 0.1, 0.05, optimizer))
