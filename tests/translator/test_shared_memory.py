"""Who sees a change: tensors made of tensors, views, parameters made of what is changed afterwards."""

from __future__ import annotations

import pytest

from torch2ms import translate_source
from torch2ms.diagnostics import Severity

HEAD = "import torch\nfrom torch import nn\n\n\n"
NETWORK = "\n\nclass Net(nn.Module):\n    def forward(self, x):\n        return x\n"


def translated(source: str) -> tuple[str, list[str]]:
    result = translate_source(HEAD + source)
    return result.text, [d.code for d in result.diagnostics if d.severity >= Severity.WARNING]


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("torch.tensor(x)", "x.copy()"),
        ("torch.tensor(x[0])", "x[0].copy()"),
        ("torch.tensor(x, dtype=torch.float64)", "(ms.tensor(x, dtype=ms.float64))"),  # a cast is a copy
        ("torch.tensor(x, dtype=torch.float32)", "(ms.tensor(x, dtype=ms.float32).copy())"),
        ("torch.tensor(x + 1)", "(ms.tensor(x + 1))"),
        ("torch.tensor([1.0, 2.0])", "made = ms.tensor([1.0, 2.0])"),
        ("torch.tensor(given)", "made = functional.new_tensor(given)"),  # a list, or a tensor: made is written into
    ],
)
def test_a_tensor_made_of_a_tensor_has_memory_of_its_own(call: str, expected: str) -> None:
    source = f"x = torch.ones(3, 3)\n\n\ndef f(given):\n    made = {call}\n    made[0] = 1\n    return made\n"
    assert expected in translated(source)[0]


def test_what_nothing_changes_is_made_plainly() -> None:
    assert (
        "made = ms.tensor(given)" in translated("def f(given):\n    made = torch.tensor(given)\n    return made\n")[0]
    )


@pytest.mark.parametrize("view", ["view(4)", "expand(2, 2, 2)", "movedim(0, 1)", "tensor_split(2)", "atleast_3d()"])
def test_what_fills_a_tensor_reaches_its_views(view: str) -> None:
    view = "torch.atleast_3d(x)" if "atleast" in view else f"x.{view}"
    source = f"def f(x: torch.Tensor):\n    y = {view}\n    x[...] = x + 1\n    return x, y\n"
    text, codes = translated(source)
    assert "x[()] = x + 1" in text
    assert codes == []


@pytest.mark.parametrize("change", ["x[x > 0] = 0", "x[...] = x + 1", "x.add_(1)", "x[[0, 1]] = 1"])
def test_a_view_that_is_left_behind_for_the_gradient_is_told(change: str) -> None:
    source = f"def f(x: torch.Tensor):\n    y = x.view(4)\n    {change}\n    return x, y\n" + NETWORK
    assert translated(source)[1] == ["T2M305"]


@pytest.mark.parametrize(
    "body",
    [
        "y = x.view(4)\n    z = y.sum()\n    x[x > 0] = 0\n    return x, z",  # the view is read no more
        "y = x.clone()\n    x[x > 0] = 0\n    return x, y",
        "y = x[x > 0]\n    x[x > 0] = 0\n    return x, y",
        "y = x.view(4)\n    x[0] = 0\n    return x, y",  # elements reach views also where gradients are asked for
    ],
)
def test_nothing_is_told_where_no_view_is_left_behind(body: str) -> None:
    assert translated(f"def f(x: torch.Tensor):\n    {body}\n" + NETWORK)[1] == []


@pytest.mark.parametrize("view", ["x.as_strided((2,), (1,))", "x.adjoint()", "x.flatten(1)"])
def test_a_view_that_is_a_copy_is_told(view: str) -> None:
    source = f"def f(x: torch.Tensor):\n    y = {view}\n    x[0] = 1\n    return x, y\n"
    assert "T2M305" in translated(source)[1]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ("nn.init.ones_(w)", "p = w = ms.Parameter(w)\ninitializers.ones_(w)"),
        ("w[0] = 1", "p = w = ms.Parameter(w)\nw[0] = 1"),
        ("w.fill_(2)", "p = w = ms.Parameter(w)\nw[...] = 2"),
        ("print(w)", "p = ms.Parameter(w)\n"),
    ],
)
def test_a_tensor_that_is_changed_stays_the_parameter_made_of_it(change: str, expected: str) -> None:
    text, codes = translated(f"w = torch.empty(3)\np = nn.Parameter(w)\n{change}\nprint(p)\n")
    assert expected in text
    assert codes == []


def test_a_parameter_in_the_midst_of_a_statement_is_told() -> None:
    text, codes = translated("w = torch.empty(3)\nps = [nn.Parameter(w)]\nw[0] = 1\n")
    assert "ps = [ms.Parameter(w)]" in text
    assert codes == ["T2M305"]


def test_extrema_of_what_may_be_bools() -> None:
    asked = "def f(t):\n    if t.dtype not in (torch.bool, torch.long):\n        raise ValueError\n    return t.max()\n"
    assert "return functional.max(t)" in translated(asked)[0]
    assert "return t.max()" in translated("def f(t):\n    return t.max()\n")[0]


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        ("x.to(torch.float32, copy=True)", "x.astype(ms.float32).copy()"),
        ("x.to('cpu', copy=True)", "y = x.copy()"),
        ("x.new_tensor(x)", "ms.Tensor(x, dtype=x.dtype).copy()"),
        ("x.new_tensor([1.0])", "y = ms.Tensor([1.0], dtype=x.dtype)\n"),
        ("x.to(torch.float32)", "y = x.astype(ms.float32)\n"),
    ],
)
def test_copies_that_are_asked_for(made: str, expected: str) -> None:
    assert expected in translated(f"def f(x: torch.Tensor):\n    y = {made}\n    return y\n")[0]


def test_a_copy_that_nobody_takes_goes_with_the_move() -> None:
    text, _ = translated("x = torch.ones(2)\nx.to('cpu', copy=True)\ny = x\n")
    assert "x = ops.ones(2)\ny = x\n" in text


def test_a_list_that_a_loop_shortens_is_asked_about_once() -> None:
    source = (
        "def fold(x, y):\n    parts = torch.split(x, 2)\n    while len(parts) > 1:\n        first = parts[0]\n"
        "        first.add_(parts[1])\n        parts = parts[1:]\n    return parts\n"
    )
    text, codes = translated(source)
    assert "        first[()] = first + parts[1]\n" in text
    assert codes == []
