"""Classes of the program that have ``param_groups`` too: one hands attributes on, one has a property, one keeps them."""

import json

import torch


class HandsOn:
    def __init__(self, inner):
        self.inner = inner

    def __getattr__(self, name):
        return getattr(self.__dict__["inner"], name)


class Property:
    def __init__(self, inner):
        self.inner = inner

    @property
    def param_groups(self):
        return self.inner.param_groups


class Keeps:
    def __init__(self, inner):
        self.param_groups = inner.param_groups


class Fake:
    def __init__(self, rate):
        self.param_groups = [{"lr": rate, "momentum": 0}]


def show(o):
    (rate,) = [group["lr"] for group in o.param_groups]
    print(rate, rate == 0.1, "lr=" + str(rate), sum([rate, rate]))
    first = o.param_groups[0]
    print(first["lr"], first["momentum"], json.dumps(dict(lr=first["lr"])), min(g["lr"] for g in o.param_groups))


w = torch.nn.Parameter(torch.ones(2))
plain = torch.optim.SGD([w], lr=0.1, momentum=0.9)
for wrap in (HandsOn, Property, Keeps, lambda o: o, lambda o: Fake(0.1)):
    show(wrap(plain))
