"""Functions write what they are handed, numbers, rows, and rows with axes of one, at places they are handed."""

import torch


def gather(rows):
    out = torch.zeros(len(rows), 2)
    for i, row in enumerate(rows):
        out[i] = row
    return out


def place(target, i, value):
    target[i] = value


def column(target, j, value):
    target[:, j] = value


print(gather([torch.ones(1, 2), torch.full((2,), 3.0), 5.0, torch.full((1, 1, 2), 6.0)]).tolist())
t = torch.zeros(3, 2)
place(t, 0, torch.ones(1, 2))
place(t, 1, 4)
place(t, 2, torch.tensor([1.0, 2.0]))
column(t, 1, torch.tensor([[7.0, 8.0, 9.0]]))
print(t.tolist())
images = torch.zeros(2, 1, 2, 2)
place(images, 0, torch.ones(1, 1, 2, 2))
place(images, torch.tensor([False, True]), torch.full((1, 1, 1, 2, 2), 3.0))
place(images, slice(0, 1), 2.0)
print(images.tolist())
