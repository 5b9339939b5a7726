import copy

import torch
from torch import nn
from torch.optim import Optimizer

from fixed import fill, points


class Corrected(Optimizer):
    def __init__(self, params, lr):
        super().__init__(params, dict(lr=lr))

    def step(self, server, client):
        for group in self.param_groups:
            for p, s, c in zip(group['params'], server, client):
                p.data.add_(other=(p.grad.data + s - c), alpha=-group['lr'])


class Proximal(Optimizer):
    def __init__(self, params, lr=0.01, mu=0.0):
        super().__init__(params, dict(lr=lr, mu=mu))

    @torch.no_grad()
    def step(self, global_params, device):
        for group in self.param_groups:
            for p, g in zip(group['params'], global_params):
                d_p = p.grad.data + group['mu'] * (p.data - g.data)
                p.data.add_(d_p, alpha=-group['lr'])


class Scaled(Optimizer):
    def __init__(self, params, lr):
        super().__init__(params, dict(lr=lr))

    def step(self, beta=0):
        for group in self.param_groups:
            for p in group['params']:
                if p.grad is None:
                    continue
                p.data.add_(p.grad.data, alpha=-beta if beta else -group['lr'])


class Client:
    def __init__(self, model, data):
        self.model = copy.deepcopy(model)
        self.x, self.y = data
        self.loss = nn.CrossEntropyLoss()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)


class Scaffold(Client):
    def __init__(self, model, data):
        super().__init__(model, data)
        self.optimizer = Corrected(self.model.parameters(), lr=0.3)
        self.own = [torch.zeros_like(p) + 0.01 for p in self.model.parameters()]
        self.server = [torch.zeros_like(p) - 0.01 for p in self.model.parameters()]

    def train(self):
        self.model.train()
        for start in range(0, 64, 16):
            output = self.model(self.x[start:start + 16])
            loss = self.loss(output, self.y[start:start + 16])
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step(self.server, self.own)
        return loss.item()


class Ditto(Client):
    def __init__(self, model, data):
        super().__init__(model, data)
        self.start = copy.deepcopy(self.model)
        self.optimizer = Proximal(self.model.parameters(), lr=0.3, mu=0.5)

    def train(self):
        for _ in range(3):
            loss = self.loss(self.model(self.x), self.y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step(self.start.parameters(), 'cpu')
        return loss.item()


class Meta(Client):
    def __init__(self, model, data):
        super().__init__(model, data)
        self.optimizer = Scaled(self.model.parameters(), lr=0.3)

    def train(self):
        for beta in (0, 0.1, 0.2):
            loss = self.loss(self.model(self.x), self.y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step(beta=beta)
        return loss.item()


net = fill(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3)))
clients = [kind(net, points(seed=seed)) for seed, kind in enumerate((Scaffold, Ditto, Meta))]
for step in range(3):
    print(step, *[client.train() for client in clients])
print([sum(p.sum().item() for p in client.model.parameters()) for client in clients])
