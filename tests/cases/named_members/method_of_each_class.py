"""Classes look up their method by its name, and each subclass that has none of its own gets a copy."""

from inspect import getattr_static
from types import FunctionType

import torch
from torch import nn


class Change(nn.Module):
    def __init_subclass__(cls, **words):
        super().__init_subclass__(**words)
        method = getattr_static(cls, "forward")
        if "forward" not in cls.__dict__ and isinstance(method, FunctionType):
            cls.forward = FunctionType(method.__code__, method.__globals__, "forward", method.__defaults__)

    def forward(self, x, times=2):
        return self.apply_to(x) * times

    def apply_to(self, x):
        raise NotImplementedError


class Shift(Change):
    def apply_to(self, x):
        return x + 1


class Own(Change):
    def forward(self, x):
        return x - 1


for change in (Shift(), Own(), Change()):
    own = "forward" in type(change).__dict__
    print(own, type(change).__dict__["forward"] is Change.__dict__["forward"])
    if type(change) is not Change:
        print(change(torch.ones(2)).tolist())
