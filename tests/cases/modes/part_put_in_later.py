"""Layers that are put into a network are born in train mode, whatever the network's is."""

import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.9))

    def forward(self, x):
        return self.body(x)


encoder = Encoder()
encoder.eval()
encoder.extra = nn.Dropout(0.9)
encoder.add_module("norm", nn.BatchNorm1d(3))
print([(n, m.training) for n, m in encoder.named_modules()])
encoder.body[1].train()
print([m.training for m in encoder.modules()])
for layer in encoder.modules():
    if isinstance(layer, nn.Dropout):
        layer.train()
print(encoder.training, encoder.extra.training, encoder.norm.training)
encoder.train(False)
x = torch.ones(1, 3)
print(encoder.extra(x).tolist(), [m.training for m in encoder.modules()])
whole = nn.Sequential(encoder, nn.Dropout(0.2))
print(whole.training, whole[0].training, whole[1].training)
