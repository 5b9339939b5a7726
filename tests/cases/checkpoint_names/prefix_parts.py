"""Prefixes of names, taken off and put on."""

from collections import OrderedDict


def strip(state, prefix="module."):
    found = OrderedDict()
    for key, value in state.items():
        found[key[len(prefix) :] if key.startswith(prefix) else key] = value
    return found


def add(state, prefix):
    return {prefix + key: value for key, value in state.items()}


def pick(state, part):
    return {k.replace(part + ".", "", 1): v for k, v in state.items() if k.split(".")[0] == part}
