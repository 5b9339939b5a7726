"""Gradients by the pictures a loader gives, or a caller hands in: adversarial examples, and saliency."""

import torch
import torch.nn.functional as F
from torch import nn

from fixed import fill, points

x, y = points()


def perturb(image, epsilon, data_grad):
    return torch.clamp(image + epsilon * data_grad.sign(), -3, 3)


def test(model, loader, epsilon):
    correct, total = 0, 0.0
    for data, target in loader:
        data.requires_grad = True
        output = model(data)
        init_pred = output.max(1, keepdim=True)[1]
        loss = F.cross_entropy(output, target)
        model.zero_grad()
        loss.backward()
        data_grad = data.grad.data
        output = model(perturb(data, epsilon, data_grad))
        final_pred = output.max(1, keepdim=True)[1]
        correct += (final_pred == init_pred).sum().item()
        total += loss.item()
    print(epsilon, correct, total, F.cross_entropy(output, target).item())


def attack(model, image, label, epsilon=0.1):
    image.requires_grad = True
    loss = F.cross_entropy(model(image), label)
    model.zero_grad()
    loss.backward()
    return image + epsilon * image.grad.sign()


def descend(model: nn.Module, image, label, steps):
    image = image.clone()
    image.requires_grad_(True)
    for _ in range(steps):
        loss = F.cross_entropy(model(image), label)
        loss.backward()
        with torch.no_grad():
            image += 0.1 * image.grad.sign()
        image.grad.zero_()
    return image.detach()


net = fill(nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3)))
loader = [(x[i : i + 16].clone(), y[i : i + 16]) for i in range(0, 64, 16)]
for epsilon in (0.0, 0.1, 0.5):
    test(net, [(a.clone(), b) for a, b in loader], epsilon)

optimizer = torch.optim.SGD(net.parameters(), lr=0.5)
for epoch in range(3):
    for a, b in loader:
        adversarial = attack(net, a.clone(), b)
        optimizer.zero_grad()
        loss = F.cross_entropy(net(adversarial), b)
        loss.backward()
        optimizer.step()
    print(epoch, loss.item(), F.cross_entropy(net(descend(net, x, y, 2)), y).item())
