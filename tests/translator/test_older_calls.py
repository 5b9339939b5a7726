"""Calls that are spelled as older releases had it."""

from __future__ import annotations

import pytest

from torch2ms.translator.pipeline import translate_source


def _translated(body: str) -> str:
    return translate_source(f"import torch\n{body}").text


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            "def f(x):\n    kind = type(x)\n    return kind(x.size(0), 1)\n",
            "return functional.typed_tensor(x.shape[0], 1)",
        ),
        ("def f(x: torch.Tensor):\n    return type(x)([1.0, 2.0])\n", "return functional.typed_tensor([1.0, 2.0])"),
    ],
)
def test_the_class_of_a_tensor_makes_tensors_by_their_sizes(body: str, expected: str) -> None:
    assert expected in _translated(body)


@pytest.mark.parametrize(
    "made",
    [
        "def f(x):\n    kind = type(x)\n    if kind is None:\n        kind = list\n    x.dim()\n    return kind(2)\n",
        "def f(x, device):\n    if isinstance(x, torch.Tensor):\n        return x.to(device)\n    return type(x)(2)\n",
        "def f(x, device):\n    try:\n        return x.to(device)\n    except AttributeError:\n"
        "        return type(x)(f(part, device) for part in x)\n",
        "class A:\n    def copy(self):\n        return type(self)(2)\n",
    ],
)
def test_other_classes_are_called_as_they_are(made: str) -> None:
    assert made.splitlines()[-1] in _translated(made)
    assert "typed_tensor" not in _translated(made)
