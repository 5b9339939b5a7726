"""Recurrent layers whose weights are gone over by name."""

import torch
from torch import nn

rnn = nn.LSTM(2, 3, num_layers=2, bidirectional=True)
for names in rnn._all_weights:
    for name in names:
        if "weight" in name:
            nn.init.constant_(getattr(rnn, name), 0.1)
        else:
            nn.init.constant_(getattr(rnn, name), 0.02)
print(rnn._all_weights[1], len(rnn._all_weights))
rnn.flatten_parameters()
gru = nn.GRU(2, 2, bias=False)
for layer in gru.all_weights:
    for w in layer:
        nn.init.constant_(w, 0.3)
print(sum(w.numel() for layer in gru.all_weights for w in layer), gru._all_weights)
y, _ = rnn(torch.ones(2, 1, 2))
z, _ = gru(torch.ones(2, 1, 2))
print(round(y.sum().item(), 4), round(z.sum().item(), 4))
