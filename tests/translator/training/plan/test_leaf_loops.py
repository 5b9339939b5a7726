"""Loops over leaves and their gradients, functions that are handed both, and several statements in a line."""

from __future__ import annotations

import pytest

from torch2ms import translate_source
from torch2ms.diagnostics import Severity

LEAVES = "w = torch.ones(2, requires_grad=True)\nb = torch.ones(1, requires_grad=True)\n"
LOSS = "loss = (w * b).sum()\nloss.backward()\n"
UPDATER = "def sgd(params, lr):\n    for p in params:\n        p.data -= lr * p.grad\n        p.grad.zero_()\n"


def translated(source: str) -> tuple[str, list[str]]:
    result = translate_source(f"import torch\n{source}\n")
    return result.text, [d.code for d in result.diagnostics if d.severity >= Severity.WARNING]


def test_a_loop_over_leaves_goes_over_their_gradients() -> None:
    text, codes = translated(LEAVES + LOSS + "for p in (w, b):\n    p.data -= 0.1 * p.grad\n    p.grad.zero_()")
    assert "for p, p_grad in zip((w, b), [w_grad, b_grad]):\n    weight_data.put(p, p - (0.1 * p_grad))" in text
    assert "zero" not in text
    assert codes == []


def test_a_change_in_place_is_an_assignment() -> None:
    text, _ = translated(LEAVES + LOSS + "with torch.no_grad():\n    for p in [w, b]:\n        p -= 0.1 * p.grad")
    assert "ops.assign(p, p - (0.1 * p_grad))" in text


def test_a_function_is_handed_the_gradients() -> None:
    text, codes = translated(UPDATER + LEAVES + LOSS + "sgd([w, b], 0.1)\nprint(w.sum().item())")
    assert "def sgd(params, grads, lr):\n    for p, p_grad in zip(params, grads):\n" in text
    assert "sgd([w, b], [w_grad, b_grad], 0.1)" in text
    assert codes == []


def test_a_function_is_handed_the_gradients_by_name() -> None:
    text, _ = translated(UPDATER + LEAVES + LOSS + "sgd(lr=0.1, params=[w, b])")
    assert "sgd(lr=0.1, params=[w, b], grads=[w_grad, b_grad])" in text


@pytest.mark.parametrize(
    "rest",
    [
        LOSS + "sgd([w, b], 0.1)\nsgd([w, b], 0.1)",  # the second finds zeros
        LOSS + "sgd([w, b], 0.1)\nprint(w.grad)",
        LOSS + "step = sgd\nstep([w, b], 0.1)\nsgd([w, b], 0.1)",  # who calls it hands no gradients over
        "sgd([w, b], 0.1)\n" + LOSS,
        LOSS + "for p in (w, b):\n    p.grad += 1",
        LOSS + "if input():\n    for p in (w, b):\n        p.data -= p.grad",
    ],
)
def test_what_the_text_does_not_settle_is_recorded(rest: str) -> None:
    text, _ = translated(UPDATER + LEAVES + rest)
    assert "zip(" not in text
    assert "recording.backward(loss)" in text
    assert "w = ms.Parameter(" in text
    assert "T2M4" not in text


def test_tensors_that_are_no_parameters_stay_and_are_marked() -> None:
    text, codes = translated(
        UPDATER + LEAVES + "w = w * 1\n" + LOSS + "step = sgd\nstep([w, b], 0.1)\nsgd([w, b], 0.1)"
    )
    assert "zip(" not in text
    assert codes


def test_a_line_of_several_statements_is_divided() -> None:
    text, _ = translated("x = torch.ones(2, requires_grad=True)\nz = x * 2; y = z * x\ny.sum().backward()\ng = x.grad")
    assert "    z = x * 2\n    y = z * x\n    return y.sum(), z, y\n" in text


def test_statements_behind_a_colon_are_divided() -> None:
    text, codes = translated("x = torch.ones(2, requires_grad=True)\nfor _ in range(2): x.sum().backward()\ng = x.grad")
    assert "backward" not in text
    assert codes == []


def test_what_add_returns_is_no_change_in_place() -> None:
    text, codes = translated("x = torch.ones(2, requires_grad=True)\ny = x.add(1)\ny.sum().backward()\ng = x.grad")
    assert "(_, y), x_grad = ms.value_and_grad(forward_fn, has_aux=True)(x)" in text
    assert codes == []


def test_the_mark_of_what_is_no_tuple_is_known() -> None:
    source = "x = torch.ones(2, requires_grad=True)\ny = x * 2\ny = y[0] if isinstance(y, tuple) else y\n"
    assert "print(True)" in translated(source + "print(y.requires_grad)")[0]
