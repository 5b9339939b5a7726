"""Losses in a dictionary and in a list, summed by sum() and by a loop; some are weighed."""

import torch
from torch import nn
import torch.nn.functional as F


class Heads(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(2, 3)
        self.cls = nn.Linear(3, 2)
        self.box = nn.Linear(3, 4)
        for i, p in enumerate(self.parameters()):
            nn.init.constant_(p, 0.1 + 0.05 * i)

    def forward(self, x, labels, boxes):
        h = torch.tanh(self.body(x))
        losses = {}
        losses["cls"] = F.cross_entropy(self.cls(h), labels)
        losses["box"] = F.smooth_l1_loss(self.box(h), boxes)
        return losses


model = Heads()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
weights = {"cls": 1.0, "box": 2.0}
data = [(torch.tensor([[0.1, 0.9], [0.4, 0.3]]), torch.tensor([0, 1]), torch.full((2, 4), 0.5))] * 3
running = {}
for step, (x, labels, boxes) in enumerate(data):
    loss_dict = model(x, labels, boxes)
    losses = sum(loss_dict[k] * weights[k] for k in loss_dict if k in weights)
    parts = []
    for name, value in loss_dict.items():
        parts.append(value.detach())
        running[name] = running.get(name, 0.0) + value.item()
    optimizer.zero_grad()
    losses.backward()
    optimizer.step()
    print(step, round(losses.item(), 5), round(torch.stack(parts).sum().item(), 5))
print({k: round(v, 5) for k, v in running.items()})

steps = []
for x, labels, boxes in data[:2]:
    several = [v for v in model(x, labels, boxes).values()]
    several.append(0.1 * sum(p.abs().sum() for p in model.parameters()))
    total = sum(several)
    optimizer.zero_grad()
    total.backward()
    optimizer.step()
    steps.append(total.item())
print([round(s, 5) for s in steps])
