import torch
from torch import nn
from torch.optim.optimizer import Optimizer

from fixed import fill, points


class Lars(Optimizer):
    """Changes the gradients in place, as early optimizers do."""

    def __init__(self, params, lr=0.5, momentum=0.9, weight_decay=0.01, eta=0.1):
        super().__init__(params, dict(lr=lr, momentum=momentum, weight_decay=weight_decay, eta=eta))

    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                d_p = p.grad.data
                weight_norm = torch.norm(p.data)
                rate = group["lr"] * group["eta"] * weight_norm / (torch.norm(d_p) + 1e-3)
                if group["weight_decay"] != 0:
                    d_p.add_(p.data, alpha=group["weight_decay"])
                if "momentum_buffer" not in state:
                    buf = state["momentum_buffer"] = torch.zeros_like(p.data)
                else:
                    buf = state["momentum_buffer"]
                buf.mul_(group["momentum"]).add_(d_p * rate)
                d_p = buf
                p.data.add_(-d_p)


x, y = points()
net = fill(nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3)))
criterion = nn.CrossEntropyLoss()
opt = Lars(net.parameters())
for step in range(6):
    opt.zero_grad()
    loss = criterion(net(x), y)
    loss.backward()
    opt.step()
    print(step, loss.item())
