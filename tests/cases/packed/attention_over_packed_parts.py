import torch
from torch import nn
from torch.nn.utils.rnn import pack_sequence, pad_packed_sequence


def pack(sequences):
    return pack_sequence(sequences, enforce_sorted=False)


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.GRU(2, 3)
        self.second = nn.GRU(3, 3)

    def forward(self, batch):
        middle, state = self.first(batch)
        self.middle = middle
        hidden, _ = self.second(self.middle, state)
        return hidden


class Pool(nn.Module):
    def __init__(self):
        super().__init__()
        self.score = nn.Linear(3, 1)

    def forward(self, hidden):
        padded, lengths = pad_packed_sequence(hidden, batch_first=True)
        mask = torch.arange(padded.size(1))[None, :] < lengths[:, None]
        scores = self.score(padded).squeeze(-1).masked_fill(~mask, float("-inf"))
        weights = torch.softmax(scores, dim=1)
        return weights, (weights.unsqueeze(-1) * padded).sum(1)
