"""Weights of one-dimensional convolutions, which MindSpore keeps with a height of 1."""

from __future__ import annotations

import pytest

from torch2ms import translate_source

SOURCE = """import torch
from torch import nn
from torch.nn import functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(4, 4, 1)
        self.plane = nn.Conv2d(4, 4, 1)

    def forward(self, x: torch.Tensor):
"""


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("return self.conv.weight.squeeze()", "return self.conv.weight.squeeze(2).squeeze()"),
        ("return self.conv.weight[:, :, 0]", "return self.conv.weight.squeeze(2)[:, :, 0]"),
        ("return self.conv.weight.size(2)", "return self.conv.weight.squeeze(2).shape[2]"),
        ("return self.conv.weight * 2", "return self.conv.weight.squeeze(2) * 2"),
        ("self.conv.weight.data = x", "self.conv.weight.data = x.reshape(self.conv.weight.shape)"),
        ("self.conv.weight.data.copy_(x)", "ops.assign(self.conv.weight, x.reshape(self.conv.weight.shape))"),
        ("return F.conv1d(x, self.conv.weight)", "return functional.conv1d(x, self.conv.weight)"),
        ("return self.plane.weight[0]", "return self.plane.weight[0]"),
        ("return self.conv.bias[0]", "return self.conv.bias[0]"),
    ],
)
def test_reading_and_writing(statement: str, expected: str) -> None:
    assert translate_source(f"{SOURCE}        {statement}\n").text.endswith(f"        {expected}\n")
