"""Objects that hold an optimizer: they warm up, clip, and take its steps for functions that call backward."""

import torch
from torch import nn, optim

from fixed import fill, points

x, y = points()


class NoamOpt:
    def __init__(self, width, warmup, optimizer):
        self.optimizer = optimizer
        self._step = 0
        self.width = width
        self.warmup = warmup

    def step(self):
        self._step += 1
        for p in self.optimizer.param_groups:
            p["lr"] = self.rate()
        self.optimizer.step()

    def rate(self):
        return self.width ** (-0.5) * min(self._step ** (-0.5), self._step * self.warmup ** (-1.5))


class ScheduledOptim:
    def __init__(self, optimizer, decay):
        self._optimizer = optimizer
        self.decay = decay

    def step_and_update_lr(self):
        self._update_learning_rate()
        self._optimizer.step()

    def zero_grad(self):
        self._optimizer.zero_grad()

    def _update_learning_rate(self):
        for group in self._optimizer.param_groups:
            group["lr"] *= self.decay


class Optim(object):
    def make(self):
        if self.method == "sgd":
            self.optimizer = optim.SGD(self.params, lr=self.lr, momentum=0.9)
        else:
            self.optimizer = optim.Adam(self.params, lr=self.lr)

    def __init__(self, params, method, lr, max_norm):
        self.params = list(params)
        self.method = method
        self.lr = lr
        self.max_norm = max_norm
        self.make()

    def step(self):
        norm = torch.nn.utils.clip_grad_norm_(self.params, self.max_norm)
        self.optimizer.step()
        return norm


def network():
    return fill(nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3)))


def run_epoch(model: nn.Module, criterion, opt):
    for i in range(5):
        loss = criterion(model(x + 0.1 * i), y)
        loss.backward()
        opt.step()
        opt.optimizer.zero_grad()
        print(i, loss.item(), opt.rate())


def train_epoch(model: nn.Module, optimizer):
    for i in range(5):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x + 0.1 * i), y)
        loss.backward()
        optimizer.step_and_update_lr()
        print(i, loss.item())


class Solver:
    def __init__(self, model: nn.Module, optimizer):
        self.model = model
        self.optimizer = optimizer

    def train(self):
        for i in range(5):
            self.model.zero_grad()
            loss = nn.functional.cross_entropy(self.model(x + 0.1 * i), y)
            loss.backward()
            norm = self.optimizer.step()
            print(i, loss.item(), float(norm))


net = network()
run_epoch(net, nn.CrossEntropyLoss(), NoamOpt(16, 4, optim.Adam(net.parameters(), lr=0, betas=(0.9, 0.98), eps=1e-9)))
net = network()
train_epoch(net, ScheduledOptim(optim.SGD(net.parameters(), lr=0.5), 0.9))
net = network()
Solver(net, Optim(net.parameters(), "sgd", 0.1, 0.5)).train()
net = network()
Solver(net, Optim(net.parameters(), "adam", 0.1, 0.5)).train()
