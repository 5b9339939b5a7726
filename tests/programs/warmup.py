import math

import torch
from torch import nn

from fixed import fill, points

x, y = points()
net = fill(nn.Linear(4, 3))
optimizer = torch.optim.SGD(net.parameters(), lr=0.5, momentum=0.9)
total, warm = 12, 4


def schedule(step):
    if step < warm:
        return (step + 1) / warm
    return 0.5 * (1 + math.cos(math.pi * (step - warm) / (total - warm)))


scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lr_lambda=schedule)
for step in range(total):
    loss = nn.functional.cross_entropy(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    print("%d %.5f %.5f" % (step, loss.item(), optimizer.param_groups[0]["lr"]))
for group in optimizer.param_groups:
    group["lr"] = group["lr"] * 0.1 + 0.01
print(optimizer.param_groups[0]["lr"])
