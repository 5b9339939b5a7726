"""Layers made of rows of a table in another file (layers_from_rows_parts)."""

import torch
from layers_from_rows_parts import ENCODER, POOL
from torch import nn

KINDS = {"conv": nn.Conv2d, "norm": nn.BatchNorm2d, "act": nn.LeakyReLU}


class Encoder(nn.Module):
    def __init__(self, rows):
        super().__init__()
        self.body = nn.Sequential(*[KINDS[kind](*given, **options) for kind, given, options in rows])
        self.pool = nn.MaxPool2d(**POOL)
        shape = (4, 3)
        self.head = nn.Linear(*shape, bias=False)

    def forward(self, x):
        return self.head(self.pool(self.body(x)).flatten(1))


net = Encoder(ENCODER)
with torch.no_grad():
    for p in net.parameters():
        p.copy_(torch.linspace(-0.5, 0.5, p.numel()).view(p.shape))
image = torch.arange(16, dtype=torch.float32).view(1, 1, 4, 4) / 8
for _ in range(2):
    print(net(image).detach().numpy().round(4).tolist())
