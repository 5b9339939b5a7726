"""A traced and a scripted network are written, read and run."""

import os

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)

    def forward(self, x):
        return torch.relu(self.fc(x))


def export(model, path):
    model.eval()
    example = torch.ones(1, 2)
    traced = torch.jit.trace(model, example)
    traced.save(path)
    return path


net = Net()
nn.init.constant_(net.fc.weight, 0.5)
nn.init.constant_(net.fc.bias, 0.25)
path = export(net, "net.pt")
loaded = torch.jit.load(path, map_location="cpu")
x = torch.tensor([[1.0, 2.0]])
print(os.path.exists(path), torch.equal(loaded(x), net(x)), loaded(x).tolist())
script = torch.jit.script(net)
torch.jit.save(script, "script.pt")
script.save("again.pt")
print([torch.jit.load(p)(x).tolist() for p in ("script.pt", "again.pt")])
