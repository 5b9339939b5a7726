import torch
from scaling_parts import scale_rows, unchanged

weights = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
again = unchanged(weights)
again[0, 0] = 10
print(weights.tolist())
scaled = scale_rows(weights, 0.5)
print(weights.tolist(), scaled.tolist())
