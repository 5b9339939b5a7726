"""A subclass of torch.optim.SGD whose step changes the gradients and leaves the rest to SGD."""

import torch
from torch import nn
from torch.optim import SGD


class ScaledSGD(SGD):
    def __init__(self, params, lr, trust=0.5, **options):
        super().__init__(params, lr=lr, **options)
        self.trust = trust

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                norm = p.norm()
                if norm > 0 and p.grad.norm() > 0:
                    p.grad.mul_(self.trust * norm / p.grad.norm())
        return super().step(closure)


net = nn.Linear(3, 1)
nn.init.constant_(net.weight, 0.4)
nn.init.constant_(net.bias, 0.2)
opt = ScaledSGD(net.parameters(), lr=0.1, momentum=0.9, weight_decay=0.01)
x = torch.tensor([[1.0, 2.0, -1.0], [0.5, 0.0, 1.0]])
for _ in range(3):
    opt.zero_grad()
    loss = (net(x) - 1).pow(2).mean()
    loss.backward()
    opt.step()
    print(round(loss.item(), 5), [round(v, 5) for v in net.weight[0].tolist()], round(net.bias.item(), 5))
