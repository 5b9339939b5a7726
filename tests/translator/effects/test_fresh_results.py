"""What is changed in place is a tensor that nobody else holds: of a function of the project, bound in every branch."""

from __future__ import annotations

import pytest

from torch2ms.translator.pipeline import translate_source

HEAD = """import torch
import torch.nn as nn
import torch.nn.functional as F


kept = [torch.ones(3)]


def penalty(a: torch.Tensor, b: torch.Tensor, flag=False):
    {body}


def step(net: nn.Module, criterion: nn.Module, x: torch.Tensor, y: torch.Tensor, n, amp):
    {lines}
    return loss
"""
CALL = "loss = penalty(net(x), y)\n    loss *= n"


def is_another_s(body: str, lines: str) -> bool:
    """Whether the change is made in the tensor itself, or marked."""
    source = HEAD.replace("{body}", body).replace("{lines}", lines)
    translated = translate_source(source)
    return "T2M305" in {item.code for item in translated.diagnostics} or "loss[...] = " in translated.text


@pytest.mark.parametrize(
    "body",
    [
        "return (a - b) ** 2",
        "return F.mse_loss(a, b)",
        "return (a - b).pow(2).mean()",
        "found = torch.abs(a - b)\n    found += 1\n    return found",
        "if flag:\n        return -a\n    return a > b",
    ],
)
def test_what_a_function_computes_is_its_own(body: str) -> None:
    assert not is_another_s(body, CALL)


@pytest.mark.parametrize(
    "body",
    [
        "return a",
        "return a.view(-1)",
        "return torch.squeeze(a)",
        "found = (a - b).abs()\n    kept.append(found)\n    return found",
        "found = a\n    return found",
        "if flag:\n        return a\n    return a - b",
        "return kept[0]",
        "return a.mul_(2)",
        "return F.relu(a, inplace=True)",
        "return F.relu(a, True)",
    ],
)
def test_what_it_hands_back_may_be_anothers(body: str) -> None:
    assert is_another_s(body, CALL.replace("net(x)", "x"))


BRANCHES = "if amp:\n        {first}\n    else:\n        {second}\n    loss /= n"


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("loss = criterion(net(x), y)", "loss = criterion(net(x), y) * 2", False),
        ("with torch.no_grad():\n            loss = criterion(net(x), y)", "loss = criterion(net(x), y)", False),
        ("loss = criterion(net(x), y)", "raise ValueError", False),
        ("loss = criterion(net(x), y)", "loss = kept[0]", True),
        ("loss = criterion(net(x), y)", "pass", True),
    ],
)
def test_a_name_that_every_branch_binds(first: str, second: str, expected: bool) -> None:
    lines = BRANCHES.replace("{first}", first).replace("{second}", second)
    before = "loss = kept[0]\n    " if expected else ""
    assert is_another_s("return a", before + lines) is expected
