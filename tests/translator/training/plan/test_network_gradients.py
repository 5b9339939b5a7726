"""Gradients of all the weights of a network, without an optimizer's step: what is rewritten, and what is left."""

from __future__ import annotations

import pytest

from torch2ms import translate_source
from torch2ms.config import Options, Target

NET = "import torch\nfrom torch import nn\nx = torch.ones(1, 2)\nnet = nn.Linear(2, 1)\n"
BACKWARD = "net(x).sum().backward()\n"


def translated(source: str) -> str:
    text = translate_source(NET + source).text
    return text[text.index("net = ") :]


def test_gradients_in_a_comprehension() -> None:
    found = translated(f"{BACKWARD}print([p.grad for p in net.parameters()])\n")
    assert "grads = ms.grad(forward_fn, None, net.trainable_params())()" in found
    assert "[autograd.gradient_of(p, net.trainable_params(), grads) for p in modules.parameters(net)]" in found


def test_a_reset_makes_them_nothing() -> None:
    found = translated(f"{BACKWARD}a = net.weight.grad\nnet.zero_grad()\nprint(net.weight.grad)\n")
    assert "a = autograd.gradient_of(net.weight, net.trainable_params(), grads)\ngrads = None\n" in found


def test_they_add_up() -> None:
    found = translated(f"{BACKWARD}{BACKWARD}print([p.grad for p in net.parameters()])\n")
    assert found.count("= ms.grad(") == 2
    assert found.count("grads = autograd.accumulate(grads, new_grads)") == 1


def test_a_loop_that_resets_them_first() -> None:
    loop = "for i in range(2):\n    net.zero_grad()\n    loss = net(x).sum() * i\n    loss.backward()\n"
    found = translated(f"{loop}for name, p in net.named_parameters():\n    print(name, p.grad)\n")
    assert "accumulate" not in found
    assert "print(name, autograd.gradient_of(p, net.trainable_params(), grads))" in found


def test_clipping() -> None:
    found = translated(f"{BACKWARD}norm = nn.utils.clip_grad_norm_(net.parameters(), max_norm=1.0)\nnet.weight.grad\n")
    assert "grads, norm = autograd.clip_grad_norm(grads, max_norm=1.0)" in found


def test_autograd_grad() -> None:
    assert translated("g = torch.autograd.grad(net(x).sum(), net.parameters())\n").endswith(
        "g = ms.grad(forward_fn, None, net.trainable_params())()\n"
    )
    assert translated("a, b = torch.autograd.grad(net(x).sum(), [net.weight, net.bias])\n").endswith(
        "a, b = ms.grad(forward_fn, None, [net.weight, net.bias])()\n"
    )


@pytest.mark.parametrize(
    "source",
    [
        "other = nn.Linear(2, 1)\n(net(x) + other(x)).sum().backward()\nprint(net.weight.grad, other.weight.grad[0])\n"
        "net.zero_grad()\n",
        f"def see(p):\n    return p.grad\n{BACKWARD}print([see(p) for p in net.parameters()])\n",
        f"{BACKWARD}for p in net.parameters():\n    p.grad.zero_()\n",
    ],
)
def test_what_no_function_can_hand_on_is_recorded(source: str) -> None:
    assert "recording.backward(" in translated(source)
    assert "gradients.of(" in translated(source)
    assert "T2M4" not in translated(source)
    older = translate_source(NET + source, options=Options(target=Target(mindspore=(2, 8)))).text
    assert ".backward()" in older
    assert "TORCH2MS" in older
