import numpy as np
import torch
from torch import nn

from fixed import fill, points


def mixup_data(x, y, lam, index):
    mixed_x = lam * x + (1 - lam) * x[index, :]
    return mixed_x, y, y[index], lam


def mixup_criterion(criterion, pred, y_a, y_b, lam):
    return lam * criterion(pred, y_a) + (1 - lam) * criterion(pred, y_b)


np.random.seed(0)
x, y = points()
net = fill(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3)))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, nesterov=True)
correct = total = 0
for step in range(6):
    lam = float(np.random.beta(1.0, 1.0))
    index = torch.from_numpy(np.random.permutation(64))
    inputs, targets_a, targets_b, lam = mixup_data(x, y, lam, index)
    outputs = net(inputs)
    loss = mixup_criterion(criterion, outputs, targets_a, targets_b, lam)
    _, predicted = torch.max(outputs.data, 1)
    total += y.size(0)
    correct += lam * predicted.eq(targets_a.data).cpu().sum().float() + (1 - lam) * predicted.eq(targets_b.data).cpu().sum().float()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item(), round(float(100.0 * correct / total), 2))
