"""Names of one memory: what expressions share, by the facts, and what a write through one of them becomes."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from torch2ms import translate_project, translate_source
from torch2ms.translator.effects.aliases import Aliases, shared_memory


@pytest.mark.parametrize(
    ("text", "sources"),
    [
        ("x.view(2, 2)", ["x"]),
        ("x.hsplit(2)", ["x"]),
        ("x.T", ["x"]),
        ("x.new_zeros(2)", None),
        ("x.clone()", None),
        ("x.add_(1)", None),
        ("x + 1", None),
        ("-x", None),
    ],
)
def test_what_an_expression_shares_memory_with(text: str, sources: list[str] | None) -> None:
    shared = shared_memory(ast.parse(text, mode="eval").body)
    assert (None if shared is None else [ast.unparse(source) for source in shared.sources]) == sources


@pytest.mark.parametrize(
    ("text", "changed", "others"),
    [
        ("y = x.view(2, 2)\nz = y.t()", "z", {"x", "y"}),
        ("y = x.view(2, 2)\nz = y.t()", "x", {"y", "z"}),
        ("a, b = x.chunk(2)", "a", {"x", "b"}),
        ("y = self.h.view(-1)", "y", {"self.h"}),
        ("row = rows[0]\nother = rows[1]", "row", {"rows"}),
        ("y = x.clone()", "y", set()),
        ("y = x", "y", set()),
        ("y = x.split(1)[0]", "x", {"y"}),
        ("y = items[0]", "items", set()),
        ("g = x.grad", "g", set()),
    ],
)
def test_which_names_change_with_one(text: str, changed: str, others: set[str]) -> None:
    assert Aliases(ast.walk(ast.parse(text))).of({changed}) == others


HEAD = "import torch\n\nx = torch.ones(3)\n"


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("y = x.positive()\ny.add_(1)", "y = x\ny[()] = y + 1"),
        ("y = +x\ny += 1", "y = +x\ny[...] = y + 1"),
        ("y = torch.conj(x)\ny.mul_(2)", "y = x\ny[...] = y * 2"),
        ("y = x.contiguous()\ny[0] = 0", "y = x.contiguous()\ny[0] = 0"),
        ("y = x.contiguous()\ny.add_(1)", "y = x.contiguous()\ny[()] = y + 1"),
        ("y = x.contiguous()\nz = y + 1", "y = x\nz = y + 1"),
        ("y = -x\ny += 1", "y = -x\ny += 1"),
        ("y = x.double()\ny += 1", "y = x.astype(ms.float64)\ny += 1"),
    ],
)
def test_a_write_reaches_the_other_name(text: str, made: str) -> None:
    result = translate_source(f"{HEAD}{text}\n")
    assert result.text.partition("x = ops.ones(3)\n")[2] == f"{made}\n"
    assert [d.code for d in result.diagnostics] == []


@pytest.mark.parametrize(
    "text",
    [
        "y = torch.conj_physical(x)\ny[0] = 0\nprint(x)",
        "y = x.to(x.dtype)\ny[0] = 0\nprint(x)",
        "y = x.sum_to_size(3)\ny.add_(1)\nprint(x)",
        "y = torch.broadcast_tensors(x, x)[0]\ny[0] = 0\nprint(x)",
        "y = torch.nn.Flatten(0)(x)\nx[0] = 0\nprint(y)",
        "y = torch.einsum('ij->ji', x)\nx[...] = 1\nprint(y)",
        "y = x.flatten()\ntorch.add(x, 1, out=x)\nprint(y)",
        "y, z = x.flatten(), [x]\ntorch.add(x, 1, out=x)\nprint(y, z)",
        "y, z = x.flatten(), [x]\nx.add_(1)\nprint(y, z)",
        "y, z = x.flatten(), [x]\nx += 1\nprint(y, z)",
    ],
)
def test_a_write_that_does_not_reach_the_other_name_is_marked(text: str) -> None:
    assert [d.code for d in translate_source(f"{HEAD}{text}\n").diagnostics] == ["T2M305"]


def test_a_write_through_an_alias_stays_before_the_loss() -> None:
    source = """import torch
from torch import nn

net, criterion = nn.Linear(3, 2), nn.MSELoss()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, t = torch.ones(2, 3), torch.ones(2, 2)
opt.zero_grad()
h = net(x)
y = h.to(x.device)
mean = h.mean().item()
y[0] = 0
loss = criterion(h, t)
loss.backward()
opt.step()
print(mean)
"""
    made = """def forward_fn(x, t):
    h = net(x)
    y = h
    mean = h.mean().item()
    y[0] = 0
    loss = criterion(h, t)
    return loss, h, y, mean
