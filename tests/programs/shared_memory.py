"""Who sees a change: copies made by torch.tensor, views; sums of slices that hold nothing."""

import warnings

import torch

warnings.filterwarnings("ignore")


def show(name, *tensors):
    print(name, [[round(v, 3) for v in t.detach().reshape(-1).tolist()] for t in tensors])


def copied(t):
    made = torch.tensor(t)
    made[0] = 7
    typed = torch.tensor(t, dtype=torch.int64)
    typed[1] = 5
    return made, typed


x = torch.arange(4)
y = torch.tensor(x)
y[2:4] = 9
part = torch.tensor(x[1])
part += 5
show("copies", x, y, part, *copied(x), *copied([1, 2]))


def views(a: torch.Tensor):
    wide = a.expand(2, 2, 2)
    a[0, 0] = 70
    first, second = a.split_with_sizes([1, 1])
    second[0, 0] = 80
    moved = a.movedim(0, 1)
    moved[1] = 3
    a[1, 0] = 8
    pieces = a.tensor_split(2)
    a[...] = a + 1
    return a, wide, first, second, moved, *pieces


show("views", *views(torch.tensor([[1.0, -2.0], [3.0, -4.0]])))


def pairs(x, y, i):
    return ((x[i] < x[i + 1 :]) & (y[i] < y[i + 1 :])).sum(0).unsqueeze(0)


x, y = torch.tensor([[0.0], [2.0], [2.5], [8.0]]), torch.tensor([[-0.5], [2.0], [3.0], [1.0]])
print(torch.cat([pairs(x, y, i) for i in range(4)]).sum(0).tolist())
starts = [0, 2, 2, 4]
print([x[starts[i] : starts[i + 1]].sum().item() for i in range(3)])


def within(t):
    if t.dtype not in (torch.bool, torch.int64):
        raise ValueError("ints or bools")
    return bool(t.max() <= 1 and torch.min(t) >= 0)


print(within(torch.tensor([True, False])), within(torch.tensor([0, 3])))
