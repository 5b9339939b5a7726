import torch
from torch import nn

from means_parts import center, noisy_


def scale(x):
    with torch.no_grad():
        s = x.abs().max()
    return x / s


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)
        noisy_(self.fc.weight)

    def forward(self, x):
        return scale(center(self.fc(x)))
