"""What the programs beside it import, and give its names away."""

import torch.nn as nn


class Net(nn.Module):
    def __init__(self, rows, width):
        super().__init__()
        self.table = nn.Embedding(rows, width)
        nn.init.constant_(self.table.weight, 0.5)

    def forward(self, left, right):
        left, right = self.table(left), self.table(right)
        return (left * right).sum(-1), (left - 0.5 * right).sum(-1)


def memory():
    return []
