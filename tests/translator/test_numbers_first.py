"""Calls with the number in front, as torch's first releases wanted them: old optimizers are full of them."""

from __future__ import annotations

import pytest

from torch2ms import translate_source


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("torch.add(x, 2, y)", "torch.add(x, y, alpha=2)"),
        ("torch.sub(x, 2, y)", "torch.sub(x, y, alpha=2)"),
        ("x.add(2, y)", "x.add(y, alpha=2)"),
        ("torch.addcmul(x, 0.5, y, y)", "torch.addcmul(x, y, y, value=0.5)"),
        ("x.addcdiv(0.5, y, y)", "x.addcdiv(y, y, value=0.5)"),
        ("torch.addmm(0.5, x, 2, y, y)", "torch.addmm(x, y, y, beta=0.5, alpha=2)"),
        ("torch.addmm(0.5, x, y, y)", "torch.addmm(x, y, y, beta=0.5)"),
        ("x.addmm(0.5, 2, y, y)", "x.addmm(y, y, beta=0.5, alpha=2)"),
        ("torch.baddbmm(0.5, x, 2, y, y)", "torch.baddbmm(x, y, y, beta=0.5, alpha=2)"),
        ("x.addcmul_(0.5, y, y)", "x.addcmul_(y, y, value=0.5)"),
        ("x.mul(2).addcdiv_(-z, y, y.sqrt().add_(1e-8))", "x.mul(2).addcdiv_(y, y.sqrt().add_(1e-8), value=-z)"),
    ],
)
def test_the_number_goes_to_its_name(old: str, new: str) -> None:
    found = []
    for call in (old, new):
        source = f"import torch\ndef use(x: torch.Tensor, y: torch.Tensor, z=1.0):\n    x = x * 2\n    return {call}\n"
        result = translate_source(source)
        assert not [d for d in result.diagnostics if str(d.severity) == "error"]
        found.append(result.text)
    assert found[0] == found[1]


def test_a_call_with_a_tensor_too_many_is_marked() -> None:
    source = "import torch\ndef use(x: torch.Tensor):\n    return torch.addcmul(x, x, x, x, x)\n"
    assert "T2M203" in {d.code for d in translate_source(source).diagnostics}
