"""``torch.cuda if use_cuda else torch``: the module whose tensors are on one device or the other is torch itself."""

from __future__ import annotations

import pytest

from torch2ms.translator.pipeline import translate_source

START = "import torch\n\n\ndef f(cuda, make, x):\n"


@pytest.mark.parametrize(
    ("lines", "wanted"),
    [
        (
            "    T = torch.cuda if cuda else torch\n    return T.FloatTensor([1.0])\n",
            "ms.Tensor([1.0], dtype=ms.float32)",
        ),
        (
            "    T = torch if not cuda else torch.cuda\n    return T.LongTensor(2, 3)\n",
            "ops.zeros((2, 3), dtype=ms.int64)",
        ),
    ],
)
def test_the_module_of_either_device(lines: str, wanted: str) -> None:
    result = translate_source(START + lines)
    assert not [d for d in result.diagnostics if d.severity.name != "NOTE"]
    assert wanted in result.text
    assert "torch.cuda" not in result.text


@pytest.mark.parametrize(
    ("line", "codes"),
    [
        ("make(torch.cuda if cuda else torch)", {"T2M208"}),  # who calls through it has MindSpore's names
        ("x.lib = torch.cuda if cuda else torch", {"T2M208"}),
        ("lib = torch.cuda if cuda else None", {"T2M202"}),
        ("lib = torch.nn if cuda else torch", {"T2M208"}),
    ],
)
def test_other_modules_that_are_handed_on_are_marked(line: str, codes: set[str]) -> None:
    assert {d.code for d in translate_source(f"{START}    {line}\n").diagnostics} == codes


HELD = """import torch
from torch import nn


class A(nn.Module):
    def __init__(self, cuda):
        super().__init__()
        self.lib = torch.cuda if cuda else torch
        self.fn = torch.nn.functional
        self.own = cuda

    def forward(self, x):
        return self.lib.LongTensor([1]), self.fn.softmax(x, dim=1), self.own.LongTensor([1])
"""


def test_what_is_called_through_an_attribute_that_holds_a_module_is_translated() -> None:
    """The mark stays: another object's ``a.lib.max(x, 1)`` would be MindSpore's."""
    result = translate_source(HELD)
    assert [d.code for d in result.diagnostics] == ["T2M208", "T2M208"]
    assert "self.lib = ms\n" in result.text
    assert "ms.Tensor([1], dtype=ms.int64), functional.softmax(x, dim=1), self.own.LongTensor([1])" in result.text
