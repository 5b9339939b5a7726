"""``torch.autograd.backward`` of one loss or several: the method of one loss with the same gradients."""

from __future__ import annotations

import pytest

from torch2ms import translate_source
from torch2ms.translator.effects.backward_calls import with_backward_methods

HEAD = "import torch\n\na = f(x)\nlosses = [a, a * 2]\nweights = [torch.ones(1) for _ in losses]\n"


@pytest.mark.parametrize(
    ("call", "wanted"),
    [
        ("torch.autograd.backward(a)", "a.backward()"),
        ("torch.autograd.backward(a * 2)", "(a * 2).backward()"),
        ("torch.autograd.backward(f(x), retain_graph=True)", "f(x).backward(retain_graph=True)"),
        ("torch.autograd.backward([a, b])", "(a + b).backward()"),
        ("torch.autograd.backward(tensors=(a, b), grad_tensors=None)", "(a + b).backward()"),
        ("torch.autograd.backward(losses)", "sum(losses).backward()"),
        ("torch.autograd.backward([a], [w])", "((a) * (w).detach()).sum().backward()"),
        (
            "torch.autograd.backward(losses, weights)",
            "sum((one_loss * one_weight.detach()).sum() for one_loss, one_weight in zip(losses, weights)).backward()",
        ),
    ],
)
def test_what_is_read_instead(call: str, wanted: str) -> None:
    assert with_backward_methods(HEAD + call) == HEAD + wanted


@pytest.mark.parametrize(
    "call",
    [
        "torch.autograd.backward(unknown)",  # a loss, or several
        "torch.autograd.backward(self.losses)",
        "torch.autograd.backward(losses, inputs=[x])",
        "torch.autograd.backward(*losses)",
        "torch.autograd.backward([a, b], weights)",
        "y = torch.autograd.backward(a)",
        "torch.autograd.backward(\n    a\n)",
        "a.backward()",
        "engine.autograd.backward(a)",
    ],
)
def test_what_is_read_as_it_is(call: str) -> None:
    assert with_backward_methods(HEAD + call) is None


def test_only_of_torch() -> None:
    assert with_backward_methods("from other import autograd\nautograd.backward(a * 2)\n") is None
    assert with_backward_methods("from torch import autograd\nautograd.backward(a * 2)\n") is not None


def test_a_step_by_several_losses_is_translated() -> None:
    source = """import torch
from torch import nn

def train(net: nn.Module, x, y, optimizer: torch.optim.Optimizer):
    first, second = net(x)
    losses = [(first - y).pow(2).mean(), second.abs().mean()]
    optimizer.zero_grad()
    torch.autograd.backward(losses, [torch.tensor(1.0), torch.tensor(0.5)])
    optimizer.step()
"""
    found = translate_source(source)
    assert not [d for d in found.diagnostics if d.severity.name != "NOTE"]
    assert "optimizer(grads)" in found.text
