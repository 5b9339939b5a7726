"""Settings and names that make no sense are errors with their place, at once, and cannot steer the terminal."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from torch2ms.cli import run

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def invoke(capsysbinary: pytest.CaptureFixture[bytes]) -> Run:
    """Run the command line in this process; return exit code, stdout and stderr."""

    def call(*arguments: str) -> tuple[int, str, str]:
        code = run(arguments)
        captured = capsysbinary.readouterr()
        return code, captured.out.decode(), captured.err.decode()

    return call


@pytest.mark.parametrize(
    ("project", "options", "is_exact"),
    [("", (), False), ("", ("--exact",), True), ("[tool.torch2ms]\nexact = true\n", (), True)],
)
def test_exact_takes_the_runtime_where_mindspore_deviates(
    invoke: Run, make_tree: Callable[..., Path], tmp_path: Path, project: str, options: tuple[str, ...], is_exact: bool
) -> None:
    src = make_tree({"pyproject.toml": project, "a.py": "import torch\n\ny = torch.exp(torch.ones(2))\n"})
    code, out, _ = invoke("translate", str(src), str(tmp_path / "out"), "--format", "json", *options)
    assert code == 0
    assert json.loads(out)["target"]["exact"] is is_exact
    assert ("functional.exp" in (tmp_path / "out" / "a.py").read_text(encoding="utf-8")) is is_exact


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[tool.other\n", "no valid TOML"),
        ("[tool]\ntorch2ms = 3\n", "torch2ms must be a table"),
        ('tool = "text"\n', "tool must be a table"),
        (f"x = {'[' * 5000}{']' * 5000}\n", "no valid TOML"),
        (f"x = {'9' * 10_000}\n", "no valid TOML"),
        ("x = 1 #" + "-" * (1 << 20), "larger than"),
        ("[tool.torch2ms]\n" + "k" * 5000 + " = 1\n", "unknown key"),
        ('[tool.torch2ms]\nentry = "a:b\\nimport os"\n', "not an entry"),
        ('[tool.torch2ms]\ndevice = ["gpu"]\n', "device: a list is none of"),
    ],
)
def test_a_broken_pyproject_is_an_error_with_its_place(
    invoke: Run, make_tree: Callable[..., Path], tmp_path: Path, text: str, reason: str
) -> None:
    src = make_tree({"pyproject.toml": text, "a.py": ""})
    code, _, err = invoke("translate", str(src), str(tmp_path / "out"))
    assert code == 2
    assert reason in err
    assert len(err) < 1_500
    assert not (tmp_path / "out").exists()


def test_a_pipe_for_a_pyproject_is_an_error(invoke: Run, make_tree: Callable[..., Path], tmp_path: Path) -> None:
    src = make_tree({"a.py": ""})
    os.mkfifo(src / "pyproject.toml")
    code, _, err = invoke("translate", str(src), str(tmp_path / "out"))
    assert code == 2
    assert "no regular file" in err


@pytest.mark.parametrize("entry", ["net", "net:", ":Net", "net:Net()", 'a:b"', "a:b\nimport os", "a b:c", "a:class"])
def test_an_entry_that_is_none_is_refused_at_once(
    invoke: Run, make_tree: Callable[..., Path], tmp_path: Path, entry: str
) -> None:
    code, _, err = invoke("translate", str(make_tree({"a.py": ""})), str(tmp_path / "out"), "--entry", entry)
    assert code == 2
    assert "write it like package.module:callable" in err
    assert not (tmp_path / "out").exists()


def test_names_of_the_users_cannot_steer_the_terminal(invoke: Run, make_tree: Callable[..., Path]) -> None:
    for arguments in (("translate", "\x1b[31m\u202e", "out"), ("--\x1b[31m",), ("explain", "torch.\x1b[31m\u202e")):
        code, _, err = invoke(*arguments)
        assert code == 2
        assert "\x1b" not in err
        assert "\u202e" not in err


def test_one_file_is_translated_into_one_file(invoke: Run, make_tree: Callable[..., Path], tmp_path: Path) -> None:
    src, out = make_tree({"model.py": "import torch\n\nx = torch.zeros(3)\n"}), tmp_path / "model_ms.py"
    assert invoke("translate", str(src / "model.py"), str(out)) == (0, "", "")
    assert out.read_text() == "from mindspore import ops\n\nx = ops.zeros(3)\n"
    code, _, err = invoke("translate", str(src / "model.py"), str(out), "--force")
    assert (code, "exists already" in err) == (2, True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model_ms.py", src.name]
    code, _, err = invoke("translate", str(src / "model.py"), str(tmp_path / "no" / "model.py"))
    assert (code, "cannot write" in err) == (2, True)
