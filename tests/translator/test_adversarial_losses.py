"""Losses that search for the change of an input that hurts most, and so ask for gradients inside of a forward pass."""

from __future__ import annotations

import pytest

from torch2ms import translate_source

_LOSS = """import torch
from torch import nn
from torch.nn import functional as F


def unit(d):
    return d / (d.norm() + 1e-8)


class Smoothness(nn.Module):
    def forward(self, model, x):
        with torch.no_grad():
            wanted = F.softmax(model(x), dim=1)
        d = torch.rand(x.shape)
        d = unit(d)
        for _ in range(2):
            d.requires_grad_()
            distance = F.kl_div(F.log_softmax(model(x + d), dim=1), wanted, reduction='batchmean')
            distance.backward()
            {renewed}
            model.zero_grad()
        {last}
        return F.kl_div(F.log_softmax(model(x + d), dim=1), wanted, reduction='batchmean')
"""


def test_a_leaf_that_becomes_what_its_gradient_gives() -> None:
    text = translate_source(_LOSS.format(renewed="d = unit(d.grad)", last="pass")).text
    assert "d_grad = ops.stop_gradient(ms.grad(forward_fn)(d))\n            d = unit(d_grad)\n        pass" in text
    assert "recording" not in text
    assert "TORCH2MS" not in text


@pytest.mark.parametrize(
    ("renewed", "last"),
    [
        ("d = d + unit(d.grad)", "pass"),  # computed of the leaf itself
        ("d = unit(d.grad)", "g = d.grad"),  # of the new tensor, which has none
        ("d = unit(d.grad); print(d.grad)", "pass"),
    ],
)
def test_what_a_forward_pass_cannot_record_is_marked(renewed: str, last: str) -> None:
    result = translate_source(_LOSS.format(renewed=renewed, last=last))
    assert "distance.backward()" in result.text
    assert "T2M404" in {diagnostic.code for diagnostic in result.diagnostics}


def test_a_forward_pass_that_takes_the_step_is_recorded() -> None:
    text = translate_source(
        "import torch\nfrom torch import nn\n\n\nclass Meta(nn.Module):\n    def __init__(self, net, opts):\n"
        "        super().__init__()\n        self.net, self.opts = net, opts\n\n    def forward(self, tasks):\n"
        "        losses = [self.net(t).sum() for t in tasks]\n        for o in self.opts:\n            o.zero_grad()\n"
        "        losses[-1].backward()\n        for o in self.opts:\n            o.step()\n"
    ).text
    assert "recording.backward(losses[-1])" in text


_ATTACK = """import torch
import torch.nn.functional as F


def attack(model, x, y):
    delta = torch.zeros_like(x, requires_grad=True)
    loss = F.cross_entropy(model(x + delta), y)
    loss.backward()
    {inside}
    return delta.grad.sign()


def train(model, loader, opt):
    for x, y in loader:
        {before}
        delta = attack(model, x, y)
        {behind}
        loss = F.cross_entropy(model(x + delta), y)
        loss.backward()
        opt.step()
"""


@pytest.mark.parametrize(
    ("before", "behind", "inside", "is_marked"),
    [
        ("opt.zero_grad()", "pass", "pass", True),
        ("pass", "opt.zero_grad()", "pass", False),
        ("opt.zero_grad()", "model.zero_grad()", "pass", False),
        ("opt.zero_grad()", "pass", "model.zero_grad()", False),
    ],
)
def test_gradients_that_an_attack_leaves_to_the_step(before: str, behind: str, inside: str, is_marked: bool) -> None:
    result = translate_source(_ATTACK.format(before=before, behind=behind, inside=inside))
    assert "ms.grad(forward_fn)(delta)" in result.text
    assert ("# TORCH2MS T2M303: torch adds the gradients" in result.text) == is_marked
