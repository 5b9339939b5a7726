"""Gradients that optimizers change in place through another name: what is kept with the weight changes too."""

from __future__ import annotations

import pytest

from torch2ms import translate_source

SOURCE = """
import torch
from torch.optim.optimizer import Optimizer


class Plain(Optimizer):
    def __init__(self, params, lr=0.1):
        super().__init__(params, dict(lr=lr))

    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                {body}
                p.data.add_(d_p, alpha=-group["lr"])
{more}
"""


def translated(body: str, more: str = "") -> tuple[str, list[str]]:
    result = translate_source(SOURCE.format(body=body.replace("\n", "\n" + " " * 16), more=more))
    return result.text, [found.code for found in result.diagnostics if found.code == "T2M305"]


@pytest.mark.parametrize("read", ["p.grad.data", "p.grad", "p.grad.detach()"])
@pytest.mark.parametrize(
    ("change", "now"),
    [
        ("d_p.add_(p.data, alpha=0.1)", "d_p.copy_(d_p + 0.1 * ops.stop_gradient(p))"),
        ("d_p.mul_(0.5)", "d_p.copy_(d_p * 0.5)"),
        ("if group['lr']:\n    d_p.add_(p, alpha=0.1)", "    d_p.copy_(d_p + 0.1 * p)"),
    ],
)
def test_the_gradient_keeps_its_memory(read: str, change: str, now: str) -> None:
    text, marks = translated(f"d_p = {read}\n{change}")
    assert now in text
    assert not marks


def test_a_name_that_is_bound_anew_behind_it_held_the_gradient() -> None:
    text, marks = translated("d_p = p.grad.data\nd_p.add_(p.data, alpha=0.1)\nd_p = d_p * 2")
    assert "d_p.copy_(d_p + 0.1 * ops.stop_gradient(p))" in text
    assert not marks


@pytest.mark.parametrize(
    ("body", "more"),
    [
        (
            "d_p = p.grad.data\nd_p.add_(p.data)",
            "\n\ndef log(net):\n    return [p.grad.norm() for p in net.parameters()]",
        ),
        ("if group['lr']:\n    d_p = p.grad.data\nelse:\n    d_p = p.data\nd_p.add_(1)", ""),
        ("d_p = p.grad.data.view(-1)\nd_p.add_(1)", ""),
    ],
)
def test_where_somebody_may_read_it_or_it_may_be_another_tensor_it_is_marked(body: str, more: str) -> None:
    text, marks = translated(body, more)
    assert marks
    assert "d_p.copy_" not in text
