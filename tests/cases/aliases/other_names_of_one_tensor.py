import torch

counts = torch.arange(6.0)
same = +counts
same += 1
print(counts.tolist())

angles = torch.tensor([0.5, -1.0, 2.0])
mirrored = torch.conj(angles)
mirrored.mul_(2)
print(angles.tolist(), mirrored.tolist())

table = torch.zeros(2, 3)
flat = table.contiguous()
flat[1, 2] = 7
turned = table.t().contiguous()
turned[0] = -1
print(table.tolist(), turned.tolist())
