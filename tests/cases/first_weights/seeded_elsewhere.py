"""The seed is set by a helper that knows nothing of networks."""

import numpy as np
from torch import nn

from seeded_elsewhere_parts import seed_everything, shuffled

seed_everything(3)
net = nn.Sequential(nn.Linear(5, 4), nn.Tanh(), nn.Linear(4, 1))
print(shuffled(list(range(8))))
head = nn.Bilinear(2, 3, 4)
print(np.random.choice(10, 4, replace=False).tolist())
