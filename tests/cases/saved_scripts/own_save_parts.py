import torch
from torch import nn


class Saved(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.fc = nn.Linear(size, size, bias=False)

    def forward(self, x):
        return self.fc(x)

    def save(self, path):
        torch.save(self.state_dict(), path)

    def restore(self, path):
        self.load_state_dict(torch.load(path))
