"""Functions that are handed on instead of being called: what they are called with later decides what they become."""

from __future__ import annotations

from pathlib import Path

import pytest

from torch2ms import translate_project, translate_source
from torch2ms.diagnostics import Severity

HEAD = "import torch\nimport torch.nn.functional as F\nfrom functools import partial\nx = torch.ones(3, 4)\n"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("f = partial(torch.nonzero, as_tuple=True)", "partial(functional.nonzero, as_tuple=True)"),
        ("f = partial(F.leaky_relu, negative_slope=0.2)", "partial(functional.leaky_relu, negative_slope=0.2)"),
        ("ys = list(map(torch.clone, [x, x]))", "map(functional.clone, [x, x])"),
        ("ys = list(map(torch.abs, [x, x]))", "map(ops.abs, [x, x])"),
    ],
)
def test_the_function_that_takes_such_calls_is_handed_on(source: str, expected: str) -> None:
    found = translate_source(f"{HEAD}{source}\n")
    assert expected in found.text
    assert not [d for d in found.diagnostics if d.severity >= Severity.WARNING]


def test_a_rounded_quotient_is_a_function_s() -> None:
    text = translate_source(f"{HEAD}a = x.div(2)\nb = x.div(2, rounding_mode='trunc')\n").text
    assert text.endswith("a = x.div(2)\nb = functional.div(x, 2, rounding_mode='trunc')\n")


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("torch.outer(*args)", "ops.outer(*args)"),
        ("torch.clamp(*args, max=2)", "ops.clamp(*args, max=2)"),
        ("torch.full_like(*args)", "ops.full_like(*args)"),
        ("torch.outer(**kw)", "(lambda input, vec2: ops.outer(input, vec2))(**kw)"),  # which refuses out=
    ],
)
def test_arguments_in_a_tuple_go_by_their_places(call: str, expected: str | None) -> None:
    found = translate_source(f"{HEAD}args, kw = make()\ny = {call}\n")
    assert ("T2M203" in {d.code for d in found.diagnostics}) is (expected is None)
    assert expected is None or found.text.endswith(f"y = {expected}\n")


def test_map_tells_what_a_function_is_given() -> None:
    source = "def f(t):\n    return t.max(1).values\n"
    assert "return ops.max(t, 1)[0]" in translate_source(f"{HEAD}{source}ys = list(map(f, [x, x]))\n").text
    assert "isinstance(t, ms.Tensor)" in translate_source(f"{HEAD}{source}ys = list(map(f, things))\n").text


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (
            "def run(f, t):\n    return f(t)\ny = run(torch.sigmoid, torch.arange(3))",
            "run(functional.of_floats(ops.sigmoid), ",
        ),
        ("def run(f, t):\n    return f(t)\ny = run(torch.sigmoid, torch.ones(3))", "run(ops.sigmoid, "),
        ("fs = {'a': torch.abs}\ny = fs['a'](torch.tensor([1j]))", "{'a': functional.abs}"),
        ("f = getattr(torch, 'sub')\ny = f(x, 1, alpha=2)", "f = functional.sub"),
        ("f = getattr(torch, 'cummax')\ny = f(x, dim=1)", "f = functional.cummax"),
        ("fs = [torch.rad2deg, torch.sqrt]", "fs = [ops.rad2deg, ops.sqrt]"),
        ("f = partial(torch.sqrt, input=x)", "f = partial(ops.sqrt, input=x)"),
    ],
)
def test_what_a_function_is_called_with_decides(source: str, expected: str) -> None:
    found = translate_source(f"{HEAD}{source}\n")
    assert expected in found.text
    told = {item.code for item in found.diagnostics if item.severity >= Severity.WARNING}
    assert told == ({"T2M208"} if "input=" in source else set())


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (
            "options = dict(keepdim=True)\ny = torch.logsumexp(x, dim=1, **options)",
            "ops.logsumexp(x, dim=1, keepdim=True)",
        ),
        ("n = 2\nkw = {'dim': n - 1}\ny = torch.cumprod(x, **kw)", 'ops.cumprod(x, dim=kw["dim"])'),
        ("y = x.squeeze(**{'dim': 1})", "x.squeeze(1)"),
        (
            "kw = {'dim': 0}\nkw['dim'] = 1\ny = torch.cumprod(x, **kw)",
            "y = (lambda input, dim: ops.cumprod(input, dim))(x, **kw)",
        ),
        (
            "kw = {'dim': 0}\nchange(kw)\ny = torch.cumprod(x, **kw)",
            "y = (lambda input, dim: ops.cumprod(input, dim))(x, **kw)",
        ),
    ],
)
def test_options_that_are_known_are_written_out(source: str, expected: str) -> None:
    assert expected in translate_source(f"{HEAD}{source}\n").text


@pytest.mark.parametrize("base", ["torch.Tensor", "torch.FloatTensor", "torch.ByteTensor"])
def test_a_class_of_tensors_is_reported(base: str) -> None:
    """MindSpore's functions answer with plain tensors, and never ask ``__torch_function__``."""
    result = translate_source(f"import torch\n\n\nclass Tagged({base}):\n    pass\n")
    assert [(d.code, d.line) for d in result.diagnostics if d.severity >= Severity.ERROR] == [("T2M203", 4)]
    assert "class Tagged(ms.Tensor):" in result.text


MOVED = """import torch


def to_var(x):
    return to_cuda(x).requires_grad_()


def to_cuda(x):
    if torch.cuda.is_available():
        x = {moved}
    return x
"""
HANDED = """from copy import deepcopy
import torch
from torch import nn
from tools import to_cuda, to_var


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)

    def forward(self, x):
        return self.fc(x)


class Trainer:
    def __init__(self, model):
        self.model = to_cuda(model)

    def train(self, data):
        noise = to_var(torch.rand(3, 1).expand(3, 3))
        images = to_cuda(torch.ones(2, 3))
        self.best = deepcopy(self.model)
        kept = deepcopy(images)
        return noise, kept


if __name__ == "__main__":
    Trainer(model=Net()).train([])
"""


@pytest.mark.parametrize("moved", ["x.cuda()", "x.to('cuda')"])
def test_each_call_gets_back_what_it_handed_over(moved: str, tmp_path: Path) -> None:
    source = tmp_path / "src"
    source.mkdir()
    (source / "tools.py").write_text(MOVED.replace("{moved}", moved))
    (source / "main.py").write_text(HANDED)
    translate_project(source, tmp_path / "out")
    text = (tmp_path / "out" / "main.py").read_text()
    assert "self.best = deepcopy(self.model)" in text  # a network
    assert "kept = images.copy()" in text  # a tensor
    assert "requires_grad_" not in (tmp_path / "out" / "tools.py").read_text()  # a tensor, of which all are recorded
