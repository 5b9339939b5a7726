"""Whole numbers that float32 does not hold, as the value of masked_fill."""

from __future__ import annotations

import pytest

from torch2ms.translator.pipeline import translate_source


def last_line(text: str) -> str:
    given = "x: torch.Tensor, m: torch.Tensor, value: int"
    return translate_source(f"import torch\n\n\ndef f({given}):\n    {text}\n").text.strip().splitlines()[-1].strip()


@pytest.mark.parametrize(
    "text",
    [
        "return x.masked_fill(m, 0)",
        "return x.masked_fill(m, -100)",
        "return x.masked_fill(m, 2**20)",
        "return x.masked_fill(m, value)",
        "return x.masked_fill(m, float('-inf'))",
        "return x.masked_fill(m, -1e9)",
        "return x.masked_fill(m, torch.finfo(torch.float32).min)",
        "return x.float().masked_fill(m, -1000000000)",
    ],
)
def test_what_float32_holds_stays_a_method(text: str) -> None:
    assert ".masked_fill(m, " in last_line(text)
    assert "functional.masked_fill" not in last_line(text)


@pytest.mark.parametrize(
    "text",
    [
        "return x.masked_fill(m, 2147483647)",
        "return x.masked_fill(value=-(2**31), mask=m)",
        "return x.masked_fill(m, 2**40 + 1)",
        "return torch.masked_fill(x, m, torch.iinfo(torch.int64).max)",
        "return x.masked_fill(m, torch.iinfo(x.dtype).min + 1)",
    ],
)
def test_a_large_whole_number_goes_to_the_runtime(text: str) -> None:
    assert "functional.masked_fill(x, " in last_line(text)


def test_in_place_as_well() -> None:
    text = translate_source("import torch\n\nx = torch.arange(4)\nx.masked_fill_(x < 2, 2147483647)\n").text
    assert "x = functional.masked_fill(x, x < 2, 2147483647)" in text
