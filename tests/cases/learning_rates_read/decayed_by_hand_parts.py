"""Helpers that a training program imports; nothing here says what an ``o`` is."""


def rate_of(o):
    for group in o.param_groups:
        return group["lr"]


def decay(o, factor):
    for group in o.param_groups:
        group["lr"] *= factor


def table(o):
    return {i: (group["lr"], group.get("weight_decay")) for i, group in enumerate(o.param_groups)}
