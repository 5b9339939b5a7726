import numpy as np
import torch
from torch import nn

from fixed import fill


class CharRNN(nn.Module):
    def __init__(self, vocab, hidden):
        super().__init__()
        self.encoder = nn.Embedding(vocab, hidden)
        self.rnn = nn.LSTM(hidden, hidden, 1, batch_first=True)
        self.decoder = nn.Linear(hidden, vocab)

    def forward(self, x, hidden):
        out, hidden = self.rnn(self.encoder(x), hidden)
        return self.decoder(out.reshape(-1, out.size(2))), hidden

    def init_hidden(self, batch):
        weight = next(self.parameters())
        return (weight.new_zeros(1, batch, 8), weight.new_zeros(1, batch, 8))


def repackage(h):
    if isinstance(h, torch.Tensor):
        return h.detach()
    return tuple(repackage(v) for v in h)


text = torch.from_numpy((np.arange(121) * 7 % 11).astype(np.int64))
data = text[:120].view(2, 60)
model = fill(CharRNN(11, 8))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
for epoch in range(2):
    hidden = model.init_hidden(2)
    for i in range(0, 50, 10):
        inputs, targets = data[:, i : i + 10], data[:, i + 1 : i + 11].reshape(-1)
        hidden = repackage(hidden)
        model.zero_grad()
        output, hidden = model(inputs, hidden)
        loss = criterion(output, targets)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.25)
        optimizer.step()
        print(epoch, i, "loss", round(loss.item(), 5), "ppl", round(float(np.exp(loss.item())), 3))
