from torch import nn


def choose(name):
    if name == "group":
        return lambda channels: nn.GroupNorm(1, channels, 1e-3)
    if name == "instance":
        return lambda channels: nn.InstanceNorm2d(channels, 1e-3, 0.1, True)
    return lambda channels: nn.BatchNorm2d(channels, 1e-3, 0.5)


class Basic(nn.Module):
    def __init__(self, channels, norm_layer):
        super().__init__()
        self.norm = norm_layer(channels)
        self.fc = nn.Linear(2, 2, bias=False)

    def forward(self, x):
        return self.fc(self.norm(x))
