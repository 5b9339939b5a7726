"""``x.requires_grad = True`` where no call shows the tensor's making: the statement makes it a parameter."""

from __future__ import annotations

import pytest

from torch2ms import translate_source
from torch2ms.diagnostics import Severity

SAMPLES = """
import torch

def sample(model, optimizer, buffer, steps, real, lower=0):
    {make}
    {mark}
    for _ in range(steps):
        out = model(fake)
        if out.max() > 100:
            index = torch.where(out > 0)[0]
        else:
            index = slice(None)
        if not isinstance(index, slice) and len(index) == 0:
            break
        out.sum().backward()
        step = fake.grad[index]
        fake.data[index] = fake[index] + step
        fake.grad.zero_()
    fake = fake.detach()
    optimizer.zero_grad()
    loss = (model(real) - model(fake)).mean()
    loss.backward()
    optimizer.step()
"""


def translated(make: str, mark: str = "fake.requires_grad = True") -> tuple[str, list[str]]:
    found = translate_source(SAMPLES.format(make=make, mark=mark))
    return found.text, [d.code for d in found.diagnostics if d.severity >= Severity.ERROR]


@pytest.mark.parametrize("mark", ["fake.requires_grad = True", "fake.requires_grad_()", "fake.requires_grad_(True)"])
def test_a_part_of_what_a_call_gives_is_made_a_parameter(mark: str) -> None:
    text, errors = translated("fake, label = buffer.get(8)", mark)
    assert "    fake = gradients.weight(fake)\n" in text
    assert "recording.backward(out.sum())" in text
    assert not errors


def test_so_is_what_was_computed_from_the_same_variable() -> None:
    text, errors = translated("fake = torch.zeros(3)\n    fake = buffer.near(fake)")
    assert "    fake = gradients.weight(fake)\n" in text
    assert "fake = ops.zeros((3,))" in text or "fake = ops.zeros(3)" in text
    assert not errors


@pytest.mark.parametrize(
    "make",
    [
        "fake, label = buffer[0]",  # a member of a list may be a network's weight
        "fake, label = next(model.parameters())",
        "for fake in buffer: pass",
        "fake = buffer.weights",
    ],
)
def test_what_may_be_a_weight_is_none(make: str) -> None:
    text, errors = translated(make)
    assert "gradients.weight" not in text
    assert errors


def test_a_tensor_that_a_call_makes_is_none_either() -> None:
    text, _ = translated("fake = torch.rand(3)")
    assert "gradients.weight" not in text


def test_without_gradients_asked_for_nothing_is_made() -> None:
    source = "import torch\n\ndef f(b):\n    x, y = b.get(1)\n    x.requires_grad = True\n    return x\n"
    assert "gradients" not in translate_source(source).text


BESIDE_OTHERS = """
import torch

w = torch.tensor([1.0, 2.0, 3.0])
print(w.requires_grad)
w.requires_grad_()
print(w.requires_grad)
w = torch.tensor(1.0, requires_grad=True)
z = w * torch.tensor([1.4])
loss = (2 - z).pow(2).sum()
loss.backward()
print(w.grad, z.shape)

def late(net, t):
    return z

a = torch.randn(2, 2)
a = a * 3 / (a - 1)
a.requires_grad_(True)
(a * 2).sum().backward()
print(a.grad)
"""


def test_it_is_made_where_its_gradient_is_asked_of_a_function() -> None:
    text = translate_source(BESIDE_OTHERS).text
    assert "recording.backward(loss)" in text
    assert "a = gradients.weight(a)\n" in text
    assert "ms.grad(forward_fn, None, [a])()" in text


def test_before_its_mark_a_tensor_asks_for_no_gradient() -> None:
    text = translate_source(BESIDE_OTHERS).text
    assert "print(False)\nw.requires_grad = True\nprint(w.requires_grad)\n" in text
