"""Tensors compared with what numpy holds: MindSpore's answer one False to ``labels == np.int64(1)``."""

from __future__ import annotations

import pytest

from torch2ms import translate_source

HEAD = "import numpy as np\nimport torch\n\n\ndef use(x: torch.Tensor, labels, other):\n"


def translated(body: str) -> str:
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return translate_source(HEAD + lines).text


@pytest.mark.parametrize(
    "body",
    [
        "for c in [1, 2]:\n    print(x == c)",
        "for c in np.unique(other):\n    print(other == c)",
        "print(np.max(other) == 3)",
        "print(x == x.max())",
        "print(np.unique(other) == np.unique(labels))",
        "print(x < np.max(other))",
        "for c in np.unique(other):\n    print((labels == c) / labels.size)",
    ],
)
def test_what_is_right_as_it_stands_is_left(body: str) -> None:
    found = translated(body)
    assert "Tensor(" not in found.replace("x: ms.Tensor", "")
    assert "functional.equals" not in found


def test_a_number_of_numpys_becomes_a_tensor() -> None:
    assert "m = x == ms.Tensor(c)" in translated("for c in np.unique(other):\n    m = x == c")
    assert "m = ms.Tensor(c) != x" in translated("for c in np.unique(other):\n    m = c != x")


def test_what_is_treated_as_a_tensor_asks_the_runtime() -> None:
    found = translated("for c in np.unique(labels.cpu()):\n    print(labels == c)")
    assert "print(functional.equals(labels, c))" in found


def test_a_function_that_gives_several_arrays_is_none() -> None:
    found = translated("for c in np.unique(other, return_counts=True):\n    m = x == c")
    assert "m = x == c" in found
