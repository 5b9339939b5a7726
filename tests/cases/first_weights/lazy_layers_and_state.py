"""States that are taken and set again around layers, some of which are built at the first call."""

import numpy as np
import torch
from numpy.random import get_state, set_state

np.random.seed(0)
state = get_state()
first = np.random.rand(3)
net = torch.nn.Sequential(torch.nn.LazyLinear(4), torch.nn.ReLU(), torch.nn.LazyLinear(2))
y = net(torch.ones(2, 3))
second = np.random.rand(3)
set_state(state)
again = np.random.rand(6)
print(np.allclose(np.concatenate([first, second]), again), tuple(y.shape))
layers = [torch.nn.Linear(3, 3) for _ in range(4)]
print(np.random.permutation(5).tolist())
