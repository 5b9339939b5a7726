"""Limits with more axes than the values that they hold."""

from __future__ import annotations

import pytest

from torch2ms.translator.pipeline import translate_source

HEAD = "import torch\n\nx, rows = torch.ones(3), torch.ones(2, 3)\n"


@pytest.mark.parametrize(
    ("code", "wanted"),
    [
        ("y = torch.clamp(x, rows)", "y = functional.clamp(x, min=rows)"),
        ("y = x.clamp(max=rows * 2)", "y = functional.clamp(x, max=rows * 2)"),
        ("y = torch.clip(x, 0, rows)", "y = functional.clamp(x, min=0, max=rows)"),
        ("y = torch.clamp(rows, x, x + 1)", "y = ops.clamp(rows, x, x + 1)"),
        ("y = x.clamp(0, 1)", "y = x.clamp(0, 1)"),
        ("y = rows.clamp(min=x)", "y = rows.clamp(min=x)"),
        ("y = f().clamp(rows)", "y = f().clamp(rows)"),  # nothing says how many axes it has
    ],
)
def test_limits(code: str, wanted: str) -> None:
    assert translate_source(HEAD + code).text.splitlines()[-1] == wanted
