"""Memory that nothing but one name sees: arrays that became tensors, tensors in another shape, sparse ones as made."""

import numpy as np
import torch


def filled(n):
    numbers = np.arange(n)
    tensor = torch.from_numpy(numbers)
    tensor[0] = 7
    return tensor


def smaller():
    x = torch.arange(6).reshape(3, 2).clone()
    y = x.resize_(2, 2)
    return x + y


rows = torch.eye(3).to_sparse_csr()
print(rows.col_indices(), rows.crow_indices(), rows._nnz())
grid = torch.arange(12.0)
print(torch.as_strided(grid, (2, 3), (1, 4)))
print(filled(4), smaller())

matrices = torch.tensor([[[2.0, 0.0], [1.0, 4.0]], [[1.0, 1.0], [0.0, 2.0]]])
print(torch.linalg.solve(matrices, torch.tensor([[2.0], [4.0]])).shape)
print(torch.linalg.solve(matrices, torch.tensor([[2.0, 4.0], [3.0, 4.0]])))
print(torch.as_strided_scatter(torch.zeros(3, 3), torch.arange(4).reshape(2, 2), (2, 2), (1, 2)))
print("both", *torch.eye(2), sep="; ")
print(*torch.tensor([[3.0, 5.0], [4.0, 1.0]]).max(0))
