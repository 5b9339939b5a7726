import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels)
        self.down = nn.Sequential(nn.Conv2d(channels, channels, 1), nn.BatchNorm2d(channels))

    def forward(self, x):
        return torch.relu(self.bn1(self.conv1(x)) + self.down(x))


class ResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(1, 4, 1)
        self.blocks = nn.Sequential(Block(4), Block(4))

    def forward(self, x):
        return self.blocks(self.stem(x)).mean((2, 3))


class FrozenNorm(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.register_buffer("scale", torch.full((channels,), 2.0))

    def forward(self, x):
        return x * self.scale.view(1, -1, 1, 1)


def convert(module, groups):
    for name, child in module.named_children():
        if isinstance(child, nn.BatchNorm2d):
            setattr(module, name, nn.GroupNorm(groups, child.num_features))
        elif len(list(child.children())) > 0:
            convert(child, groups)
    return module


def freeze_norms(module):
    count = 0
    for name, child in module._modules.items():
        if isinstance(child, nn.GroupNorm):
            module._modules[name] = FrozenNorm(child.num_channels)
            count += 1
        elif child is not None:
            count += freeze_norms(child)
    return count
