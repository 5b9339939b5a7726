"""Indices that torch takes and MindSpore does not."""

from __future__ import annotations

import pytest

from torch2ms.translator.pipeline import translate_source

HEAD = """import numpy as np
import torch


def f(x: torch.Tensor, u, n: int):
    order = np.random.permutation(n)
    i = 3
"""


@pytest.mark.parametrize(
    "index",
    ["i", "i:2", ":, i", "[0, 1]", "x > 0", "None, ...", "order.tolist()", "int(np.argmax(order))", "u", "np.newaxis",
     "np.ix_(order, order)", "np.where(order > 2)"],
)  # fmt: skip
def test_what_stays(index: str) -> None:
    assert f"return x[{index}]" in translate_source(f"{HEAD}    return x[{index}]\n").text


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        ("range(3)", "list(range(3))"),
        ("order", "ms.Tensor(order)"),
        ("order[:2]", "ms.Tensor(order[:2])"),
        ("np.argmax(order), 1", "ms.Tensor(np.argmax(order)), 1"),
        (":, order > 2", ":, ms.Tensor(order > 2)"),
    ],
)
def test_arrays_and_ranges(index: str, expected: str) -> None:
    assert f"return x[{expected}]" in translate_source(f"{HEAD}    return x[{index}]\n").text


def test_an_array_is_indexed_by_arrays_as_before() -> None:
    assert "return order[np.argmax(order)]" in translate_source(f"{HEAD}    return order[np.argmax(order)]\n").text
