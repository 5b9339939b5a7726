"""An optimizer of the program's own that holds another one, and takes its step in two halves: SAM and Lookahead."""

import torch
from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm

from fixed import fill, points

x, y = points()


class SAM(torch.optim.Optimizer):
    def __init__(self, params, base_optimizer, rho=0.05, adaptive=False, **kwargs):
        defaults = dict(rho=rho, adaptive=adaptive, **kwargs)
        super(SAM, self).__init__(params, defaults)
        self.base_optimizer = base_optimizer(self.param_groups, **kwargs)
        self.param_groups = self.base_optimizer.param_groups

    @torch.no_grad()
    def first_step(self, zero_grad=False):
        norm = self._norm()
        for group in self.param_groups:
            scale = group["rho"] / (norm + 1e-12)
            for p in group["params"]:
                if p.grad is None:
                    continue
                self.state[p]["old_p"] = p.data.clone()
                e_w = (torch.pow(p, 2) if group["adaptive"] else 1.0) * p.grad * scale.to(p)
                p.add_(e_w)
        if zero_grad:
            self.zero_grad()

    @torch.no_grad()
    def second_step(self, zero_grad=False):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                p.data = self.state[p]["old_p"]
        self.base_optimizer.step()
        if zero_grad:
            self.zero_grad()

    def _norm(self):
        norms = [
            ((torch.abs(p) if group["adaptive"] else 1.0) * p.grad).norm(p=2)
            for group in self.param_groups
            for p in group["params"]
            if p.grad is not None
        ]
        return torch.norm(torch.stack(norms), p=2)


class Decay:
    def __init__(self, optimizer, rate):
        self.optimizer = optimizer
        self.rate = rate

    def __call__(self, epoch):
        for group in self.optimizer.param_groups:
            group["lr"] = self.rate * 0.7**epoch

    def lr(self):
        return self.optimizer.param_groups[0]["lr"]


def disable_running_stats(model):
    def _disable(module):
        if isinstance(module, _BatchNorm):
            module.backup_momentum = module.momentum
            module.momentum = 0

    model.apply(_disable)


def enable_running_stats(model):
    def _enable(module):
        if isinstance(module, _BatchNorm) and hasattr(module, "backup_momentum"):
            module.momentum = module.backup_momentum

    model.apply(_enable)


def train(base, adaptive, **options):
    net = fill(nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Tanh(), nn.Linear(8, 3)))
    optimizer = SAM(net.parameters(), base, rho=0.5, adaptive=adaptive, **options)
    schedule = Decay(optimizer, options["lr"])
    for epoch in range(5):
        enable_running_stats(net)
        predictions = net(x)
        loss = nn.functional.cross_entropy(predictions, y, reduction="none")
        loss.mean().backward()
        optimizer.first_step(zero_grad=True)
        disable_running_stats(net)
        nn.functional.cross_entropy(net(x), y, reduction="none").mean().backward()
        optimizer.second_step(zero_grad=True)
        with torch.no_grad():
            correct = (torch.argmax(predictions, 1) == y).sum().item()
            print(epoch, loss.mean().item(), correct, schedule.lr())
            schedule(epoch)
    net.eval()
    print(nn.functional.cross_entropy(net(x), y).item())


train(torch.optim.SGD, False, lr=0.1, momentum=0.9, weight_decay=0.01)
train(torch.optim.SGD, True, lr=0.1)
train(torch.optim.Adam, False, lr=0.05)


def train_reset_outside(optimizer, net: nn.Module):
    for epoch in range(3):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        optimizer.first_step()
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(x), y).backward()
        optimizer.second_step()
        print(epoch, loss.item())


net = fill(nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3)))
train_reset_outside(SAM(net.parameters(), torch.optim.SGD, lr=0.2), net)
