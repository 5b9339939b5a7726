"""LARS as repositories have it: a subclass of SGD that scales the gradients before SGD's step, and one of its own."""

import torch
from torch import nn, optim


class LARS(optim.Optimizer):
    def __init__(self, params, lr, weight_decay=0.0, momentum=0.9, eta=0.001):
        super().__init__(params, dict(lr=lr, weight_decay=weight_decay, momentum=momentum, eta=eta))

    @torch.no_grad()
    def step(self):
        for g in self.param_groups:
            for p in g["params"]:
                dp = p.grad
                if dp is None:
                    continue
                if p.ndim > 1:
                    dp = dp.add(p, alpha=g["weight_decay"])
                    param_norm = torch.norm(p)
                    update_norm = torch.norm(dp)
                    one = torch.ones_like(param_norm)
                    q = torch.where(
                        param_norm > 0.0, torch.where(update_norm > 0, (g["eta"] * param_norm / update_norm), one), one
                    )
                    dp = dp.mul(q)
                param_state = self.state[p]
                if "mu" not in param_state:
                    param_state["mu"] = torch.zeros_like(p)
                mu = param_state["mu"]
                mu.mul_(g["momentum"]).add_(dp)
                p.add_(mu, alpha=-g["lr"])


net = nn.Sequential(nn.Linear(3, 2), nn.Tanh(), nn.Linear(2, 1))
for i, p in enumerate(net.parameters()):
    nn.init.constant_(p, 0.1 * (i + 1))
opt = LARS(net.parameters(), lr=0.5, weight_decay=0.01, eta=0.02)
x, y = torch.tensor([[1.0, -1.0, 0.5], [2.0, 0.0, 1.0]]), torch.tensor([[1.0], [0.0]])
for _ in range(4):
    opt.zero_grad()
    loss = (net(x) - y).pow(2).mean()
    loss.backward()
    opt.step()
print(round(loss.item(), 5), [round(p.sum().item(), 5) for p in net.parameters()])
