"""Rows that are chosen by flags, by places and by numbers, whatever the names are."""

import torch


def total(values, chosen):
    return values[chosen].sum().item()


def average_or(values, rows, other):
    part = values[rows]
    return part.mean().item() if part.numel() else other


def first(values, mask):
    return values[mask].item()


def inverted(values, held):
    return values[~held].sum().item(), (~held).sum().item()


def places(values, valid):
    return values[valid, :].tolist()


x = torch.arange(5, dtype=torch.float32)
print(total(x, x > 2), total(x, x > 9), total(x, torch.tensor([0, 4])))
print(average_or(x, x < 0, -1.0), average_or(x, x < 3, -1.0))
print(first(x, 3), inverted(x, x > 1))
print(places(x.view(5, 1), 2), places(x.view(5, 1), x > 3))
