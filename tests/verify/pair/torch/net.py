"""A small network with a residual block, the PyTorch side of the hand-written pair."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Block(nn.Module):
    def __init__(self, channels, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, channels, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, 1, 1, bias=True)
        self.bn2 = nn.BatchNorm2d(channels, momentum=0.2)
        self.down = nn.Sequential(nn.AvgPool2d(2, stride), nn.BatchNorm2d(channels)) if stride > 1 else None

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)))
        y = self.bn2(self.conv2(y))
        return F.relu(y + (x if self.down is None else self.down(x)))


class Net(nn.Module):
    def __init__(self, num_classes=10):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, (5, 3), (2, 1), (2, 1))
        self.pool = nn.MaxPool2d(3, 2, 1)
        self.blocks = nn.Sequential(Block(8), Block(8, 2))
        self.drop = nn.Dropout(0.3)
        self.hidden = nn.Linear(8, 8)
        self.fc = nn.Linear(8, num_classes)

    def forward(self, x):
        x = self.blocks(self.pool(F.relu(self.stem(x))))
        x = torch.flatten(F.adaptive_avg_pool2d(x, 1), 1)
        x = F.gelu(self.hidden(self.drop(x)))
        return self.fc(x)


class Parts(nn.Module):
    """Every kind of state that is not a plain convolution, and nested results."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(11, 6)
        self.conv = nn.Conv1d(6, 8, 3, padding=1)
        self.norm = nn.BatchNorm1d(8)
        self.plain = nn.BatchNorm1d(8, affine=False)
        self.layer_norm = nn.LayerNorm(8)
        self.out = nn.Linear(8, 8, bias=False)
        self.tied = nn.Linear(8, 8, bias=False)
        self.tied.weight = self.out.weight
        self.scale = nn.Parameter(torch.tensor(0.5))
        self.register_buffer("offset", torch.arange(8.0))

    def forward(self, tokens, mask):
        x = self.embedding(tokens).permute(0, 2, 1)
        x = self.plain(self.norm(self.conv(x))).permute(0, 2, 1)
        x = self.layer_norm(x) * self.scale + self.offset
        x = x * mask.unsqueeze(-1).to(x.dtype)
        return {"hidden": x, "logits": (self.tied(self.out(x.mean(1))), x.sum())}


class Single(nn.Module):
    """A network that insists on float32."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 4)

    def forward(self, x):
        return self.fc(x.float())


class Noisy(nn.Module):
    """A network that drops whole samples by itself in training."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 4)

    def forward(self, x):
        if self.training:
            x = x * (torch.rand(x.shape[0], 1) > 0.5)
        return self.fc(x)


class Tokens(nn.Module):
    """A network whose normalized pictures become sequences."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 1)
        self.bn1 = nn.BatchNorm2d(8)

    def forward(self, x):
        return self.bn1(self.conv(x)).flatten(2).transpose(1, 2)


class Waves(nn.Module):
    """A network whose weight is complex."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(6, 4, dtype=torch.complex64))

    def forward(self, x):
        return torch.view_as_real(torch.complex(x, x.flip(1)) @ self.weight)


ACTIVATION = nn.PReLU()


class Shared(nn.Module):
    """A network with a layer that is a default: any two of its kind share it."""

    def __init__(self, act=ACTIVATION):
        super().__init__()
        self.fc = nn.Linear(6, 4)
        self.act = act

    def forward(self, x):
        return self.act(self.fc(x))
