"""Torch's seed fixes the weights, NumPy's the data, and neither moves the other."""

import numpy as np
import torch
from torch import nn


def build(seed):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(6, 6), nn.GRU(6, 6))


np.random.seed(11)
one = build(5)
data = np.random.normal(size=(4, 2)).round(5)
two = build(5)
three = build(6)
print(data.tolist(), np.random.randint(1000))
same = [torch.equal(a, b) for a, b in zip(one.parameters(), two.parameters())]
other = [torch.equal(a, b) for a, b in zip(one.parameters(), three.parameters())]
print(all(same), any(other))
np.random.seed(11)
four = build(5)
print([torch.equal(a, b) for a, b in zip(one.parameters(), four.parameters())].count(True))
print(np.random.normal(size=2).round(5).tolist())
np.random.seed(11)
a = nn.Linear(3, 3)
np.random.seed(11)
b = nn.Linear(3, 3)
print(torch.equal(a.weight, b.weight))
