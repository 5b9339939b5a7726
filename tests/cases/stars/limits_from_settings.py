"""Limits that a table of settings gives, spread into functions whose parameters MindSpore orders otherwise."""

import torch

LIMITS = {"low": (-0.5,), "high": (0.25,), "both": (-0.5, 0.25)}


def limited(x, name):
    if name == "low":
        return x.clamp_min(*LIMITS[name])
    if name == "high":
        return x.clamp_max(*LIMITS[name])
    return x.clamp(*LIMITS[name])


values = torch.tensor([-1.0, -0.1, 0.2, 3.0])
for name in sorted(LIMITS):
    print(name, limited(values, name).tolist())
bounds = (values, 0.0)
print(torch.clamp_max(*bounds).tolist(), torch.clamp_min(*bounds).tolist())
