import torch
import torch.nn.functional as F
from torch import nn
from torch.autograd import Variable

from fixed import fill, points

x, y = points()
nets = [fill(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3)), 0.1 * k) for k in (1, 2)]
optimizers = [torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9) for net in nets]

# each network learns from what the other says, which Variable cuts off
for step in range(4):
    inputs, labels = Variable(x), Variable(y)
    outputs = [net(inputs) for net in nets]
    for i in range(2):
        loss = F.cross_entropy(outputs[i], labels)
        loss = loss + F.kl_div(F.log_softmax(outputs[i], dim=1), F.softmax(Variable(outputs[1 - i]), dim=1), reduction="batchmean")
        optimizers[i].zero_grad()
        loss.backward()
        optimizers[i].step()
        print(f"{step} {i}: {loss.item():.5f}")

# a network that learns from itself: without the cut both halves of the loss would train it
net = fill(nn.Linear(4, 3), 0.3)
optimizer = torch.optim.SGD(net.parameters(), lr=0.5)
for step in range(4):
    out = net(x)
    target = Variable(F.softmax(net(x * 0.9), dim=1))
    loss = F.kl_div(F.log_softmax(out, dim=1), target, reduction="batchmean") + F.cross_entropy(out, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"{step}: {loss.item():.5f}")
