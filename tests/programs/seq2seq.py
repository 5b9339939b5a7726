import numpy as np
import torch
from torch import nn

from fixed import fill


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(10, 8)
        self.gru = nn.GRU(8, 8)

    def forward(self, src):
        _, hidden = self.gru(self.embedding(src))
        return hidden


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(10, 8)
        self.gru = nn.GRU(8, 8)
        self.out = nn.Linear(8, 10)

    def forward(self, token, hidden):
        output, hidden = self.gru(self.embedding(token.unsqueeze(0)), hidden)
        return self.out(output.squeeze(0)), hidden


class Seq2Seq(nn.Module):
    def __init__(self, encoder, decoder):
        super().__init__()
        self.encoder, self.decoder = encoder, decoder

    def forward(self, src, trg):
        hidden = self.encoder(src)
        outputs = torch.zeros(trg.shape[0], trg.shape[1], 10)
        token = trg[0, :]
        for t in range(1, trg.shape[0]):
            output, hidden = self.decoder(token, hidden)
            outputs[t] = output
            token = trg[t]
        return outputs


src = torch.from_numpy((np.arange(24) * 3 % 10).astype(np.int64)).view(6, 4)
trg = torch.from_numpy((np.arange(24) * 7 % 10).astype(np.int64)).view(6, 4)
model = fill(Seq2Seq(Encoder(), Decoder()))
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
criterion = nn.CrossEntropyLoss(ignore_index=0)


def train(model, optimizer, criterion, clip):
    model.train()
    epoch_loss = 0
    optimizer.zero_grad()
    output = model(src, trg)
    output_dim = output.shape[-1]
    output = output[1:].view(-1, output_dim)
    target = trg[1:].view(-1)
    loss = criterion(output, target)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
    optimizer.step()
    epoch_loss += loss.item()
    return epoch_loss


for epoch in range(5):
    print(epoch, train(model, optimizer, criterion, 1.0))
