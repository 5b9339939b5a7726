"""First states with packed input, a subclass of a recurrent layer, and what a packed sequence holds."""

import torch
from torch import nn
from torch.nn.utils.rnn import pack_sequence, pad_packed_sequence, unpack_sequence


class Recurrent(nn.LSTM):
    pass


sequences = [torch.ones(3, 2) * 0.5, torch.ones(2, 2), torch.ones(1, 2) * 2]
packed = pack_sequence(sequences)
print(tuple(packed.data.shape), packed.batch_sizes.tolist(), packed.sorted_indices is None)
rnn = nn.RNN(2, 3)
lstm = Recurrent(3, 2)
for p in [*rnn.parameters(), *lstm.parameters()]:
    nn.init.constant_(p, 0.1)
h0 = torch.arange(9.0).view(1, 3, 3) / 10
out, h = rnn(packed, h0)
print([round(v, 4) for v in h.flatten().tolist()])
moved = out.to("cpu")
out2, (h2, c2) = lstm(moved, (torch.zeros(1, 3, 2), torch.ones(1, 3, 2)))
y, lengths = pad_packed_sequence(out2, padding_value=-1.0)
print(lengths.tolist(), [round(v, 4) for v in y.flatten().tolist()])
print([tuple(s.shape) for s in unpack_sequence(out2)], round(c2.sum().item(), 4))
