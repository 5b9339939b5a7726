"""Casts to integers and booleans: torch's gradient ends there, MindSpore's has to be told to."""

from __future__ import annotations

import pytest

from torch2ms import translate_source

HEAD = """import torch
from torch import nn
from torch.nn import functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.emb = nn.Embedding(10, 3)

    def forward(self, x, ids, mask):
        x = self.fc(x)
"""


def translated(*lines: str) -> list[str]:
    text = translate_source(HEAD + "".join(f"        {line}\n" for line in lines)).text
    return [line.strip() for line in text.partition("x = self.fc(x)\n")[2].splitlines()]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("return x - x.long()", "return x - ops.stop_gradient(x).long()"),
        ("return x.bool().to(x)", "return ops.stop_gradient(x).bool().astype(x.dtype)"),
        ("return x.byte().float()", "return ops.stop_gradient(x).astype(ms.uint8).float()"),
        ("return x.to(torch.int32) * 2.5", "return ops.stop_gradient(x).astype(ms.int32) * 2.5"),
        ("return x.type(torch.int32) * 2.5", "return ops.stop_gradient(x).astype(ms.int32) * 2.5"),
        ("return x.type(torch.LongTensor)", "return ops.stop_gradient(x).astype(ms.int64)"),
        (
            "return x * torch.as_tensor(x, dtype=torch.long)",
            "return x * ms.Tensor(ops.stop_gradient(x), dtype=ms.int64)",
        ),
    ],
)
def test_what_comes_back_to_floats_is_cut_off(source: str, expected: str) -> None:
    assert translated(source) == [expected]


def test_a_name_is_followed() -> None:
    assert translated("i = x.long()", "return x - i")[0] == "i = ops.stop_gradient(x).long()"
    assert translated("i = x.long()", "j = i + 1", "return x[j], j.float()")[0] == "i = ops.stop_gradient(x).long()"
    assert translated("i = x.long()", "return self.emb(i), x[i], i.shape")[0] == "i = x.long()"


@pytest.mark.parametrize(
    "source",
    [
        "return x - x.floor().long()",  # no gradient comes this far
        "return x * (x > 0).int()",
        "return x * x.argmax(1).int()",
        "return x * x.detach().long()",
        "return self.emb(ids.long())",  # an index brings none back
        "return F.one_hot(ids.long(), 3), x[ids.long()]",
        "return F.cross_entropy(x, mask.long())",
        "return x.masked_fill(~mask.bool(), 0.0)",
        "if x.bool().any():\n            return x",
        "print(x.long())",
        "return x.long().sum().item()",
        "return x.long() > 3",
        "return x.float()",
    ],
)
def test_other_casts_stay(source: str) -> None:
    assert "stop_gradient" not in "".join(translated(source)).replace("x * ops.stop_gradient(x).long()", "")
