"""Attacks within a training step that read ``x.grad``: read as ``autograd.grad`` where nothing else is kept."""

from __future__ import annotations

import pytest

from torch2ms import translate_source
from torch2ms.translator.effects.input_attacks import with_inner_gradients

HEAD = (
    "import torch\nimport torch.nn.functional as F\n\n\ndef train(batches, model, opt, delta):\n"
    "    for X, y in batches:\n"
)
STEP = (
    "        loss = F.cross_entropy(model(X + d.detach()), y)\n        opt.zero_grad()\n"
    "        loss.backward()\n        opt.step()\n"
)
LOOP = (
    "        d = torch.zeros_like(X, requires_grad=True)\n        for _ in range(3):\n"
    "            loss = F.cross_entropy(model(X + d), y)\n            loss.backward()\n"
    "            d.data = d + d.grad.sign()\n            d.grad.zero_()\n"
)


def test_the_attack_asks_for_its_gradient_by_name_and_lines_keep_their_numbers() -> None:
    source = HEAD + LOOP + STEP
    found = with_inner_gradients(source)
    assert found is not None
    assert "            d_grad = torch.autograd.grad(loss, d)[0]\n            d.data = d + d_grad.sign()\n\n" in found
    assert found.count("\n") == source.count("\n")
    assert found.count("loss.backward()") == 1
    result = translate_source(source)
    assert "d_grad = ms.value_and_grad(forward_fn_2)(d)" in result.text
    assert "opt(grads)" in result.text
    assert "TORCH2MS" not in result.text


def test_what_only_clears_gradients_for_the_attack_goes() -> None:
    asked = "            loss.backward()\n"
    cleared = "            o = torch.optim.SGD([d], lr=1)\n            opt.zero_grad()\n"
    inner = LOOP.replace(asked, cleared + asked)
    found = with_inner_gradients(HEAD + inner + STEP)
    assert found is not None
    assert "SGD" not in found
    assert found.count("zero_grad") == 1


def test_a_scaled_loss_is_one_as_well() -> None:
    asked = "            loss.backward()\n"
    scaled = "            with amp.scale_loss(loss, opt) as scaled:\n                scaled.backward()\n"
    source = HEAD + LOOP.replace(asked, scaled) + STEP
    found = with_inner_gradients(source)
    assert found is not None
    assert "            d_grad = torch.autograd.grad(loss, d)[0]\n\n            d.data = d + d_grad.sign()" in found
    assert found.count("\n") == source.count("\n")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("        opt.zero_grad()\n", ""),  # the step uses what the attack left in the weights
        ("            d.grad.zero_()\n", ""),  # the gradients of several rounds add up
        ("            d.grad.zero_()\n", "            opt.step()\n            d.grad.zero_()\n"),  # "free" training
        ("requires_grad=True", "dtype=torch.float32"),  # no leaf
        ("d = torch.zeros_like(X, requires_grad=True)", "d = torch.nn.Parameter(torch.zeros_like(X))"),
        ("loss.backward()\n            d.data", "loss.backward(retain_graph=True)\n            d.data"),
        ("d.data = d + d.grad.sign()", "d.data = d + d.grad.sign() + model.weight.grad.sum()"),
        ("        opt.step()\n", "        opt.step()\n        print(d.grad)\n"),
        ("import torch\n", "import torch as th\n"),
    ],
)
def test_other_gradients_stay(old: str, new: str) -> None:
    source = HEAD + LOOP + STEP
    assert old in source
    assert with_inner_gradients(source.replace(old, new, 1)) is None


def test_an_optimizer_that_moves_the_input_needs_its_gradient() -> None:
    inner = LOOP.replace("            d.grad.zero_()\n", "            d.grad.zero_()\n            moving.step()\n")
    source = HEAD + "        moving = torch.optim.SGD([d], lr=1)\n" + inner + STEP
    assert with_inner_gradients(source) is None


def test_a_file_without_such_a_step_is_as_it_was() -> None:
    source = HEAD + STEP.replace("d.detach()", "delta")
    assert with_inner_gradients(source) is None
