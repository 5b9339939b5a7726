"""A network is trained, traced with dropout off, written into a folder, read, and gives what the network gives."""

import os
import tempfile

import torch
from torch import nn

net = nn.Sequential(nn.Linear(2, 4), nn.Dropout(0.5), nn.Linear(4, 1))
with torch.no_grad():
    for i, p in enumerate(net.parameters()):
        p.fill_(0.1 * (i + 1))
net.eval()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.tensor([[1.0, 2.0], [0.0, 1.0]]), torch.tensor([[1.0], [0.0]])
for _ in range(3):
    opt.zero_grad()
    loss = nn.functional.mse_loss(net(x), y)
    loss.backward()
    opt.step()
print(round(loss.item(), 5))
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "traced.pt")
    with torch.no_grad():
        traced = torch.jit.trace(net, (x,))
    torch.jit.save(traced, path)
    again = torch.jit.load(path)
    print(os.listdir(folder), torch.allclose(again(x), net(x)), [round(v, 4) for v in again(x).flatten().tolist()])
