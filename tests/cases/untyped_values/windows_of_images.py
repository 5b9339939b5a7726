"""Bounds of slices that numpy computes: sums of its numbers and of plain ones."""

import numpy as np
import torch

image = torch.arange(48.0).reshape(1, 6, 8)
size = np.int64(3)


def window(image, top, left, height):
    return image[:, top : top + height, left : left + 2 * height - 1]


for top, left in np.array([[0, 1], [2, 3]]):
    print(window(image, top, left, size).tolist())
print(window(image, 1, 1, 2).tolist(), window(image, 0, 0, 1)[:, :, : size - 2].tolist())
