"""A small residual network, into whose translation test_layers.py plants defects."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Block(nn.Module):
    def __init__(self, channels_in, channels, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(channels_in, channels, 3, stride=stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=2, dilation=2, bias=False)
        self.bn2 = nn.BatchNorm2d(channels, momentum=0.2)
        self.downsample = None
        if stride != 1 or channels_in != channels:
            self.downsample = nn.Sequential(
                nn.Conv2d(channels_in, channels, 1, stride=stride, bias=False),
                nn.BatchNorm2d(channels),
            )

    def forward(self, x):
        identity = x
        out = self.conv1(x)
        out = self.bn1(out)
        out = self.relu(out)
        out = self.conv2(out)
        out = self.bn2(out)
        if self.downsample is not None:
            identity = self.downsample(x)
        out += identity
        return F.relu(out)


class Gate(nn.Module):
    """Scale the channels by what their means say."""

    def __init__(self, channels):
        super().__init__()
        self.scale = 2.0
        self.register_buffer("shift", torch.linspace(-1.0, 1.0, channels), persistent=False)
        self.down = nn.Linear(channels, 4)
        self.act = nn.GELU()
        self.up = nn.Linear(4, channels)

    def forward(self, x):
        mean = x.mean(dim=(2, 3))
        std = x.flatten(2).std(dim=2)
        weight = torch.sigmoid(self.up(self.act(self.down(mean + std))) + self.shift)
        return x * weight[:, :, None, None] * self.scale


class Net(nn.Module):
    def __init__(self, num_classes=5, device=None, dtype=None):
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, 8, 5, stride=2, padding=2),
            nn.BatchNorm2d(8, eps=1e-3),
            nn.LeakyReLU(0.1),
            nn.MaxPool2d(3, stride=2, padding=1),
        )
        self.layer1 = Block(8, 8)
        self.layer2 = Block(8, 16, stride=2)
        self.gate = Gate(16)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.drop = nn.Dropout(0.25)
        self.fc = nn.Linear(16, num_classes, device=device, dtype=dtype)

    def forward(self, x):
        x = self.stem(x)
        x = self.layer1(x)
        x = self.layer2(x)
        x = self.gate(x)
        x = self.pool(x).flatten(1)
        return self.fc(self.drop(x))
