import torch
import torch.nn.functional as F
from torch import nn

from fixed import fill, points


class NTXent(nn.Module):
    def __init__(self, temperature=0.5):
        super().__init__()
        self.temperature = temperature

    def forward(self, a, b):
        n = a.size(0)
        z = F.normalize(torch.cat([a, b], dim=0), dim=1)
        similarity = torch.mm(z, z.t()) / self.temperature
        mask = torch.eye(2 * n, dtype=torch.bool)
        similarity = similarity.masked_fill(mask, -1e9)
        targets = torch.cat([torch.arange(n) + n, torch.arange(n)])
        return F.cross_entropy(similarity, targets)


x, _ = points(count=16)
encoder = fill(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 4)))
criterion = NTXent()
optimizer = torch.optim.Adam(encoder.parameters(), lr=0.01)
for step in range(6):
    first, second = x + 0.1 * torch.sin(x * 3), x - 0.1 * torch.cos(x * 2)
    loss = criterion(encoder(first), encoder(second))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
