"""A helper that packs where it is told to, and layers that take either."""

import torch
from torch import nn
from torch.nn.utils import rnn as rnn_utils


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.LSTM(2, 2), nn.LSTM(2, 2)])
        self.out = nn.Linear(2, 1)

    def forward(self, x, lengths=None):
        inputs = x
        if lengths is not None:
            inputs = rnn_utils.pack_padded_sequence(x, lengths)
        for layer in self.layers:
            inputs, (h, c) = layer(inputs)
        if lengths is not None:
            inputs, _ = rnn_utils.pad_packed_sequence(inputs)
        return self.out(inputs), h


net = Tagger()
for i, p in enumerate(net.parameters()):
    nn.init.constant_(p, 0.1 * (i % 4) - 0.15)
x = torch.arange(12.0).view(3, 2, 2) / 6
for lengths in (None, torch.tensor([3, 1])):
    y, h = net(x, lengths)
    print([round(v, 4) for v in y.flatten().tolist()], [round(v, 4) for v in h.flatten().tolist()])
