"""The largest and the smallest: of everything, along an axis, of two tensors; and results that arguments decide."""

from __future__ import annotations

import pytest

from torch2ms.translator.pipeline import translate_source


def value_of(expression: str) -> tuple[str, list[str]]:
    """Return what an expression becomes, and the codes of its diagnostics."""
    result = translate_source(
        f"import torch\n\n\ndef f(x: torch.Tensor, y: torch.Tensor, a):\n    return {expression}\n"
    )
    last = result.text.strip().splitlines()[-1].strip()
    return last.removeprefix("return "), [item.code for item in result.diagnostics]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("torch.max(x)", "x.max()"),
        ("torch.max(x + 1)", "(x + 1).max()"),
        ("torch.max(x, 1)", "ops.max(x, 1)"),
        ("torch.max(x, -1, True)", "ops.max(x, -1, True)"),
        ("torch.max(x, dim=1, keepdim=True)", "ops.max(x, axis=1, keepdims=True)"),
        ("torch.max(x, y)", "ops.maximum(x, y)"),
        ("torch.min(x, other=y)", "ops.minimum(x, y)"),
        ("x.min()", "x.min()"),
        ("x.max(x.dim() - 1)", "ops.max(x, x.ndim - 1)"),
        ("x.max(1)[1]", "ops.max(x, 1)[1]"),
        ("torch.max(x, 1).indices", "ops.max(x, 1)[1]"),
        ("x.max(dim=1).values", "ops.max(x, axis=1)[0]"),
        ("x.max(1)[1].eq(y)", "ops.max(x, 1)[1].eq(y)"),
        ("torch.max(x, a)", "functional.max(x, a)"),
        ("(x + y).min(a, True)", "functional.min(x + y, a, True)"),
        ("torch.min(x, a[:, 2:])", "ops.minimum(x, a[:, 2:])"),
        ("x.size(0) * x.dim()", "x.shape[0] * x.ndim"),
    ],
)
def test_extrema(source: str, expected: str) -> None:
    assert value_of(source) == (expected, [])


def test_results_written_elsewhere_are_left() -> None:
    assert value_of("torch.max(x, 1, out=a.b)") == ("torch.max(x, 1, out=a.b)", ["T2M203"])
