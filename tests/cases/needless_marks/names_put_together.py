"""Functions and layers looked up by names that the text shows."""
import torch
import torch.nn.functional as F
from torch import nn

dims = 2
conv = getattr(F, "conv%dd" % dims)
pool = getattr(F, f"avg_pool{dims}d")
norm = getattr(nn, "BatchNorm" + "2d")(2)
activation = "gelu"
act = getattr(F, activation)
x = torch.arange(32.0).view(1, 2, 4, 4) / 10
w = torch.ones(2, 2, 3, 3) / 9
print(conv(x, w, padding=1).sum().item(), pool(x, 2).tolist())
print(act(norm.eval()(x)).sum().item())
