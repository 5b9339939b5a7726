"""Networks that run themselves in their constructor, in train mode as PyTorch's are born; buffers set from outside."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from torch2ms import translate_project, translate_source

HEAD = "import torch\nfrom torch import nn\n\n\n"
CLASS = """class Net(nn.Module):
    def __init__(self, wide):
        super().__init__()
        self.norm = nn.BatchNorm2d(3)
{lines}
    def forward(self, x):
        return self.norm(x)
"""


def text_of(*lines: str) -> str:
    return translate_source(HEAD + CLASS.format(lines="".join(f"        {line}\n" for line in lines))).text


@pytest.mark.parametrize(
    "run", ["self.width = self(torch.zeros(1, 3, 8, 8)).shape[1]", "self.width = self.forward(torch.zeros(1, 3, 8, 8))"]
)
def test_the_mode_is_set_in_front_of_the_first_run(run: str) -> None:
    text = text_of("x = 1", run, run)
    assert "        x = 1\n        self.set_train()\n        self.width = self" in text
    assert text.count("set_train") == 1


def test_a_function_that_runs_the_network_is_a_run() -> None:
    text = text_of(
        "def run(x):", "    return self.forward(x)", "", "self.width = run(torch.zeros(1, 3, 8, 8)).shape[1]"
    )
    assert "        self.set_train()\n\n        def run(x):" in text


def test_each_branch_sets_it() -> None:
    text = text_of("if wide:", "    self(torch.zeros(1, 3, 8, 8))", "else:", "    self(torch.zeros(1, 3, 9, 9))")
    assert text.count("            self.set_train()\n            self(ops.zeros(") == 2


@pytest.mark.parametrize(
    "lines",
    [
        ("self.eval()", "self(torch.zeros(1, 3, 8, 8))"),
        ("self.width = self.norm(torch.zeros(1, 3, 8, 8)).shape[1]",),
        ("other(self)",),
    ],
)
def test_other_constructors_stay(lines: tuple[str, ...]) -> None:
    assert "self.set_train()" not in text_of(*lines)


def test_where_no_layer_minds_nothing_is_set() -> None:
    source = HEAD + CLASS.format(lines="        self(torch.zeros(1, 3))\n").replace(
        "nn.BatchNorm2d(3)", "nn.Linear(3, 3)"
    )
    assert "set_train" not in translate_source(source).text


BUFFER = """class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer('anchors', torch.ones(3, 2))


def change(head):
    {line}
"""


@pytest.mark.parametrize(
    ("line", "native"),
    [
        ("head.anchors /= 2", False),
        ("head.anchors = head.anchors * 2", False),
        ("head.anchors[:] = 2", True),
        ("print(head.anchors)", True),
    ],
)
def test_a_buffer_that_is_set_from_outside_may_be_set(line: str, native: bool) -> None:
    text = translate_source(HEAD + BUFFER.format(line=line)).text
    assert ("        self.register_buffer('anchors'" in text) is native
    assert ("modules.register_buffer(self, 'anchors'" in text) is not native


def test_a_network_of_parts_from_another_file_is_in_train_mode_too(
    make_tree: Callable[..., Path], tmp_path: Path
) -> None:
    parts = HEAD + "class Part(nn.Module):\n    def forward(self, x):\n        return x if self.training else (x, x)\n"
    net = "import torch\nfrom torch import nn\nfrom parts import Part\n\n\nclass Net(nn.Module):\n"
    net += "    def __init__(self, parts):\n        super().__init__()\n        self.parts = nn.Sequential(*parts)\n"
    net += "        with torch.no_grad():\n            self.width = self.forward(torch.zeros(1, 3)).shape[1]\n\n"
    net += "    def forward(self, x):\n        return self.parts(x)\n"
    translate_project(make_tree({"parts.py": parts, "net.py": net}), tmp_path / "out")
    assert "        self.set_train()\n        self.width" in (tmp_path / "out" / "net.py").read_text(encoding="utf-8")
