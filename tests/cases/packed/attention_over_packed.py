"""A classifier in two files: the packed batch is an argument, a result and an attribute."""

import torch
from torch import nn

from attention_over_packed_parts import Pool, Reader, pack

reader, pool = Reader(), Pool()
for i, p in enumerate([*reader.parameters(), *pool.parameters()]):
    nn.init.constant_(p, 0.1 + 0.02 * (i % 3))
batch = pack([torch.arange(8.0).view(4, 2) / 8, torch.ones(2, 2)])
hidden = reader(batch)
print(type(hidden).__name__, tuple(hidden.data.shape))
weights, summary = pool(hidden)
print([round(v, 4) for v in weights.flatten().tolist()], [round(v, 4) for v in summary.flatten().tolist()])
optimizer = torch.optim.SGD([*reader.parameters(), *pool.parameters()], lr=0.1)
loss = pool(reader(batch))[1].sum()
optimizer.zero_grad()
loss.backward()
optimizer.step()
print(round(loss.item(), 4), round(pool(reader(batch))[1].sum().item(), 4))
