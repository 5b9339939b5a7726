"""``requires_grad`` and ``is_leaf`` of plain tensors: answered where the text settles them, marked everywhere else."""

from __future__ import annotations

import pytest

from torch2ms import translate_source

HEAD = "import torch\nx = torch.ones(2, requires_grad=True)\nz = torch.zeros(2)\n"


def _last(text: str) -> str:
    return translate_source(HEAD + text).text.rstrip().splitlines()[-1]


@pytest.mark.parametrize(
    "text",
    [
        "def f(a: torch.Tensor):\n    return a.requires_grad",
        "for i in range(2):\n    z = z * x\n    print(z.requires_grad)",
        "if flag:\n    z = x\nprint(z.requires_grad)",
        "torch.set_grad_enabled(flag)\ny = x * 2\nprint(y.requires_grad)",
        "y = unknown(x)\nprint(y.requires_grad)",
        "x.requires_grad_(flag)\nprint(x.requires_grad)",
        "z.add_(x)\nprint(z.requires_grad)",
        "with torch.set_grad_enabled(flag):\n    y = x * 2\nprint(y.requires_grad)",
        "if flag:\n    torch.set_grad_enabled(False)\ny = x * 2\nprint(y.requires_grad)",
        "@torch.no_grad()\ndef f(a):\n    return a\nprint(f(x).requires_grad)",
        "weights = [p.requires_grad for p in things]",
    ],
)
def test_what_the_text_leaves_open_is_not_answered(text: str) -> None:
    assert _last(text).strip() == text.splitlines()[-1].strip()


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("print(x.requires_grad)", "True"),
        ("print(z.requires_grad)", "False"),
        ("y = (x * 2).sum()\nprint(y.requires_grad)", "True"),
        ("print((x + z).requires_grad)", "True"),
        ("print(x.detach().requires_grad)", "False"),
        ("print(x.data.requires_grad)", "False"),
        ("x.sum().backward()\nprint(x.grad.requires_grad)", "False"),
        ("print((x > 0).requires_grad)", "False"),
        ("with torch.no_grad():\n    y = x * 2\nprint(y.requires_grad)", "False"),
        ("with torch.no_grad():\n    y = torch.ones(2, requires_grad=True)\nprint(y.requires_grad)", "True"),
        ("with torch.set_grad_enabled(False):\n    y = x * 2\nprint(y.requires_grad)", "False"),
        ("z.requires_grad_()\nprint(z.requires_grad)", "True"),
        ("y = torch.cat([z, x])\nprint(y.requires_grad)", "True"),
        ("print(x.is_leaf)", "True"),
        ("z.add_(1)\nz[0] = 2\nprint(z.requires_grad)", "False"),
        ("torch.set_grad_enabled(False)\ny = x * 2\nprint(y.requires_grad)", "False"),
        ("torch.set_grad_enabled(False)\ntorch.set_grad_enabled(True)\ny = x * 2\nprint(y.requires_grad)", "True"),
        ("@torch.no_grad()\ndef f(a):\n    return a * 2\nprint(f(x).requires_grad)", "False"),
        ("y = x * 2\nprint(y.is_leaf)", "False"),
        ("y = z * 2\nprint(y.is_leaf)", "True"),
    ],
)
def test_what_torch_would_answer(text: str, answer: str) -> None:
    assert _last(text) == f"print({answer})"


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("f = torch.Tensor.add", "f = torch.Tensor.add"),
        ("y = torch.Tensor.add(x, 1)", "y = x.add(1)"),
        ("y = torch.Tensor.sum(x * 2, dim=0)", "y = (x * 2).sum(dim=0)"),
    ],
)
def test_methods_called_through_their_class(text: str, made: str) -> None:
    assert _last(text) == made


@pytest.mark.parametrize(
    ("text", "is_told"),
    [
        ("def f(a):\n    return a.requires_grad", True),
        ("y = unknown(x).requires_grad", True),
        ("def f(net):\n    for p in net.parameters():\n        print(p.requires_grad)", False),
        ("kept = [p for p in things if p.requires_grad]", False),
    ],
)
def test_the_mark_of_what_nothing_is_known_of_is_told_unless_it_may_be_a_weight_s(text: str, is_told: bool) -> None:
    assert ("T2M207" in {d.code for d in translate_source(HEAD + text + "\n").diagnostics}) is is_told
