"""Networks and optimizers in files, by pickle and by torch.save, with a module of another file."""

import pickle

import torch
from torch import nn

from whole_in_files_parts import Tree, train_step

net = Tree(2)
for i, p in enumerate(net.parameters()):
    nn.init.constant_(p, 0.2 + 0.1 * i)
optimizer = torch.optim.Adam(net.parameters(), lr=0.1)
x = torch.tensor([[1.0, -1.0]])
print(round(train_step(net, optimizer, x), 5))
with open("net.pkl", "wb") as f:
    pickle.dump(net, f, protocol=pickle.HIGHEST_PROTOCOL)
torch.save(net, "net.pt")
with open("net.pkl", "rb") as f:
    first = pickle.load(f)
second = torch.load("net.pt", weights_only=False)
print(torch.equal(first(x), net(x)), torch.equal(second(x), net(x)), first.depth)
print(round(train_step(net, optimizer, x), 5), torch.equal(first(x), net(x)))
again = torch.optim.Adam(first.parameters(), lr=0.1)
print(round(train_step(first, again, x), 5))
