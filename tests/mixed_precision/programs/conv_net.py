"""A convolutional network with batch normalisation; the scale overflows at first."""

import torch
import torch.nn.functional as F
from begin import fill, numbers, weights_of
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 8, 3, padding=1)
        self.bn = nn.BatchNorm2d(8)
        self.conv2 = nn.Conv2d(8, 8, 3, padding=1, stride=2)
        self.fc = nn.Linear(8, 4)

    def forward(self, x):
        x = F.relu(self.bn(self.conv1(x)))
        x = F.relu(self.conv2(x))
        return self.fc(x.mean((2, 3)))


def train(amp, shift):
    net = fill(Net(), shift)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**24, growth_interval=5, enabled=amp)
    losses = []
    for step in range(20):
        x, y = numbers(8, 3, 8, 8, seed=step), torch.arange(8) % 4
        optimizer.zero_grad()
        with torch.autocast(device_type="cpu", dtype=torch.float16, enabled=amp):
            loss = F.cross_entropy(net(x).float(), y)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(net.parameters(), 5.0)
        scaler.step(optimizer)
        scaler.update()
        losses.append(loss.item())
    return losses, scaler.get_scale(), weights_of(net)
