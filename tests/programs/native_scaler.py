"""A scaler that is called with the loss and the optimizer, and logs the norm; gradients build up over two batches."""

import torch
from torch import nn

from fixed import fill, points

x, y = points()


class NativeScaler:
    def __init__(self):
        self._scaler = torch.amp.GradScaler("cpu", enabled=False)

    def __call__(self, loss, optimizer, clip_grad=None, parameters=None, create_graph=False, update_grad=True):
        self._scaler.scale(loss).backward(create_graph=create_graph)
        if not update_grad:
            return None
        self._scaler.unscale_(optimizer)
        if clip_grad is not None:
            norm = torch.nn.utils.clip_grad_norm_(parameters, clip_grad)
        else:
            norm = gradient_norm(parameters)
        self._scaler.step(optimizer)
        self._scaler.update()
        return norm


def gradient_norm(parameters):
    parameters = [p for p in parameters if p.grad is not None]
    return torch.norm(torch.stack([torch.norm(p.grad.detach(), 2) for p in parameters]), 2)


def train(model: nn.Module, optimizer, loss_scaler, accumulation=1, clip=None):
    optimizer.zero_grad()
    for i in range(6):
        loss = nn.functional.cross_entropy(model(x + 0.1 * i), y) / accumulation
        due = (i + 1) % accumulation == 0
        norm = loss_scaler(loss, optimizer, clip_grad=clip, parameters=model.parameters(), update_grad=due)
        if due:
            optimizer.zero_grad()
        print(i, loss.item(), float(norm) if norm is not None else -1.0)


net = fill(nn.Sequential(nn.Linear(4, 8), nn.LayerNorm(8), nn.Tanh(), nn.Linear(8, 3)))
optimizer = torch.optim.AdamW(net.parameters(), lr=0.02)
scaler = NativeScaler()
train(net, optimizer, scaler)
train(net, optimizer, scaler, accumulation=2)
train(net, optimizer, scaler, clip=0.1)
