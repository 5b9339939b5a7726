"""What averages.py changes weights with."""

import torch


class Average:
    def __init__(self, beta: float):
        self.beta = beta

    def update(self, old: torch.Tensor, new: torch.Tensor):
        old.mul_(self.beta).add_(new, alpha=1 - self.beta)


def halve(values: torch.Tensor):
    values *= 0.5


def first_values(weight: torch.Tensor):
    weight.uniform_(0, 1)
    weight.clamp_(2, 3)
