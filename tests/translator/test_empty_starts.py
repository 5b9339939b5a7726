"""Tensors that are joined to one that begins empty: torch skips it, whatever its rank is."""

from __future__ import annotations

import pytest

from torch2ms import translate_source

LOOP = """import torch
from collections import defaultdict
{start}
for x in batches:
    {name} = torch.cat({parts}, 0)
"""


@pytest.mark.parametrize(
    ("start", "name"),
    [
        ("found = torch.tensor([])", "found"),
        ("found = torch.Tensor().cuda()", "found"),
        ("found = torch.empty(0)", "found"),
        ("found = torch.LongTensor([])", "found"),
        ("found = {'a': torch.tensor([])}", "found['a']"),
        ("found = defaultdict(torch.Tensor)", "found['a']"),
    ],
)
def test_an_empty_start_is_skipped(start: str, name: str) -> None:
    source = LOOP.format(start=start, name=name, parts=f"({name}, x)")
    assert f"{name} = functional.cat(({name}, x), 0)" in translate_source(source).text


@pytest.mark.parametrize(
    "start", ["found = torch.zeros(1, 3)", "found = torch.tensor([1.0])", "found = torch.zeros(0, 3)", "found = first"]
)
def test_other_starts_are_joined_by_mindspore(start: str) -> None:
    source = LOOP.format(start=start, name="found", parts="(found, x)")
    assert "found = ops.cat((found, x), 0)" in translate_source(source).text
