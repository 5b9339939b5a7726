"""Tensors that a program trains by hand, through a list of them: they become parameters, where they are such."""

from __future__ import annotations

import pytest

from torch2ms import translate_source

HEAD = "import torch\n"
MADE = "w = torch.zeros(2, 1, requires_grad=True)\nb = torch.zeros(1).requires_grad_()\n"
SGD = (
    "def sgd(params, lr):\n    with torch.no_grad():\n        for p in params:\n"
    "            p -= lr * p.grad\n            p.grad.zero_()\n"
)
STEP = "for x in data:\n    loss = ((x @ w + b) ** 2).mean()\n    loss.backward()\n    sgd({list}, 0.1)\n"


def translated(source: str) -> str:
    return translate_source(HEAD + source).text


@pytest.mark.parametrize("weights", ["[w, b]", "(w, b)"])
def test_weights_in_a_list(weights: str) -> None:
    step = STEP.format(list=weights)
    found = translated(MADE + SGD + step + step.splitlines()[-1])
    assert "w = ms.Parameter(ops.zeros((2, 1)))\nb = ms.Parameter(ops.zeros(1))\n" in found
    assert "ops.assign(p, p - (lr * gradients.of(p)))" in found
    assert "ops.assign(gradients.of(p), ops.zeros_like(gradients.of(p)))" in found
    assert "recording.backward(loss)" in found
    assert "TORCH2MS" not in found


@pytest.mark.parametrize(
    "source",
    [
        MADE + STEP.format(list="[w, b]"),  # no loop of the file asks for a gradient
        MADE + "for p in data:\n    print(p.grad)\n",  # nothing lists them
        MADE.replace("requires_grad=True", "requires_grad=False").replace(".requires_grad_()", "")
        + SGD
        + STEP.format(list="[w, b]"),
        MADE + "w = b = None\n" + SGD + STEP.format(list="[w, b]"),  # another value comes in the place
    ],
)
def test_tensors_that_are_no_weights(source: str) -> None:
    assert "Parameter" not in translated(source)


def test_a_function_that_is_handed_a_list_or_a_tuple_knows_the_weights_in_it() -> None:
    found = translated(MADE + SGD + "sgd([w, b], 0.1)\nsgd((w, b), 0.1)\n")
    assert "ops.assign(p, p - (lr * gradients.of(p)))" in found
    assert "TORCH2MS" not in found


CLOSED = "w = torch.zeros(2, 1, requires_grad=True)\nb = torch.zeros(1, requires_grad=True)\n"


@pytest.mark.parametrize("model", ["def model(x):\n    return x @ w + b\n", "model = lambda x: x @ w + b\n"])
def test_weights_that_a_function_has_from_around_it(model: str) -> None:
    found = translated(
        CLOSED
        + model
        + "for x in data:\n    loss = (model(x) ** 2).mean()\n    loss.backward()\n    with torch.no_grad():\n"
        "        w -= 0.1 * w.grad\n        b -= 0.1 * b.grad\n        w.grad.zero_()\n        b.grad.zero_()\n"
    )
    assert "w = ms.Parameter(ops.zeros((2, 1)))\nb = ms.Parameter(ops.zeros(1))\n" in found
    assert "recording.backward(loss)" in found
    assert "ops.assign(b, b - (0.1 * gradients.of(b)))" in found
    assert "TORCH2MS" not in found


def test_tensors_that_functions_are_handed_stay_tensors() -> None:
    found = translated(
        CLOSED
        + "def model(x, w):\n    return x @ w\nloss = (model(x, w) + b).sum()\nloss.backward()\nprint(w.grad, b.grad)"
    )
    assert "Parameter" not in found
    assert "ms.grad(forward_fn, (0, 1))" in found


def test_weights_that_a_statement_marks_behind_their_making() -> None:
    found = translated(
        "w = torch.randn(2, 1) / 3\nw.requires_grad_()\nb = torch.zeros(1)\nb.requires_grad_()\n"
        "def model(x):\n    return x @ w + b\nloss = model(data).sum()\nloss.backward()\nprint(w.grad, b.grad)"
    )
    assert "w = ms.Parameter(ops.randn((2, 1)) / 3)\n" in found or "w = ms.Parameter(ops.randn(2, 1) / 3)\n" in found
    assert "b = ms.Parameter(ops.zeros(1))\n" in found
    assert "TORCH2MS" not in found


def test_weights_that_are_handed_to_the_function_that_trains_them() -> None:
    found = translated(
        "params = torch.tensor([1.0, 0.0], requires_grad=True)\ndef train(params, x):\n    for _ in range(3):\n"
        "        if params.grad is not None:\n            params.grad.zero_()\n        loss = (x * params).sum()\n"
        "        loss.backward()\n        with torch.no_grad():\n            params -= 0.1 * params.grad\n"
        "    return params\ntrain(params=params, x=torch.ones(2))"
    )
    assert found.count("ms.Parameter(") == 1
    assert "if gradients.of(params) is not None:" in found
    assert "ops.assign(params, params - (0.1 * gradients.of(params)))" in found


def test_one_record_answers_for_all_tensors_of_a_file() -> None:
    found = translated(
        "scale = torch.ones(3, requires_grad=True)\ndef f(x):\n    return x * scale\n"
        "x = torch.ones(3, requires_grad=True)\nf(x).sum().backward()\nprint(x.grad, scale.grad)"
    )
    assert found.count("ms.Parameter(") == 2
    assert "TORCH2MS" not in found
