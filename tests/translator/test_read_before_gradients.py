"""What is read between a forward pass and ``torch.autograd.grad``, which stays in its statement."""

from __future__ import annotations

import pytest

from torch2ms import translate_source

HEAD = "import torch\n\n\ndef run(w, m):\n    p = torch.randn(3, requires_grad=True)\n"


def lines_of(body: str) -> list[str]:
    text = translate_source(HEAD + "".join(f"    {line}\n" for line in body.splitlines())).text
    return [line.strip() for line in text.splitlines() if line.strip()]


@pytest.mark.parametrize(
    "read",
    ["check(t)", "u = m * t\ncheck(u)", "if m:\n    check(t)", "for x in t:\n    check(x)", "assert t.sum() > 0"],
)
def test_a_value_is_there_when_it_is_read(read: str) -> None:
    found = lines_of(f"t = torch.sin(p) * w\n{read}\n(g,) = torch.autograd.grad(t.sum(), [p])\nreturn g")
    made, used = found.index("t = ops.sin(p) * w"), found.index(read.splitlines()[-1].strip())
    assert made < used < found.index("g = ops.stop_gradient(ms.grad(forward_fn)(p))")
    assert found.count("t = ops.sin(p) * w") == 2  # there, and in the function that is differentiated


def test_a_value_that_is_read_before_the_last_one_is_made_is_there() -> None:
    found = lines_of("t = torch.sin(p)\ncheck(t)\nu = t * w\n(g,) = torch.autograd.grad(u.sum(), [p])\nreturn g, u")
    assert found.index("t = ops.sin(p)") < found.index("check(t)") < found.index("def forward_fn(p):")


def test_what_gives_something_else_twice_is_recorded() -> None:
    found = lines_of("t = torch.dropout(p, 0.5, True)\ncheck(t)\n(g,) = torch.autograd.grad(t.sum(), [p])\nreturn g")
    assert any(line.endswith("recording.grad(t.sum(), [p])") for line in found)


def test_what_nothing_reads_in_between_is_computed_once() -> None:
    found = lines_of("t = torch.sin(p)\ncheck(m)\n(g,) = torch.autograd.grad(t.sum(), [p])\nreturn g, t")
    assert found.count("t = ops.sin(p)") == 1


def test_backward_is_computed_before_what_reads_the_value() -> None:
    found = lines_of("t = torch.sin(p)\ncheck(t)\nt.sum().backward()\nreturn p.grad")
    assert found.count("t = ops.sin(p)") == 1
    assert found[-2:] == ["check(t)", "return p_grad"]
