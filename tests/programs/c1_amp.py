import torch
from torch import nn
from torch.cuda.amp import GradScaler, autocast

from fixed import fill, points

x, y = points()
device = "cuda" if torch.cuda.is_available() else "cpu"
use_amp = device == "cuda"
net = fill(nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.Linear(8, 3))).to(device)
optimizer = torch.optim.Adam(net.parameters(), lr=0.02)
scaler = GradScaler(enabled=use_amp)
for step in range(6):
    optimizer.zero_grad()
    if use_amp:
        with autocast():
            loss = nn.functional.cross_entropy(net(x.to(device)), y.to(device))
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
    else:
        loss = nn.functional.cross_entropy(net(x.to(device)), y.to(device))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
    print(step, loss.item())