"""
    assert made in translate_source(source).text


STEP = """import torch
from torch import nn

net = nn.Linear(3, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
data = torch.ones(2, 3)
opt.zero_grad()
x = net(data)
{lines}
loss = (y * y).mean() + x.sum()
loss.backward()
opt.step()
"""


@pytest.mark.parametrize(
    ("lines", "codes"),
    [
        ("y = x.split(1)[0]\nx[0] = 0", ["T2M305"]),
        ("y = torch.split(x, 1)[0]\nx[0] = 0", ["T2M305"]),
        ("y = x[0]\nx[0] = 0", ["T2M305"]),
        ("z = x.view(4)\ny = z[0]\nx[0] = 0", ["T2M305"]),
        ("z = x[0]\ny = x[0:1]\nz[0] = 0", ["T2M305"]),
        ("y = x[0]\ny[0] = 0", []),
        ("y = x * 2\nx[0] = 0", []),
        ("z = x[0]\nz.sum().item()\nx[0] = 0\ny = x", []),
    ],
)
def test_a_part_written_in_a_step_is_marked_where_a_view_is_read_later(lines: str, codes: list[str]) -> None:
    found = [d.code for d in translate_source(STEP.format(lines=lines)).diagnostics if d.severity.name != "NOTE"]
    assert found == codes


def test_an_argument_changed_by_an_operator_is_marked_where_a_copy_of_it_is_held() -> None:
    source = f"{HEAD}def change(x):\n    y = x.ravel()\n    x += 1\n    return y\n\n\nprint(change(x))\n"
    assert [d.code for d in translate_source(source).diagnostics] == ["T2M305"]


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("y = x.flatten()\nx.add_(1)\nprint(x)", []),
        ("y = x.flatten()\nx += 1\nprint(x)", []),
        ("y = x.flatten()\ntorch.add(x, 1, out=x)\nprint(x)", []),
        ("y = x.flatten()\nprint(y)\nx.add_(1)\nprint(x)", []),
        ("a, b = torch.broadcast_tensors(x, x)\nx.add_(1)\nprint(x, b)", ["T2M305"]),
        ("y = x.flatten()\nz = y[0]\nx.add_(1)\nprint(x)", []),
        ("y = x.flatten()\nz = y[0]\nx.add_(1)\nprint(x, z)", ["T2M305"]),
        ("y = x.flatten()\nprint(x.add_(1), y)", ["T2M305"]),
        ("y = x.flatten()\nx.add_(1)\ndef show():\n    print(y)\nshow()", ["T2M305"]),
        ("class Kept:\n    y = x.flatten()\n    x.add_(1)\nprint(x, Kept.y)", ["T2M305"]),
        ("try:\n    y = x.flatten()\n    x.add_(1)\nfinally:\n    print(y)", ["T2M305"]),
        ("for _ in range(2):\n    y = x.flatten()\n    x.add_(1)\n    print(x)", []),
        ("y = x.flatten()\nfor _ in range(2):\n    print(y)\n    x.add_(1)", ["T2M305"]),
    ],
)
def test_a_name_that_nothing_reads_any_more_keeps_what_it_holds(text: str, codes: list[str]) -> None:
    assert [d.code for d in translate_source(f"{HEAD}{text}\n").diagnostics if d.severity.name != "NOTE"] == codes


CHANGED = "def change(x):\n    y = x.t()\n    x.zero_()\n    return y\n"


@pytest.mark.parametrize(
    ("files", "codes"),
    [
        ({"main.py": f"{HEAD}{CHANGED}print(change(torch.ones(2, 3)))\n"}, []),
        ({"main.py": f"{HEAD}{CHANGED}"}, ["T2M305"]),
        (
            {
                "main.py": f"{HEAD}{CHANGED}print(change(torch.ones(2, 3)))\n",
                "train.py": "from main import change\n",
            },
            ["T2M305"],
        ),
    ],
)
def test_a_function_is_differentiated_only_where_others_may_call_it(
    files: dict[str, str], codes: list[str], tmp_path: Path
) -> None:
    source = tmp_path / "source"
    source.mkdir()
    for name, text in files.items():
        (source / name).write_text(text)
    found = translate_project(source, tmp_path / "out").diagnostics
    assert [d.code for d in found if d.severity.name == "WARNING"] == codes


def test_names_of_a_file_that_is_no_program_may_be_read_elsewhere() -> None:
    text = "import torch\nx = torch.zeros(2)\ny = x.flatten()\nx += 1\n"
    assert [d.code for d in translate_source(text).diagnostics] == ["T2M305"]
    assert not translate_source(text + "print(x)\n").diagnostics
