"""How tensors lie in memory: what MindSpore answers as torch does, and what is marked."""

from __future__ import annotations

import pytest

from torch2ms.translator.pipeline import translate_source


def marks(text: str) -> list[str]:
    result = translate_source(f"import torch\n\nx = torch.arange(24.0).reshape(2, 3, 4)\n{text}\n")
    return [item.code for item in result.diagnostics if str(item.severity) != "note"]


@pytest.mark.parametrize(
    "text",
    [
        "x.is_contiguous()",
        "x[:, 1:].is_contiguous(), (x + 1).stride()",
        "x.transpose(1, 2).is_contiguous()",
        "y = x.transpose(0, 1)\nassert not y.is_contiguous()",
        "y = x.permute(2, 0, 1)[0].contiguous()\nassert y.is_contiguous()",
        "y = torch.transpose(x, 0, 1)\nprint(y.stride(), x[0].T.stride(0))",
        "def f(z):\n    assert z.is_contiguous()\n",
    ],
)
def test_what_both_answer_alike_has_no_mark(text: str) -> None:
    assert marks(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "y = x.transpose(0, 1)\nassert torch.relu(y).is_contiguous()",
        "y = x.transpose(0, 1) + 1\nprint(y.stride())",
        "y = x.T\ny = y * 2\nprint(y.is_contiguous())",
        "def f(z):\n    assert z.is_contiguous()\nf(x.mT.exp())",
        "print(torch.complex(x, x).real.is_contiguous())",
        "print(x[:1].expand(2, 3, 4).stride())",
    ],
)
def test_what_is_computed_of_a_transposed_tensor_is_marked(text: str) -> None:
    assert set(marks(text)) == {"T2M303"}
