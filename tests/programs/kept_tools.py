"""What programs keep beside their training loops: optimizers of their own, and functions that look at gradients."""

import math

import torch
from torch.optim import Optimizer


class LARS(torch.optim.Optimizer):
    """Learning rates by the ratio of norms."""

    def __init__(self, params, lr=0, weight_decay=0, momentum=0.9, eta=0.001):
        super().__init__(params, dict(lr=lr, weight_decay=weight_decay, momentum=momentum, eta=eta))

    @torch.no_grad()
    def step(self):
        for g in self.param_groups:
            for p in g["params"]:
                dp = p.grad
                if dp is None:
                    continue
                if p.ndim != 1:
                    dp = dp.add(p, alpha=g["weight_decay"])
                    norm, update = torch.norm(p), torch.norm(dp)
                    one = torch.ones_like(norm)
                    ratio = torch.where(update > 0, g["eta"] * norm / update, one)
                    dp = dp.mul(torch.where(norm > 0.0, ratio, one))
                state = self.state[p]
                if "mu" not in state:
                    state["mu"] = torch.zeros_like(p)
                mu = state["mu"]
                mu.mul_(g["momentum"]).add_(dp)
                p.add_(mu, alpha=-g["lr"])


class Adam(Optimizer):
    """In the manner of older PyTorch."""

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8):
        if not 0.0 <= lr:
            raise ValueError("Invalid learning rate: {}".format(lr))
        super(Adam, self).__init__(params, dict(lr=lr, betas=betas, eps=eps))

    def __setstate__(self, state):
        super(Adam, self).__setstate__(state)

    def step(self, closure=None):
        loss = None
        if closure is not None:
            loss = closure()
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                grad = p.grad.data
                if grad.is_sparse:
                    raise RuntimeError("no sparse gradients")
                state = self.state[p]
                if len(state) == 0:
                    state["step"] = 0
                    state["exp_avg"] = torch.zeros_like(p.data)
                    state["exp_avg_sq"] = torch.zeros_like(p.data)
                exp_avg, exp_avg_sq = state["exp_avg"], state["exp_avg_sq"]
                beta1, beta2 = group["betas"]
                state["step"] += 1
                exp_avg.mul_(beta1).add_(grad, alpha=1 - beta1)
                exp_avg_sq.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
                denom = exp_avg_sq.sqrt().add_(group["eps"])
                size = group["lr"] * math.sqrt(1 - beta2 ** state["step"]) / (1 - beta1 ** state["step"])
                p.data.addcdiv_(exp_avg, denom, value=-size)
        return loss


def clip_gradients(model, clip):
    norms = []
    for name, p in model.named_parameters():
        if p.grad is not None:
            norm = p.grad.data.norm(2)
            norms.append(norm.item())
            coefficient = clip / (norm + 1e-6)
            if coefficient < 1:
                p.grad.data.mul_(coefficient)
    return norms


def cancel_gradients(epoch, model, until):
    if epoch >= until:
        return
    for n, p in model.named_parameters():
        if n.startswith("2"):
            p.grad = None
