"""``requires_grad`` of tensors that are no parameters, where the answer makes no difference."""

from __future__ import annotations

import pytest

from torch2ms import translate_source


def body_of(statement: str) -> tuple[str, set[str]]:
    """Return what a statement about the tensor ``x`` becomes, and the codes reported."""
    source = f"import torch\n\n\ndef use(x: torch.Tensor):\n    {statement}\n"
    result = translate_source(source)
    return result.text.rpartition("def use(x: ms.Tensor):\n")[2].strip(), {d.code for d in result.diagnostics}


def test_it_only_decides_whether_to_detach() -> None:
    text, codes = body_of("return x.detach().cpu().numpy() if x.requires_grad else x.cpu().numpy()")
    assert text == "return x.asnumpy()"
    assert "T2M203" not in codes


@pytest.mark.parametrize("said", ["not x.requires_grad", "x.requires_grad == False", "x.requires_grad is False"])
def test_an_assertion_goes(said: str) -> None:
    text, codes = body_of(f"assert {said}, 'a message'\n    return x")
    assert text == "return x"
    assert "T2M203" not in codes


def test_setting_it_to_false_means_nothing() -> None:
    text, codes = body_of("x.requires_grad = False")
    assert text == "x.requires_grad = False"
    assert "T2M203" not in codes
    assert "T2M302" in codes


@pytest.mark.parametrize(
    "statement", ["return 1 if x.requires_grad else 2", "if x.requires_grad:\n        return 1", "x.requires_grad = y"]
)
def test_anything_else_is_marked(statement: str) -> None:
    assert "T2M203" in body_of(statement)[1]
