"""What is assigned has leading axes of one: rows, elements and boxes."""

import torch


x = torch.zeros(2, 3)
x[0] = torch.ones(1, 3)
x[1] = torch.full((1, 3), 4.0)
print(x.tolist())
x[0, 1] = torch.tensor([7.0])
x[1, 2] = torch.tensor([[8.0]])
print(x.tolist())
y = torch.zeros(2, 2, 3)
y[0] = x[None]
y[1, 0] = x[1].unsqueeze(0)
y[:, 1] = torch.ones(1, 1, 3)
print(y.tolist())
parts = [torch.ones(1, 1, 3) * i for i in range(2)]
for i, part in enumerate(parts):
    y[i, i] = part
print(y.tolist())
