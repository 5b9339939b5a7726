"""Chains on what an index gives: a copy for a tensor or a list, a view for a number."""

import torch

x = torch.arange(6.0).reshape(3, 2)
t = torch.tensor([0, 2])
i = torch.tensor(1)
print(x[t].unsqueeze_(0).clone().shape, x[t].unsqueeze_(0).clone().add_(1).tolist())
print(x[[0, 1]].mul_(10).sum().item(), x[x > 2].neg_().tolist())
kept = x[t].unsqueeze_(1).add_(5).clone()
print(kept.tolist(), x.tolist())
print(x[i].unsqueeze_(0).clone().tolist(), x[2].unsqueeze_(0).shape)
picked = x[t].squeeze_().mul_(2)
print(picked.tolist(), x.tolist())
