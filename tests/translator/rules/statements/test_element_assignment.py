"""Elements that are assigned: numbers that are written into float64."""

from __future__ import annotations

import pytest

from torch2ms.config import Options, Target
from torch2ms.translator.pipeline import translate_source


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("x = torch.zeros(3).double()\nx[1] = 0.1\n", "x[1] = ms.Tensor(0.1, ms.float64)"),
        ("x = torch.zeros(3, dtype=torch.float64)\nx[x > 1] = -0.3\n", "x[x > 1] = ms.Tensor(-0.3, ms.float64)"),
        ("x = torch.zeros(3).double()\nx[1] = 0.5\n", "x[1] = 0.5"),  # float32 holds it
        ("x = torch.zeros(3).double()\nx[1] = float('inf')\n", "x[1] = float('inf')"),
        ("x = torch.zeros(3).double()\nx[1] = 1e300\n", "x[1] = ms.Tensor(1e300, ms.float64)"),
        ("x = torch.zeros(3)\nx[1] = 0.1\n", "x[1] = 0.1"),
        ("def f(x):\n    x[1] = 0.1\n    return x.exp()\n", "x[1] = 0.1"),
    ],
)
def test_numbers_are_written_into_float64_with_all_their_digits(text: str, made: str) -> None:
    assert f"{made}\n" in translate_source(f"import torch\n{text}").text


def test_they_are_for_any_release() -> None:
    """MindSpore 2.0 has no ``mindspore.tensor``."""
    options = Options(Target(mindspore=(2, 0)))
    text = translate_source("import torch\nx = torch.zeros(3).double()\nx[1] = 0.1\n", options=options).text
    assert "x[1] = ms.Tensor(0.1, ms.float64)\n" in text


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("z[0] = 1 + 0.5j", "z[0] = ms.Tensor(1 + 0.5j, ms.complex64)"),
        ("z[1:] = 2j", "z[1:] = ms.Tensor(2j, ms.complex64)"),
        ("w[0] = -1j", "w[0] = ms.Tensor(-1j, ms.complex128)"),
        ("z[0] = 4.0", "z[0] = 4.0"),
    ],
)
def test_complex_numbers_are_written_as_tensors(statement: str, expected: str) -> None:
    source = "import torch\nz = torch.tensor([1, 2 + 1j])\nw = torch.zeros(2, dtype=torch.complex128)\n"
    assert translate_source(f"{source}{statement}\nprint(z, w)\n").text.splitlines()[-2] == expected
