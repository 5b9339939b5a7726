"""An optimizer of the program's own whose rate every group must give, and milestones in a tuple or with fractions."""

import torch
from torch import nn
from torch.optim.lr_scheduler import MultiStepLR
from torch.optim.optimizer import Optimizer, required

from fixed import fill, points

x, y = points()


class LARS(Optimizer):
    def __init__(self, params, lr=required, momentum=0.9, weight_decay=0.0005, eta=0.1):
        if lr is not required and lr < 0.0:
            raise ValueError("Invalid learning rate: {}".format(lr))
        defaults = dict(lr=lr, momentum=momentum, weight_decay=weight_decay, eta=eta)
        super(LARS, self).__init__(params, defaults)

    def step(self, closure=None):
        loss = None
        if closure is not None:
            loss = closure()
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                d_p = p.grad.data
                weight_norm = torch.norm(p.data)
                grad_norm = torch.norm(d_p)
                local_lr = group["eta"] * weight_norm / (grad_norm + group["weight_decay"] * weight_norm)
                state = self.state[p]
                if "momentum_buffer" not in state:
                    buf = state["momentum_buffer"] = torch.zeros_like(p.data)
                else:
                    buf = state["momentum_buffer"]
                buf.mul_(group["momentum"]).add_(d_p + group["weight_decay"] * p.data, alpha=float(local_lr * group["lr"]))
                p.data.add_(-buf)
        return loss


def train(epochs, milestones, optimizer, net):
    scheduler = MultiStepLR(optimizer, milestones=milestones, gamma=0.3)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(epochs):
        optimizer.zero_grad()
        loss = criterion(net(x), y)
        loss.backward()
        optimizer.step()
        scheduler.step()
        print(epoch, f"{loss.item():.5f} {scheduler.get_last_lr()[0]:.6f}")


net = fill(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3)))
try:
    LARS(net.parameters())
except ValueError as error:
    print(error)
train(6, (2, 4), LARS(net.parameters(), lr=0.5), net)
epochs = 5
train(epochs, [epochs * 0.4, epochs * 0.75, 4], torch.optim.SGD(net.parameters(), lr=0.05), net)
