"""Stacked layers built from settings, with dropout of the packed data between them."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence


class StackedBRNN(nn.Module):
    def __init__(self, size, hidden, layers, kind=nn.LSTM):
        super().__init__()
        self.rnns = nn.ModuleList()
        for i in range(layers):
            self.rnns.append(kind(size if i == 0 else 2 * hidden, hidden, num_layers=1, bidirectional=True))

    def forward(self, x, mask):
        lengths = mask.eq(0).long().sum(1)
        lengths, order = torch.sort(lengths, dim=0, descending=True)
        back = torch.argsort(order)
        x = x.index_select(0, order).transpose(0, 1)
        packed = pack_padded_sequence(x, lengths.tolist())
        outputs = [packed]
        for rnn in self.rnns:
            given = outputs[-1]
            given = PackedSequence(F.dropout(given.data, p=0.3, training=False), given.batch_sizes)
            outputs.append(rnn(given)[0])
        outputs = [pad_packed_sequence(o)[0] for o in outputs[1:]]
        return torch.cat(outputs, 2).transpose(0, 1).index_select(0, back)


net = StackedBRNN(2, 2, 2)
for i, p in enumerate(net.parameters()):
    nn.init.constant_(p, 0.1 * (i % 3) - 0.05)
x = torch.arange(12.0).view(2, 3, 2) / 12
mask = torch.tensor([[0, 0, 1], [0, 0, 0]])
y = net(x, mask)
print(tuple(y.shape), [round(v, 4) for v in y.sum(2).flatten().tolist()])
