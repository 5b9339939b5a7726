"""Elements that are assigned: numbers that are written into float64."""

from __future__ import annotations

import pytest

from torch2ms.translator.pipeline import translate_source


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("x = torch.zeros(3).double()\nx[1] = 0.1\n", "x[1] = ms.tensor(0.1, ms.float64)"),
        ("x = torch.zeros(3, dtype=torch.float64)\nx[x > 1] = -0.3\n", "x[x > 1] = ms.tensor(-0.3, ms.float64)"),
        ("x = torch.zeros(3).double()\nx[1] = 0.5\n", "x[1] = 0.5"),  # float32 holds it
        ("x = torch.zeros(3).double()\nx[1] = float('inf')\n", "x[1] = float('inf')"),
        ("x = torch.zeros(3).double()\nx[1] = 1e300\n", "x[1] = ms.tensor(1e300, ms.float64)"),
        ("x = torch.zeros(3)\nx[1] = 0.1\n", "x[1] = 0.1"),
        ("def f(x):\n    x[1] = 0.1\n    return x.exp()\n", "x[1] = 0.1"),
    ],
)
def test_numbers_are_written_into_float64_with_all_their_digits(text: str, made: str) -> None:
    assert f"{made}\n" in translate_source(f"import torch\n{text}").text
