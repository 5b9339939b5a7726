"""A network asks a function for targets that have no gradient; the loss is computed in its forward pass."""

import torch
from torch import nn


@torch.no_grad()
def sharpened(logits, temperature):
    p = torch.softmax(logits / temperature, dim=1)
    return p / p.sum(1, keepdim=True)


class Student(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(2, 3)
        nn.init.constant_(self.head.bias, 0.1)
        with torch.no_grad():
            self.head.weight.copy_(torch.arange(6.0).reshape(3, 2) / 10)

    def forward(self, x):
        logits = self.head(x)
        return -(sharpened(logits, 0.5) * torch.log_softmax(logits, 1)).sum(1).mean()


model = Student()
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
for step in range(3):
    optimizer.zero_grad()
    loss = model(torch.tensor([[1.0, -1.0], [0.5, 2.0]]))
    loss.backward()
    optimizer.step()
    print(round(loss.item(), 5))
print(model.head.weight.tolist())
