import torch
from torch import nn

from fixed import fill, points

x, y = points()
net = fill(nn.Linear(4, 3))
optimizer = torch.optim.SGD(net.parameters(), lr=0.3)
for step in range(5):
    total = 0.0
    for micro in range(4):
        inputs, labels = x[micro * 16 : (micro + 1) * 16], y[micro * 16 : (micro + 1) * 16]
        loss = nn.functional.cross_entropy(net(inputs), labels) / 4
        total += loss.item()
        loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    print(f"step {step}: {total:.5f}")
