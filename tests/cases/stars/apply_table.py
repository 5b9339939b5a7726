"""A table of calls: what each function gets stands in a list beside it."""

import torch

x = torch.arange(6, dtype=torch.float32).reshape(2, 3)
y = torch.full((2, 3), 2.5)


def lerp(*given):
    return torch.lerp(*given)


def split(*given):
    return torch.cat([part * (i + 1) for i, part in enumerate(torch.split(*given))], dim=given[-1])


def fill(*given, **options):
    return torch.masked_fill(*given, **options)


def add(*given, **options):
    return torch.add(*given, **options)


table = [(lerp, (x, y, 0.25), {}), (split, (x, 2, 1), {}), (fill, (x, x > 2), {"value": -1.0}), (add, (x, y), {"alpha": 2})]
for function, given, options in table:
    print(function.__name__, function(*given, **options).tolist())
