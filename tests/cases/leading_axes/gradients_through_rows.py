"""Gradients pass the rows that are written, and lose no axis."""

import torch
from torch import nn


def unroll(w, n):
    out = torch.zeros(n, w.shape[-1])
    for i in range(n):
        out[i] = step(w, i)
    return out


def step(w, i):
    return w[None] * (i + 1)


class Scan(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRU(2, 3)
        self.head = nn.Linear(3, 1)
        for p in self.parameters():
            nn.init.constant_(p, 0.1)

    def forward(self, x):
        states, scores = torch.zeros(x.shape[0], x.shape[1], 3), torch.zeros(x.shape[0])
        h = None
        for t in range(x.shape[0]):
            _, h = self.cell(x[t : t + 1], h)
            states[t] = h
            scores[t] = self.head(h[:, :1])
        return states, scores


w = torch.ones(1, 3, requires_grad=True)
out = torch.zeros(2, 3)
out[0] = w * 2
out[1] = w**2
out.sum().backward()
print(w.grad.tolist())
v = torch.tensor([1.0, 2.0], requires_grad=True)
unroll(v, 3).sum().backward()
print(v.grad.tolist())
net = Scan()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    opt.zero_grad()
    states, scores = net(torch.ones(3, 2, 2))
    loss = states.sum() + scores.sum()
    loss.backward()
    opt.step()
    print(round(loss.item(), 4), net.head.weight.flatten().tolist())
