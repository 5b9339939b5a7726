"""A helper that changes what it is handed reaches the tensor behind a part of one."""

from __future__ import annotations

import pytest

from torch2ms.translator.pipeline import translate_source

# The helper gives weights their first values
_FIRST = "class L(torch.nn.Linear):\n    def reset_parameters(self):\n        w = torch.ones(2)\n        scale_(w)\n"


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("scale_(x[1])", "functional.filled(z, z * 2)"),
        ("scale_(z=x[1:])", "functional.filled(z, z * 2)"),
        ("scale_(x.view(-1))", "functional.filled(z, z * 2)"),
        ("row = x[0]\nscale_(row)", "functional.filled(z, z * 2)"),
        ("scale_(torch.nn.Linear(2, 3).weight[0])", "functional.filled(z, z * 2)"),
        ("scale_(x)", "z.copy_(z * 2)"),
        ("scale_(x[x > 1])", "z.copy_(z * 2)"),
        ("scale_(x + 1)", "z.copy_(z * 2)"),
        ("scale_(x.clone())", "z.copy_(z * 2)"),
        ("other(x[1])", "z.copy_(z * 2)"),
    ],
)
def test_a_part_that_a_helper_is_handed_is_written_into(call: str, expected: str) -> None:
    source = "import torch\nx = torch.ones(3, 2)\n\n\ndef scale_(z):\n    z.mul_(2)\n\n\n" + call + "\n\n" + _FIRST
    assert f"    {expected}\n" in translate_source(source).text
    chained = source.replace("z.mul_(2)", "z.zero_().mul_(2)")
    assert ("functional.filled(z, " in translate_source(chained).text) == expected.startswith("functional")
