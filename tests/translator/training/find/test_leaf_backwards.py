"""Backward calls for the gradients of tensors, beside training steps."""

from __future__ import annotations

from torch2ms import translate_source

HEAD = """
import torch
import torch.nn as nn
import torch.nn.functional as F
net = nn.Linear(3, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
"""


def test_an_adversarial_example_and_the_step_on_it_are_two_functions() -> None:
    text = HEAD + (
        "def train(loader):\n"
        "    for x, y in loader:\n"
        "        x.requires_grad = True\n"
        "        loss = F.cross_entropy(net(x), y)\n"
        "        loss.backward()\n"
        "        adv = x + 0.1 * x.grad.sign()\n"
        "        opt.zero_grad()\n"
        "        loss = F.cross_entropy(net(adv), y)\n"
        "        loss.backward()\n"
        "        opt.step()\n"
    )
    expected = (
        "def train(loader):\n"
        "    def forward_fn(adv, y):\n"
        "        loss = ops.cross_entropy(net(adv), y)\n"
        "        return loss\n"
        "\n"
        "    grad_fn = ms.value_and_grad(forward_fn, None, opt.parameters)\n"
        "\n"
        "    for x, y in loader:\n"
        "        def forward_fn_2(x):\n"
        "            loss = ops.cross_entropy(net(x), y)\n"
        "            return loss\n"
        "\n"
        "        loss, x_grad = ms.value_and_grad(forward_fn_2)(x)\n"
        "        adv = x + 0.1 * x_grad.sign()\n"
        "        loss, grads = grad_fn(adv, y)\n"
        "        opt(grads)\n"
    )
    assert expected in translate_source(text).text


def test_gradients_that_a_step_uses_as_well_are_the_steps_concern() -> None:
    text = HEAD + (
        "def train(loader):\n"
        "    for x, y in loader:\n"
        "        x.requires_grad = True\n"
        "        opt.zero_grad()\n"
        "        loss = F.cross_entropy(net(x), y)\n"
        "        loss.backward()\n"
        "        seen = x.grad.abs().sum()\n"
        "        opt.step()\n"
    )
    assert {d.code for d in translate_source(text).diagnostics} >= {"T2M404"}


def test_a_search_whose_result_is_cut_off_stays_outside_of_the_function() -> None:
    text = HEAD + (
        "def search(model, x, y):\n"
        "    delta = torch.zeros_like(x)\n"
        "    delta += F.cross_entropy(model(x), y)\n"
        "    return delta.detach()\n"
        "for x, y in [(torch.ones(2, 3), torch.tensor([0, 1]))]:\n"
        "    delta = search(net, x, y)\n"
        "    loss = F.cross_entropy(net(x + delta), y)\n"
        "    opt.zero_grad()\n"
        "    loss.backward()\n"
        "    opt.step()\n"
    )
    expected = "    delta = search(net, x, y)\n    loss, grads = grad_fn(x, delta, y)\n    opt(grads)\n"
    assert expected in translate_source(text).text
