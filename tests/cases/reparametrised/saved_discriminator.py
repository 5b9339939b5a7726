"""Checkpoints hold the vectors, and a loaded network computes the same."""

import torch
from torch import nn
from torch.nn.utils import spectral_norm


def discriminator():
    return nn.Sequential(spectral_norm(nn.Linear(4, 3)), nn.LeakyReLU(0.1), spectral_norm(nn.Linear(3, 1)))


first = discriminator()
with torch.no_grad():
    for p in first.parameters():
        p.copy_(torch.arange(p.numel(), dtype=torch.float32).view(p.shape) / 4)
    for b in first.buffers():
        b.fill_(b.numel() ** -0.5)
x = torch.tensor([[1.0, 2.0, 0.5, -1.0]])
for _ in range(5):
    first(x)
torch.save(first.state_dict(), "discriminator.pt")
second = discriminator()
print(second.load_state_dict(torch.load("discriminator.pt")))
first.eval(), second.eval()
print(torch.allclose(first(x), second(x)), round(second(x).item(), 4))
print([k for k in second.state_dict() if k.endswith(("_u", "_v"))])
print(round(sum(p.abs().sum() for p in second.parameters()).item(), 4), len(list(second.parameters())))
