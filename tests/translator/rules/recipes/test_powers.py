"""Powers whose exponent is 0, or may be: the slope of ``x ** 0`` is 0 where ``x`` is 0."""

from __future__ import annotations

import pytest

from torch2ms.translator.pipeline import translate_source

HEAD = "import torch\n\nx, y = torch.zeros(3), [1, 2]\nn = 2\n"


def emitted(code: str) -> str:
    return translate_source(HEAD + code).text.splitlines()[-1]


@pytest.mark.parametrize(
    ("code", "wanted"),
    [
        ("a = [x**i for i in range(3)]", "a = [functional.power(x, i) for i in range(3)]"),
        ("a = [x.pow(i) for i in range(0, 3)]", "a = [functional.power(x, i) for i in range(0, 3)]"),
        (
            "a = sum(c * torch.pow(x, k) for k, c in enumerate(y))",
            "a = sum(c * functional.power(x, k) for k, c in enumerate(y))",
        ),
        ("for i in range(4):\n    a = x**i", "    a = functional.power(x, i)"),
        ("a = x**0", "a = functional.power(x, 0)"),
    ],
)
def test_exponents_that_may_be_zero(code: str, wanted: str) -> None:
    assert emitted(code) == wanted


@pytest.mark.parametrize(
    "code",
    [
        "a = x**2",
        "a = x**n",
        "a = x.pow(n)",
        "a = [x**i for i in range(1, 3)]",
        "a = [x**i for i in y]",
        "a = [x**c for k, c in enumerate(y)]",
        "a = [n**i for i in range(3)]",
    ],
)
def test_what_stays(code: str) -> None:
    assert emitted(code).replace("ops.pow(x, n)", "x.pow(n)") == code
