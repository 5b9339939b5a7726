"""An optimizer of the program's own: its state and its settings in a checkpoint."""

import torch
from torch import nn
from torch.optim import Optimizer


class Lion(Optimizer):
    def __init__(self, params, lr=1e-4, betas=(0.9, 0.99), weight_decay=0.0):
        super().__init__(params, dict(lr=lr, betas=betas, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                p.mul_(1 - group["lr"] * group["weight_decay"])
                state = self.state[p]
                if len(state) == 0:
                    state["step"] = 0
                    state["exp_avg"] = torch.zeros_like(p)
                state["step"] += 1
                exp_avg = state["exp_avg"]
                beta1, beta2 = group["betas"]
                update = exp_avg * beta1 + p.grad * (1 - beta1)
                p.add_(torch.sign(update), alpha=-group["lr"])
                exp_avg.mul_(beta2).add_(p.grad, alpha=1 - beta2)


def build():
    net = nn.Linear(3, 1)
    nn.init.constant_(net.weight, 0.3)
    nn.init.constant_(net.bias, -0.1)
    return net


x = torch.tensor([[1.0, 2.0, -1.0], [0.5, -0.5, 3.0]])


def train(net, opt, n):
    for _ in range(n):
        loss = (net(x) - 1).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    return round(loss.item(), 5)


net = build()
opt = Lion(net.parameters(), lr=0.02, betas=(0.8, 0.9), weight_decay=0.1)
train(net, opt, 3)
torch.save([net.state_dict(), opt.state_dict()], "lion.pt")
weights, settings = torch.load("lion.pt")
print(sorted(settings["state"]), sorted(settings["state"][0]), settings["state"][0]["step"])
other = build()
other.load_state_dict(weights)
resumed = Lion(other.parameters(), lr=1.0)
resumed.load_state_dict(settings)
print(resumed.param_groups[0]["lr"], resumed.param_groups[0]["betas"], resumed.param_groups[0]["weight_decay"])
print(train(net, opt, 4), train(other, resumed, 4))
print([round(v, 5) for v in net.weight.flatten().tolist()], [round(v, 5) for v in other.weight.flatten().tolist()])
