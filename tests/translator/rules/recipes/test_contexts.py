"""Gradient contexts: where they go, and where they stay."""

from __future__ import annotations

import pytest

from torch2ms import translate_source

HELPER = """import torch
from torch import nn


def limit(x):
    with torch.no_grad():
        return x.max()


"""
NETWORK = """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)
        {start}

    def forward(self, x):
        return {body}
"""
KEPT = "def limit(x):\n    with autograd.no_grad():\n        return x.max()\n"
GONE = "def limit(x):\n    return x.max()\n"


@pytest.mark.parametrize(
    ("start", "body", "made"),
    [
        ("pass", "x / limit(x)", KEPT),
        ("pass", "self.scaled(x, limit)", KEPT),
        ("pass", "x / half(x)\n\n\ndef half(x):\n    return limit(x) / 2", KEPT),
        ("self.largest = limit(self.fc.weight)", "self.fc(x)", GONE),
        ("pass", "self.fc(x)", GONE),
    ],
)
def test_no_grad_stays_in_functions_that_a_forward_pass_may_call(start: str, body: str, made: str) -> None:
    assert made in translate_source(HELPER + NETWORK.format(start=start, body=body)).text
