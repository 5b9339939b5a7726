"""What ``torch2ms translate`` shows and says of real translations."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from torch2ms.cli import run

NET = "import torch\nclass Net(torch.nn.Linear):\n    pass\n"
MakeTree = Callable[..., Path]
Captured = pytest.CaptureFixture[str]


def test_diff_shows_the_projects_files_and_the_generated_ones_on_request(make_tree: MakeTree, capsys: Captured) -> None:
    src = str(make_tree({"net.py": NET}))
    assert run(["translate", src, "--diff"]) == 0
    said = capsys.readouterr()
    assert said.out.count("diff --git") == 1
    assert "1 of 1 files would change, 2 would be generated (--generated shows them)" in said.err
    assert run(["translate", src, "--diff", "--generated"]) == 0
    out = capsys.readouterr().out
    assert out.index("a/net.py") < out.index("a/convert_weights.py")


@pytest.mark.parametrize(
    ("options", "module"), [((), "torch2ms_runtime"), (("--runtime", "installed"), "torch2ms.runtime")]
)
def test_a_pipe_says_what_its_text_needs(
    monkeypatch: pytest.MonkeyPatch, capsys: Captured, options: tuple[str, ...], module: str
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(NET.encode())))
    run(["translate", "-", *options])
    said = capsys.readouterr()
    assert f"from {module} import" in said.out
    assert ("imports torch2ms_runtime" in said.err) is not bool(options)
