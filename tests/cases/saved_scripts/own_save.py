"""A network with a ``save`` of its own keeps it, and is scripted all the same."""

import torch
from torch import nn

from own_save_parts import Saved

net = Saved(2)
nn.init.ones_(net.fc.weight)
net.save("weights.pt")
other = Saved(2)
other.restore("weights.pt")
x = torch.ones(1, 2)
print(torch.equal(net(x), other(x)), sorted(torch.load("weights.pt")))
torch.jit.save(torch.jit.script(nn.Sequential(nn.Linear(2, 1), nn.Tanh())), "plain.pt")
print(tuple(torch.jit.load("plain.pt")(x).shape))
