import torch
from storage_parts import Storage

storage = Storage(3, 2)
for step in range(3):
    storage.insert(step, torch.full((1, 2), float(step)), torch.ones(1, 1, 2) * step)
storage.insert(0, 5.0, torch.zeros(2))
print(storage.values.tolist(), storage.hidden.tolist())
