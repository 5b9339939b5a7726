import torch

buffer = torch.zeros(3)
for step in range(3):
    torch.add(buffer, step, out=buffer)
print(buffer.tolist())
rows = torch.zeros(2, 3)
torch.mul(torch.ones(3), 2, out=rows[1])
print(rows.tolist())
whole = torch.zeros(3, dtype=torch.int64)
torch.add(torch.tensor([1, 2, 3]), 1, out=whole)
print(whole.tolist(), whole.dtype == torch.int64)
