"""Where tensors go, and in what type, under names that say the opposite."""

import torch


def moved(x, where):
    return x.to(where)


def both(x, dtype, gpu):
    y = torch.zeros(2, device=dtype)
    return (x.to(dtype) + y).to(gpu)


ways = {"moved": moved, "both": both}
x = torch.tensor([1.5, 2.5])
print(ways["moved"](x, torch.float64).dtype == torch.float64, ways["moved"](x, "cpu").tolist())
print(ways["moved"](x, torch.tensor([1, 2])).tolist(), ways["both"](x, torch.device("cpu"), torch.int64).tolist())
