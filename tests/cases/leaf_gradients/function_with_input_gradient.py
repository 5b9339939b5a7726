"""One function trains a step and gives the gradient by its input back."""

import torch
import torch.nn as nn
import torch.nn.functional as F


def train_step(model, opt, images, labels):
    images = images.clone().detach().requires_grad_(True)
    opt.zero_grad()
    logits = model(images)
    loss = F.cross_entropy(logits, labels)
    loss.backward()
    opt.step()
    return loss.item(), images.grad.detach().clone()


model = nn.Sequential(nn.Flatten(), nn.Linear(6, 3))
with torch.no_grad():
    model[1].weight.copy_(torch.linspace(-1, 1, 18).reshape(3, 6))
    model[1].bias.fill_(0.1)
opt = torch.optim.Adam(model.parameters(), lr=0.1)
batch = torch.linspace(0, 1, 12).reshape(2, 2, 3)
labels = torch.tensor([0, 2])
for _ in range(2):
    loss, g = train_step(model, opt, batch, labels)
    print(round(loss, 4), tuple(g.shape), round(g.norm().item(), 5), [round(v, 4) for v in g[0, 0].tolist()])
