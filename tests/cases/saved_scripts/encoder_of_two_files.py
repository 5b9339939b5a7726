"""A network of another file is scripted by a function there, kept in a dictionary by name, and used when read."""

import torch

from scripted_parts import Encoder, keep

net = Encoder(3)
with torch.no_grad():
    for p in net.parameters():
        p.fill_(0.25)
saved = keep({"encoder": net, "again": Encoder(3)}, "kept_{}.pt")
print(sorted(saved))
read = {name: torch.jit.load(path) for name, path in saved.items()}
x = torch.tensor([[1.0, -2.0, 3.0]])
print(read["encoder"](x).tolist(), [tuple(p.shape) for p in read["encoder"].parameters()])
print([tuple(m(x).shape) for m in read.values()])
