"""A critic whose layers are normalised the old way: counted, flattened, clipped, saved."""

import torch
import torch.nn as nn
from torch.nn.utils import clip_grad_norm_, parameters_to_vector, remove_spectral_norm, spectral_norm, weight_norm


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = spectral_norm(nn.Conv2d(1, 2, 3, padding=1, bias=False), n_power_iterations=2)
        self.up = spectral_norm(nn.ConvTranspose2d(2, 3, 2, stride=2))
        self.fc = weight_norm(nn.Linear(3, 2))
        self.table = spectral_norm(nn.Embedding(4, 2))

    def forward(self, x, index):
        return self.fc(self.up(self.conv(x)).mean((2, 3))) + self.table(index)


net = Critic()
print([n for n, _ in net.named_parameters()])
print([n for n, _ in net.named_buffers()])
print(sorted(net.state_dict()))
print(len(parameters_to_vector(net.parameters())), sum(b.numel() for b in net.buffers()))
with torch.no_grad():
    for p in net.parameters():
        p.copy_(torch.linspace(-1.0, 1.0, p.numel()).view(p.shape))
    for b in net.buffers():
        b.copy_(torch.ones_like(b) / b.numel() ** 0.5)
optimizer = torch.optim.AdamW(net.parameters(), lr=0.01, weight_decay=0.1)
x, index = torch.arange(16.0).view(1, 1, 4, 4) / 16, torch.tensor([1])
for _ in range(3):
    optimizer.zero_grad()
    loss = net(x, index).pow(2).sum()
    loss.backward()
    norm = clip_grad_norm_(net.parameters(), 0.5)
    optimizer.step()
    print(round(loss.item(), 4), round(float(norm), 4))
print(sum(len(g["params"]) for g in optimizer.param_groups))
for b in net.buffers():
    print(tuple(b.shape), round(b.norm().item(), 4))
net.eval()
print([round(v, 3) for v in net(x, index).flatten().tolist()])
remove_spectral_norm(net.conv)
print([n for n, _ in net.conv.named_parameters()], [n for n, _ in net.conv.named_buffers()])
