"""Adapters behind the feed-forward part of each block, two groups of learning rates."""

import torch
from torch import nn
import torch.nn.functional as F


class Bottleneck(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.down = nn.Linear(dim, hidden)
        self.up = nn.Linear(hidden, dim)

    def forward(self, x):
        return x + self.up(F.relu(self.down(x)))


class Layer(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.ff = nn.Linear(dim, dim)
        self.after = nn.Identity()

    def forward(self, x):
        return self.after(self.ff(self.norm(x)))


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Layer(3) for _ in range(3))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x

    def add_adapters(self, hidden):
        for layer in self.layers[1:]:
            layer.after = Bottleneck(3, hidden)


encoder = Encoder()
encoder.add_adapters(2)
for i, (name, p) in enumerate(encoder.named_parameters()):
    nn.init.constant_(p, 0.1 + 0.01 * i)
adapters = [p for n, p in encoder.named_parameters() if "after" in n]
others = [p for n, p in encoder.named_parameters() if "after" not in n]
print(len(adapters), len(others))
optimizer = torch.optim.SGD([{"params": adapters, "lr": 0.5}, {"params": others}], lr=0.01)
x = torch.tensor([[1.0, 2.0, -1.0]])
loss = encoder(x).pow(2).sum()
loss.backward()
optimizer.step()
print(round(loss.item(), 4), round(encoder(x).sum().item(), 4))
encoder.layers[0].ff = nn.Linear(3, 3, bias=False)
nn.init.eye_(encoder.layers[0].ff.weight)
print([n for n, _ in encoder.named_parameters() if n.startswith("layers.0")], round(encoder(x).sum().item(), 4))
