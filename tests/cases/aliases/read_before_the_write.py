import torch
from torch import nn

head = nn.Linear(2, 3)
nn.init.constant_(head.weight, 0.5)
nn.init.constant_(head.bias, -0.1)
sgd = torch.optim.SGD(head.parameters(), lr=0.1)
criterion = nn.L1Loss()
x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
scores = head(x)
same = scores.contiguous()
before = scores.sum().item()
scores[1] = 0.0
loss = criterion(same, torch.ones(2, 3))
loss.backward()
sgd.step()
print(round(before, 4), round(loss.item(), 4), head.weight.tolist())
