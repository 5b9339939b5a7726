"""A split of the data that is drawn after the network was built, with NumPy's seed alone."""

import numpy as np
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(4, 5, num_layers=2)
        self.cell = nn.GRUCell(5, 3)
        self.embed = nn.Embedding(7, 4)
        self.conv = nn.Conv1d(4, 4, 3)

    def forward(self, x):
        return self.rnn(x)


np.random.seed(7)
before = np.random.rand(2).round(6).tolist()
net = Net()
order = np.random.permutation(12)
train, test = order[:8], order[8:]
print(before, sorted(train.tolist()), test.tolist())
nn.init.xavier_uniform_(net.conv.weight)
nn.init.normal_(net.embed.weight, std=0.02)
nn.init.orthogonal_(net.rnn.weight_hh_l0)
print(np.random.randint(0, 100, 5).tolist(), np.random.randn(2).round(5).tolist())
