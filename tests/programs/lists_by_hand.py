"""Weights that are plain tensors, updated by a function that is handed a list of them: a textbook's first programs."""

import torch
from torch import nn

from fixed import points

features, labels = points()
targets = features @ torch.tensor([[2.0], [-3.4], [0.5], [1.0]]) + 4.2


def batches(size):
    for start in range(0, len(features), size):
        yield features[start : start + size], targets[start : start + size]


def linreg(X, w, b):
    return torch.matmul(X, w) + b


def squared_loss(y_hat, y):
    return (y_hat - y.reshape(y_hat.shape)) ** 2 / 2


def sgd(params, lr, batch_size):
    """Minibatch SGD."""
    with torch.no_grad():
        for param in params:
            param -= lr * param.grad / batch_size
            param.grad.zero_()


w = torch.tensor([[0.01], [-0.02], [0.0], [0.03]], requires_grad=True)
b = torch.zeros(1, requires_grad=True)
for epoch in range(3):
    for X, y in batches(16):
        l = squared_loss(linreg(X, w, b), y)
        l.sum().backward()
        sgd([w, b], 0.1, 16)
    with torch.no_grad():
        print("epoch %d %.5f" % (epoch, squared_loss(linreg(features, w, b), targets).mean().item()))
print("w %.4f b %.4f" % (w.sum().item(), b.item()))

W1 = nn.Parameter(torch.cos(torch.arange(32.0)).reshape(4, 8) * 0.3)
b1 = torch.zeros(8, requires_grad=True)
W2 = (torch.sin(torch.arange(24.0)).reshape(8, 3) * 0.3).requires_grad_()
params = (W1, b1, W2)


def net(X):
    H = torch.max(X @ W1 + b1, torch.zeros_like(b1))
    return H @ W2


loss = nn.CrossEntropyLoss(reduction="none")
for step in range(4):
    l = loss(net(features), labels).mean()
    l.backward()
    for p in params:
        p.data.sub_(0.5 * p.grad)
        p.grad.zero_()
    print("step %d %.5f" % (step, l.item()))


def train(updater):
    for _ in range(2):
        l = loss(net(features), labels)
        if isinstance(updater, torch.optim.Optimizer):
            updater.zero_grad()
            l.mean().backward()
            updater.step()
        else:
            l.sum().backward()
            updater(len(features))
        print("epoch %.5f" % l.mean().item())


train(lambda size: sgd(params, 0.5, size))
train(torch.optim.SGD(params, lr=0.5))
