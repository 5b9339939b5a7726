"""Chains of in-place operations on the state of an optimizer that is written by hand."""

import torch
from torch import nn


class Own(torch.optim.Optimizer):
    def __init__(self, params, lr=0.1, b=0.5):
        super().__init__(params, {"lr": lr, "b": b})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                g, state = p.grad, self.state[p]
                if not state:
                    state["m"], state["v"] = torch.zeros_like(p), torch.zeros_like(p)
                state["m"].mul_(group["b"]).add_(g, alpha=1 - group["b"])
                state["v"].mul_(0.9).addcmul_(g, g, value=0.1)
                p.add_(state["m"] / state["v"].sqrt().add_(1e-3), alpha=-group["lr"])


net = nn.Linear(2, 1)
nn.init.ones_(net.weight)
nn.init.zeros_(net.bias)
opt = Own(net.parameters())
for _ in range(3):
    opt.zero_grad()
    loss = (net(torch.tensor([[1.0, 2.0]])) ** 2).sum()
    loss.backward()
    opt.step()
    print(round(loss.item(), 4), [round(v, 4) for v in net.weight.flatten().tolist()])
print([round(v, 3) for s in opt.state.values() for v in s["m"].flatten().tolist()])
