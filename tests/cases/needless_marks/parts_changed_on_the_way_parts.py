import torch
from torch.optim import Optimizer


class Lion(Optimizer):
    """Steps of one size; what is remembered is changed in chains of in-place methods."""

    def __init__(self, params, lr=0.1, betas=(0.9, 0.99)):
        super().__init__(params, dict(lr=lr, betas=betas))

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            first, second = group["betas"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                if len(state) == 0:
                    state["step"] = 0
                    state["exp_avg"] = torch.zeros_like(p)
                    state["exp_avg_sq"] = torch.zeros_like(p)
                state["step"] += 1
                update = state["exp_avg"].clone().mul_(first).add_(p.grad, alpha=1 - first).sign_()
                p.add_(update, alpha=-group["lr"])
                state["exp_avg"].mul_(second).add_(p.grad, alpha=1 - second)
                state["exp_avg_sq"].mul_(second).addcmul_(p.grad, p.grad, value=1 - second)
