import torch
from torch import nn

from fixed import fill, points

x, y = points()
net = fill(nn.Linear(4, 3))
optimizer = torch.optim.LBFGS(net.parameters(), lr=0.5, max_iter=4)
for step in range(3):

    def closure():
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        return loss

    loss = optimizer.step(closure)
    print(step, loss.item())
