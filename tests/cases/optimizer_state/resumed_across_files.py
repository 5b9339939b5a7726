"""A run that is cut in two, with saving and resuming in another file (trainer_parts)."""

import numpy as np
import torch
from torch import nn
from torch.optim import lr_scheduler
from trainer_parts import resume, save_state

DATA = torch.from_numpy(np.random.RandomState(3).randn(6, 4).astype("float32"))


def make(kind):
    net = nn.Linear(4, 2)
    with torch.no_grad():
        net.weight.copy_(torch.linspace(-1, 1, 8).view(2, 4))
        net.bias.zero_()
    opt = torch.optim.AdamW(net.parameters(), lr=0.1, weight_decay=0.2)
    sched = {
        "one": lambda: lr_scheduler.OneCycleLR(opt, max_lr=0.3, total_steps=8),
        "cyclic": lambda: lr_scheduler.CyclicLR(opt, 0.01, 0.2, step_size_up=3, cycle_momentum=True),
        "cosine": lambda: lr_scheduler.CosineAnnealingLR(opt, T_max=8),
        "step": lambda: lr_scheduler.StepLR(opt, 2, 0.5),
        "multi": lambda: lr_scheduler.MultiStepLR(opt, [2, 5], 0.3),
        "exp": lambda: lr_scheduler.ExponentialLR(opt, 0.9),
        "lambda": lambda: lr_scheduler.LambdaLR(opt, lambda e: 1 / (1 + e)),
        "warm": lambda: lr_scheduler.LinearLR(opt, start_factor=0.1, total_iters=4),
        "restarts": lambda: lr_scheduler.CosineAnnealingWarmRestarts(opt, T_0=3),
        "poly": lambda: lr_scheduler.PolynomialLR(opt, total_iters=8, power=2.0),
        "sequential": lambda: lr_scheduler.SequentialLR(
            opt,
            [lr_scheduler.ConstantLR(opt, factor=0.1, total_iters=2), lr_scheduler.ExponentialLR(opt, 0.8)],
            milestones=[2],
        ),
    }[kind]()
    return net, opt, sched


def run(kind, path, epochs, lr=None):
    net, opt, sched = make(kind)
    start = resume(path, net, opt, sched, lr)
    for epoch in range(start, epochs):
        opt.zero_grad()
        loss = net(DATA).pow(2).mean()
        loss.backward()
        opt.step()
        sched.step()
        save_state(path, net, opt, sched, epoch=epoch)
    group = opt.param_groups[0]
    return f"{net.weight.sum().item():.5f} {loss.item():.5f} {group['lr']:.5f} {group['betas'][0]:.4f}"


for kind in "one cyclic cosine step multi exp lambda warm restarts poly sequential".split():
    whole = run(kind, f"{kind}_whole.pt", 7)
    run(kind, f"{kind}.pt", 3)
    print(kind, whole, "|", run(kind, f"{kind}.pt", 7))
print(run("step", "step_again.pt", 3), run("step", "step_again.pt", 6, lr=0.5))
