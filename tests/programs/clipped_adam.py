"""An optimizer of the program's own that clips the gradient of each weight before it uses it, as BERT's Adam does."""

import torch
import torch.nn as nn
from torch.nn.utils import clip_grad_norm_
from torch.optim import Optimizer

from fixed import fill, points


class ClippedAdam(Optimizer):
    def __init__(self, params, lr=0.01, b1=0.9, b2=0.999, e=1e-6, max_grad_norm=1.0):
        defaults = dict(lr=lr, b1=b1, b2=b2, e=e, max_grad_norm=max_grad_norm)
        super().__init__(params, defaults)

    def step(self, closure=None):
        loss = None
        if closure is not None:
            loss = closure()
        for group in self.param_groups:
            for p in group['params']:
                if p.grad is None:
                    continue
                grad = p.grad.data
                state = self.state[p]
                if len(state) == 0:
                    state['step'] = 0
                    state['next_m'] = torch.zeros_like(p.data)
                    state['next_v'] = torch.zeros_like(p.data)
                next_m, next_v = state['next_m'], state['next_v']
                beta1, beta2 = group['b1'], group['b2']
                if group['max_grad_norm'] > 0:
                    clip_grad_norm_(p, group['max_grad_norm'])
                next_m.mul_(beta1).add_(grad, alpha=1 - beta1)
                next_v.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
                update = next_m / (next_v.sqrt() + group['e'])
                p.data.add_(-group['lr'] * update)
                state['step'] += 1
        return loss


x, y = points()
net = fill(nn.Sequential(nn.Linear(x.shape[1], 8), nn.Tanh(), nn.Linear(8, 3)), 0.3)
loss_fn = nn.CrossEntropyLoss()
optimizer = ClippedAdam(net.parameters(), max_grad_norm=0.05)
for step in range(5):
    loss = loss_fn(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("loss %.5f" % loss.item())
