"""A network that is called env, its loss called model, and an optimizer called mask."""

import torch
from torch import nn


class Cube(nn.Module):
    def forward(self, given, wanted):
        return ((given - wanted).abs() ** 3).mean()


def fit(env, model, mask, loader, device):
    history = []
    for label, scaler in loader:
        mask.zero_grad()
        criterion = env(label)
        env_loss = model(criterion, scaler)
        env_loss.backward()
        mask.step()
        device.append(round(env_loss.item(), 5))
        history.append(criterion.detach().sum().item())
    return history


env = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
with torch.no_grad():
    for i, p in enumerate(env.parameters()):
        p.copy_(torch.linspace(-1, 1, p.numel()).view(p.shape) * 0.3 + 0.05 * i)
data = [(torch.full((2, 3), 0.5 * k), torch.full((2, 1), 1.0 - k)) for k in range(4)]
device = []
ways = {"fit": fit}
for _ in range(2):
    print([round(v, 4) for v in ways["fit"](env, Cube(), torch.optim.SGD(env.parameters(), lr=0.02), data, device)])
print(device)
