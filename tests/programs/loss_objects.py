"""The annotated transformer's shape: an object computes the loss of what it is handed, and takes the step if it may."""

import torch
import torch.nn as nn

from fixed import fill


class NoamOpt:
    "Optim wrapper that implements rate."

    def __init__(self, model_size, factor, warmup, optimizer):
        self.optimizer = optimizer
        self._step = 0
        self.warmup = warmup
        self.factor = factor
        self.model_size = model_size
        self._rate = 0

    def step(self):
        "Update parameters and rate"
        self._step += 1
        rate = self.rate()
        for p in self.optimizer.param_groups:
            p["lr"] = rate
        self._rate = rate
        self.optimizer.step()

    def rate(self, step=None):
        if step is None:
            step = self._step
        return self.factor * (self.model_size ** (-0.5) * min(step ** (-0.5), step * self.warmup ** (-1.5)))


class Generator(nn.Module):
    def __init__(self, d, v):
        super().__init__()
        self.proj = nn.Linear(d, v)

    def forward(self, x):
        return torch.log_softmax(self.proj(x), dim=-1)


class Model(nn.Module):
    def __init__(self, v=11, d=16):
        super().__init__()
        self.embed = nn.Embedding(v, d)
        self.norm = nn.LayerNorm(d)
        self.rnn = nn.GRU(d, d, batch_first=True)
        self.generator = Generator(d, v)

    def forward(self, src):
        return self.rnn(self.norm(self.embed(src)))[0]


class SimpleLossCompute:
    "A simple loss compute and train function."

    def __init__(self, generator, criterion, opt=None):
        self.generator = generator
        self.criterion = criterion
        self.opt = opt

    def __call__(self, x, y, norm):
        x = self.generator(x)
        loss = self.criterion(x.contiguous().view(-1, x.size(-1)), y.contiguous().view(-1)) / norm
        loss.backward()
        if self.opt is not None:
            self.opt.step()
            self.opt.optimizer.zero_grad()
        return loss.item() * norm


def data_gen(batches, start):
    for i in range(batches):
        yield (torch.arange(60).reshape(6, 10) * 7 + i + start) % 11


def run_epoch(data_iter, model, loss_compute):
    total_loss = 0
    total_tokens = 0
    for i, batch in enumerate(data_iter):
        out = model.forward(batch)
        loss = loss_compute(out, batch, batch.numel())
        total_loss += loss
        total_tokens += batch.numel()
    return total_loss / total_tokens


model = fill(Model(), 0.3)
criterion = nn.NLLLoss(reduction="sum")
model_opt = NoamOpt(16, 1, 20, torch.optim.Adam(model.parameters(), lr=0, betas=(0.9, 0.98), eps=1e-9))
for epoch in range(3):
    model.train()
    print("loss %.5f" % run_epoch(data_gen(4, epoch), model, SimpleLossCompute(model.generator, criterion, model_opt)))
    model.eval()
    print("held %.5f" % run_epoch(data_gen(1, 5), model, SimpleLossCompute(model.generator, criterion, None)))
