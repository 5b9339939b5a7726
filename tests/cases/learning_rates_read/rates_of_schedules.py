"""``get_last_lr`` of schedules, and of a class of the program's own that has it as well."""

import torch


class Constant:
    def __init__(self, rate):
        self.rate = rate

    def step(self):
        self.rate = self.rate / 2

    def get_last_lr(self):
        return [self.rate]


def run(s, steps):
    seen = []
    for _ in range(steps):
        s.step()
        seen.append(s.get_last_lr()[0])
    print([round(v, 5) for v in seen], f"{s.get_last_lr()[0]:.2e}", s.get_last_lr())


w = torch.nn.Parameter(torch.ones(2))
opt = torch.optim.SGD([w], lr=0.1)
(w * w).sum().backward()
opt.step()
makers = {
    "constant": lambda: Constant(0.4),
    "step": lambda: torch.optim.lr_scheduler.StepLR(opt, 2, gamma=0.5),
    "exp": lambda: torch.optim.lr_scheduler.ExponentialLR(opt, 0.5),
}
for name in makers:
    print(name)
    run(makers[name](), 3)
