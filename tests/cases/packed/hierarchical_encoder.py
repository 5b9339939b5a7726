"""Words, then sentences: a packed batch is handed from one encoder to the next."""

import torch
import torch.nn as nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence


class Encoder(nn.Module):
    def __init__(self, size, hidden):
        super().__init__()
        self.rnn = nn.GRU(size, hidden, batch_first=True, bidirectional=True)

    def forward(self, packed, state=None):
        outputs, last = self.rnn(packed, state)
        return outputs, last


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = Encoder(3, 2)
        self.sentences = Encoder(4, 3)
        self.drop = nn.Dropout(0.0)

    def forward(self, x, lengths):
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        outputs, _ = self.words(packed)
        again = PackedSequence(
            torch.tanh(self.drop(outputs.data)), outputs.batch_sizes, outputs.sorted_indices, outputs.unsorted_indices
        )
        outputs, last = self.sentences(again)
        padded, sizes = pad_packed_sequence(outputs, batch_first=True)
        return padded, sizes, last


net = Network()
for i, p in enumerate(net.parameters()):
    nn.init.constant_(p, 0.05 * (i % 5) - 0.1)
x = torch.arange(36.0).view(3, 4, 3) / 36
padded, sizes, last = net(x, torch.tensor([2, 4, 1]))
print(tuple(padded.shape), sizes.tolist(), tuple(last.shape))
print([round(v, 4) for v in padded.sum((1, 2)).tolist()], round(last.sum().item(), 4))
