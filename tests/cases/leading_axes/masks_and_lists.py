"""Masks, lists and tensors of places take values with a leading axis of one."""

import torch

x = torch.zeros(4, 3)
x[[1, 3]] = torch.arange(6.0).reshape(1, 2, 3)
x[x > 3] = torch.tensor([[9.0]])
print(x.tolist())
index = torch.tensor([0, 2])
x[index] = torch.arange(6.0).reshape(1, 2, 3) + 10
x[..., 1] = torch.arange(4.0).unsqueeze(0)
print(x.tolist())
keep = torch.tensor([True, False, False, True])
x[keep] = torch.full((1, 1, 3), -1.0)
x[0, 2] = torch.tensor([[5.0]])
print(x.tolist())
rows = torch.ones(1, 2, 3)
x[:2] = rows * 7
x[2:, 0] = rows[:, 0, :2]
print(x.tolist())
