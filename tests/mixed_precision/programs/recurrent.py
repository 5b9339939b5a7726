"""An LSTM that is kept in float32 between layers that are not; gradients build up over two batches."""

import torch
import torch.nn.functional as F
from begin import fill, weights_of
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(10, 8)
        self.lift = nn.Linear(8, 12)
        self.cell = nn.LSTMCell(12, 12)
        self.head = nn.Linear(12, 10)

    def forward(self, ids):
        h = torch.zeros(ids.shape[0], 12)
        c = torch.zeros(ids.shape[0], 12)
        out = []
        for t in range(ids.shape[1]):
            x = self.lift(self.embedding(ids[:, t]))
            with torch.autocast("cpu", enabled=False):
                h, c = self.cell(x.float(), (h, c))
            out.append(self.head(h))
        return torch.stack(out, dim=1)


def train(amp, shift):
    net = fill(Net(), shift)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.5, momentum=0.9)
    scaler = torch.amp.GradScaler("cpu", init_scale=512.0, enabled=amp)
    losses = []
    optimizer.zero_grad()
    for step in range(20):
        ids = (torch.arange(16).reshape(4, 4) * (step % 3 + 1)) % 10
        with torch.autocast("cpu", torch.float16, enabled=amp):
            logits = net(ids[:, :-1]).float()
            loss = F.cross_entropy(logits.reshape(-1, 10), ids[:, 1:].reshape(-1)) / 2
        scaler.scale(loss).backward()
        if step % 2 == 1:
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
        losses.append(loss.item())
    return losses, scaler.get_scale(), weights_of(net)
