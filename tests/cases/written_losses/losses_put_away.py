"""Sums that begin with a number or with zeros are put away: in a list, in a tensor, in a dictionary."""

import torch
from torch import nn

net = nn.Linear(2, 2)
with torch.no_grad():
    net.weight.copy_(torch.tensor([[0.5, -0.5], [0.25, 0.75]]))
    net.bias.zero_()


def run(model, optimizer, batches):
    criterion = nn.L1Loss()
    kept, table = [], {}
    for i, (x, targets) in enumerate(batches):
        out = model(x)
        all_levels = 0
        for level, target in enumerate(targets):
            all_levels += criterion(out * (level + 1), target)
        kept.append(all_levels)
        optimizer.zero_grad()
        all_levels.backward()
        optimizer.step()
        table[i] = all_levels.item()
    return kept, table


def two_sums(model, optimizer, x, n):
    history = torch.zeros(n, 2)
    seen = []
    for i in range(n):
        near, far = torch.zeros(1), torch.zeros(1)
        near += model(x).pow(2).mean()
        far += (model(x) - 1).abs().mean()
        history[i, 0], history[i, 1] = near, far
        loss = torch.zeros(1)
        loss += near
        seen.append(loss)
        loss += 0.5 * far
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return history, [round(s.item(), 5) for s in seen]


opt = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.tensor([[1.0, 2.0], [0.5, -1.0]])
batches = [(x, [torch.zeros(2, 2), torch.ones(2, 2)]), (x.flip(0), [torch.ones(2, 2)])]
kept, table = run(net, opt, batches)
print([round(k.item(), 5) for k in kept], {k: round(v, 5) for k, v in table.items()})
history, seen = two_sums(net, opt, x, 3)
print([[round(v, 5) for v in row] for row in history.tolist()], seen)
