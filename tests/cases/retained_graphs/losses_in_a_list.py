# The losses stand in a list, and each is differentiated by itself; not all reach every weight.
import torch
import torch.nn as nn

trunk = nn.Sequential(nn.Linear(3, 4), nn.LayerNorm(4))
heads = nn.ModuleList([nn.Linear(4, 1) for _ in range(3)])
for number, weight in enumerate([*trunk.parameters(), *heads.parameters()]):
    with torch.no_grad():
        weight.copy_(torch.cos(torch.arange(float(weight.numel())) * (number + 1)).reshape(weight.shape) / 2)
optimizer = torch.optim.Adam([*trunk.parameters(), *heads.parameters()], lr=0.01)
x = torch.sin(torch.arange(6.0)).reshape(2, 3)

for step in range(3):
    optimizer.zero_grad()
    shared = trunk(x)
    losses = [(head(shared) - k).pow(2).mean() for k, head in enumerate(heads)]
    for k, loss in enumerate(losses):
        loss.backward(retain_graph=k < len(losses) - 1)
    optimizer.step()
    print([round(loss.item(), 4) for loss in losses])
