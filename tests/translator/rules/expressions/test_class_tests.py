"""Tests of what a layer is: one class of PyTorch's may be two in MindSpore, by the arguments."""

from __future__ import annotations

import pytest

from torch2ms import translate_source


def translated(source: str) -> str:
    return translate_source(f"from torch import nn\n{source}\n").text.rstrip().rpartition("\n")[2]


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        ("isinstance(m, nn.Dropout)", "isinstance(m, nn.Dropout)"),
        ("isinstance(m, (nn.Dropout, nn.Linear))", "isinstance(m, (nn.Dropout, nn.Dense))"),
        ("type(m) == nn.Conv2d", "modules.is_exactly(m, nn.Conv2d)"),
        ("type(m) not in (nn.Conv2d, nn.Linear)", "not modules.is_exactly(m, (nn.Conv2d, nn.Dense))"),
        ("type(m) is Own", "type(m) is Own"),
        ("type(x) == int", "type(x) == int"),
        ("norm == nn.BatchNorm2d", "norm == nn.BatchNorm2d"),
        ("norm is nn.BatchNorm2d", "norm == nn.BatchNorm2d"),
        ("norm is not nn.BatchNorm2d", "norm != nn.BatchNorm2d"),
        ("norm is None", "norm is None"),
    ],
)
def test_instances_are_told_by_the_class_that_both_are_of(test: str, expected: str) -> None:
    assert translated(f"a = {test}") == f"a = {expected}"


@pytest.mark.parametrize(
    ("test", "is_told"),
    [
        ("a = isinstance(m, nn.DataParallel)", True),
        ("a = m.module if isinstance(m, nn.DataParallel) else m", False),
        ("if isinstance(m, nn.DataParallel):\n    m = m.module", False),
    ],
)
def test_a_wrapper_that_is_gone_is_told_where_the_answer_is_kept(test: str, is_told: bool) -> None:
    found = translate_source(f"from torch import nn\n{test}\n").diagnostics
    assert any(entry.code == "T2M303" for entry in found) is is_told


@pytest.mark.parametrize(
    ("test", "is_told"),
    [("x.float() is x", True), ("x.to(x.dtype) is x", True), ("x.to('cpu') is x", False), ("x.view(-1) is x", False)],
)
def test_a_cast_that_is_asked_for_its_identity_is_told(test: str, is_told: bool) -> None:
    found = translate_source(f"import torch\nx = torch.ones(2)\na = {test}\n").diagnostics
    assert any(entry.code == "T2M305" for entry in found) is is_told


@pytest.mark.parametrize("name", ["torch.jit.ScriptModule", "torch._dynamo.OptimizedModule"])
def test_nothing_is_of_a_class_that_only_compiled_networks_have(name: str) -> None:
    source = f"import torch\nimport torch._dynamo\n\n\ndef f(m, k):\n    a = isinstance(m, {name})\n"
    source += f"    return a, isinstance(k, (torch.nn.Linear, {name})), isinstance(k, torch.nn.Module)\n"
    result = translate_source(source)
    assert "    a = False\n" in result.text
    assert "return a, isinstance(k, nn.Dense), isinstance(k, nn.Cell)\n" in result.text
    assert {d.code for d in result.diagnostics} <= {"T2M303", "T2M304"}
