"""Optimizers whose settings come by position in a tuple, or as keywords."""

import torch


def trained(make, *given, **options):
    w = torch.nn.Parameter(torch.tensor([1.0, -2.0, 3.0]))
    opt = make([w], *given, **options)
    for _ in range(3):
        opt.zero_grad()
        (w * w).sum().backward()
        opt.step()
    return [round(v, 4) for v in w.tolist()]


def sgd(params, *given, **options):
    return torch.optim.SGD(params, *given, **options)


def adam(params, *given, **options):
    return torch.optim.Adam(params, *given, **options)


settings = (0.1, 0.9)
print(trained(sgd, *settings))
print(trained(sgd, 0.1, weight_decay=0.01, momentum=0.5))
print(trained(adam, 0.05, (0.8, 0.99)))
print(trained(adam, lr=0.05, betas=(0.8, 0.99)))
