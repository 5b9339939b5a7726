"""The texts of tensors in the translation: as PyTorch writes them where a program makes values of them, or is small."""

from __future__ import annotations

import pytest

from torch2ms import translate_source


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("print('x', x)", "print('x', functional.tensor_text(x))"),
        ("s = str(x)", "s = functional.tensor_text(x)"),
        ("s = repr([x.sum()])", "s = functional.tensor_text([x.sum()])"),
        ("s = f'{x} {x.sum()}'", "s = f'{functional.formatted_text(x)} {x.sum().item()}'"),
        ("s = f'{x!r}'", "s = f'{functional.tensor_text(x)}'"),
        ("s = '%s: %d' % (x, 3)", "s = '%s: %d' % (functional.tensor_text(x), 3)"),
        ("s = '{}'.format(x)", "s = '{}'.format(functional.formatted_text(x))"),
    ],
)
def test_become_those_of_pytorch(code: str, expected: str) -> None:
    assert expected in translate_source(f"import torch\nx = torch.arange(3.0)\n{code}\n").text


@pytest.mark.parametrize(
    "code",
    [
        "print(n, str(n), f'{n}')",
        "print(x.tolist(), x.sum().item())",
        "print(x)\nnet.named_parameters()",  # a network's program shows its losses to people
        "s = '%d' % n",
    ],
)
def test_stay(code: str) -> None:
    text = f"import torch\nx = torch.arange(3.0)\nn = x.shape[0]\n{code}\n"
    assert "_text" not in translate_source(text).text
