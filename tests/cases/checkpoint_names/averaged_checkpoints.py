"""The mean of several checkpoints, key by key, and statistics of some of them."""

import torch
from torch import nn


def build(value):
    net = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.InstanceNorm1d(3, affine=True), nn.Embedding(4, 3))
    for p in net.parameters():
        nn.init.constant_(p, value)
    net[1].running_var.fill_(value)
    return net


paths = []
for i in range(3):
    paths.append(f"step{i}.pt")
    torch.save({"model": build(float(i + 1)).state_dict(), "step": i}, paths[-1])


def average(paths):
    total = None
    for path in paths:
        state = torch.load(path, map_location="cpu")["model"]
        if total is None:
            total = {k: v.clone() for k, v in state.items()}
        else:
            for k in total:
                total[k] += state[k]
    for k, v in total.items():
        total[k] = v / len(paths) if v.is_floating_point() else v // len(paths)
    return total


mean = average(paths)
print(sorted(mean))
net = build(0.0)
net.load_state_dict(mean)
print(net[1].weight.tolist(), net[1].running_var.tolist(), net[3].weight.mean().item())
weights = {name: value for name, value in mean.items() if name.rsplit(".", 1)[-1] == "weight"}
print({name: tuple(value.shape) for name, value in weights.items()})
decay = [k for k in mean if not (k.endswith("bias") or k.startswith("1."))]
print(decay)
