"""An optimizer in a global name that a function binds, and one that a dictionary holds."""

import torch

current = None
kept = {}
w = torch.nn.Parameter(torch.ones(3))


def setup(rate):
    global current
    current = torch.optim.Adam([w], lr=rate)
    kept["sgd"] = torch.optim.SGD([{"params": [w], "lr": rate / 2}], lr=rate)


setup(0.03)
print(current.param_groups[0]["lr"], current.param_groups[-1]["betas"])
print(kept["sgd"].param_groups[0]["lr"])
for group in current.param_groups:
    group["lr"] = group["lr"] * 0.5
print("%g" % current.param_groups[0]["lr"], current.param_groups[0]["lr"] > 0.01)
