"""Helpers that take tensors and arrays, and ask which it is."""
import numpy as np
import torch


def rows(x, places):
    if torch.is_tensor(x):
        return x[places]
    else:
        return x.take(indices=places, axis=0)


def columns(x, places):
    if isinstance(x, torch.Tensor):
        return x.index_select(1, torch.tensor(places))
    return x.take(indices=places, axis=1)


def halves(x):
    if not torch.is_tensor(x):
        return np.split(x, 2, axis=0)
    return x.split(split_size=2, dim=0)


def total(x):
    return x.sum(dim=-1) if isinstance(x, torch.Tensor) else x.sum(axis=-1)


t, a = torch.arange(8.0).view(4, 2), np.arange(8.0).reshape(4, 2)
print(rows(t, [0, 2]).tolist(), rows(a, [0, 2]).tolist())
print(columns(t, [1]).tolist(), columns(a, [1]).tolist())
print([h.sum().item() for h in halves(t)], [h.sum().item() for h in halves(a)])
print(total(t).tolist(), total(a).tolist())
