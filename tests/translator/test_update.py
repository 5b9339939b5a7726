"""Translating again: what the user changed in OUT is merged with what SRC became; conflicts are marked and told."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from torch2ms.cli import run
from torch2ms.config import Options
from torch2ms.errors import UsageError
from torch2ms.translator.pipeline import translate_project
from torch2ms.translator.update import Update, update_project

MakeTree = Callable[..., Path]
NET = """import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 3)

    def forward(self, x):
        return self.fc(x)


WIDTH = 3


def size():
    return WIDTH
"""


@pytest.fixture
def src(make_tree: MakeTree) -> Path:
    return make_tree({"net.py": NET, "use.py": "from net import Net\nnet = Net()\nnet.eval()\n", "note.txt": "one\n"})


@pytest.fixture
def out(src: Path, tmp_path: Path) -> Path:
    translate_project(src, tmp_path / "out")
    return tmp_path / "out"


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def tree(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file() and "torch2ms_report" not in path.parts)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def told(made: Update) -> dict[str, list[str]]:
    return {kind: paths for kind, paths in made.to_json().items() if paths}


def test_without_edits_it_is_a_translation(src: Path, out: Path, tmp_path: Path) -> None:
    edit(src / "net.py", "WIDTH = 3", "WIDTH = 4")
    (src / "new.py").write_text("import torch\nx = torch.zeros(2)\n")
    (src / "note.txt").unlink()
    _, made = update_project(src, out)
    translate_project(src, tmp_path / "fresh")
    assert tree(out) == tree(tmp_path / "fresh")
    assert told(made) == {"added": ["new.py"], "updated": ["net.py"], "removed": ["note.txt"]}
    assert (out / "torch2ms_report/manifest.json").read_bytes() == (
        tmp_path / "fresh/torch2ms_report/manifest.json"
    ).read_bytes()
    assert told(update_project(src, out)[1]) == {}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["fresh", "out", "src"]


def test_edits_apart_are_merged_over_a_history(src: Path, out: Path) -> None:
    edit(out / "net.py", "return WIDTH", "return 2 * WIDTH  # mine")
    (out / "runs").mkdir()
    (out / "runs/weights.bin").write_bytes(b"\0mine")
    (out / "empty").mkdir()
    for width in (5, 7):
        edit(src / "net.py", "nn.Linear(2,", f"nn.Linear(1 + {width},")
        report, made = update_project(src, out)
        assert told(made) == {"kept": ["runs/weights.bin"], "merged": ["net.py"]}
        text = (out / "net.py").read_text()
        assert f"nn.Dense(1 + {width}" in text
        assert "return 2 * WIDTH  # mine" in text
        assert (out / "runs/weights.bin").read_bytes() == b"\0mine"
        edit(src / "net.py", f"nn.Linear(1 + {width},", "nn.Linear(2,")
    assert report.target == Options().target
    # What only the user changed stays, whatever else is translated anew.
    update_project(src, out)
    edit(src / "use.py", "net.eval()", "net.train()")
    assert told(update_project(src, out)[1]) == {"kept": ["net.py", "runs/weights.bin"], "updated": ["use.py"]}


def test_contradicting_edits_are_marked_as_git_marks_them(src: Path, out: Path) -> None:
    edit(out / "net.py", "WIDTH = 3", "WIDTH = 30")
    edit(src / "net.py", "WIDTH = 3", "WIDTH = 4")
    _, made = update_project(src, out)
    assert told(made) == {"conflicts": ["net.py: 1 place between <<<<<<< and >>>>>>>"]}
    assert "<<<<<<< OUT\nWIDTH = 30\n=======\nWIDTH = 4\n>>>>>>> torch2ms\n" in (out / "net.py").read_text()
    # Settled by the user, it is an edit like others.
    (out / "net.py").write_text((out / "net.py").read_text().split("<<<<<<<")[0] + "WIDTH = 30\n")
    assert told(update_project(src, out)[1]) == {"kept": ["net.py"]}


def test_deletions_of_either_side(src: Path, out: Path) -> None:
    (out / "note.txt").unlink()
    (out / "use.py").unlink()
    edit(out / "net.py", "WIDTH = 3", "WIDTH = 30")
    edit(src / "use.py", "net.eval()", "net.train()")
    (src / "net.py").rename(src / "other.py")
    _, made = update_project(src, out)
    assert not (out / "note.txt").exists()
    assert (out / "use.py").exists()
    assert (out / "net.py").read_text().count("WIDTH = 30") == 1
    assert made.conflicts == [
        "net.py: changed by you, and SRC no longer has it",
        "use.py: deleted by you, and changed since: it is there again",
    ]


def test_what_is_no_text_is_put_beside(src: Path, out: Path) -> None:
    (out / "note.txt").write_bytes(b"\0mine")
    (out / "added.txt").write_text("same\nmine\n")
    (src / "note.txt").write_text("two\n")
    (src / "added.txt").write_text("same\nother\n")
    _, made = update_project(src, out)
    assert (out / "note.txt").read_bytes() == b"\0mine"
    assert (out / "note.txt.torch2ms-new").read_text() == "two\n"
    assert (out / "added.txt").read_text().startswith("same\n<<<<<<< OUT\nmine\n=======\n")
    assert [line.partition(":")[0] for line in made.conflicts] == ["added.txt", "note.txt"]


def test_a_folder_in_the_way_of_the_users_file(src: Path, out: Path) -> None:
    (out / "pkg").write_text("mine\n")
    (src / "pkg").mkdir()
    (src / "pkg/a.py").write_text("x = 1\n")
    _, made = update_project(src, out)
    assert (out / "pkg/a.py").exists()
    assert (out / "pkg.torch2ms-new").read_text() == "mine\n"
    assert len(made.conflicts) == 1


def test_links_and_modes_of_the_user_stay(src: Path, out: Path) -> None:
    (out / "link").symlink_to("net.py")
    edit(out / "use.py", "net = ", "other = ")
    (out / "use.py").chmod(0o755)
    edit(src / "use.py", "from net import Net\n", "import os\nfrom net import Net\n")
    update_project(src, out)
    assert os.readlink(out / "link") == "net.py"
    assert (out / "use.py").stat().st_mode & 0o111


def test_a_failure_leaves_out_as_it_was(src: Path, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    edit(out / "net.py", "WIDTH = 3", "WIDTH = 30")
    before = tree(out)
    monkeypatch.setattr("torch2ms.translator.update._Merger.run", lambda self: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        update_project(src, out)
    assert tree(out) == before
    assert sorted(path.name for path in out.parent.iterdir()) == ["out", "src"]


def test_a_folder_of_others_is_refused(src: Path, make_tree: MakeTree) -> None:
    with pytest.raises(UsageError, match="not written by torch2ms"):
        update_project(src, make_tree({"a.py": ""}, "foreign"))


def test_the_command_remembers_its_options(src: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(tmp_path / "out")
    assert run(["translate", str(src), out, "--mindspore", "2.8", "--exclude", "use.py"]) == 0
    manifest = json.loads((tmp_path / "out/torch2ms_report/manifest.json").read_text())
    assert manifest["settings"] == {"exclude": ["use.py"], "mindspore": "2.8"}
    assert set(manifest["source"]) == {"net.py"}
    assert str(tmp_path) not in json.dumps(manifest)
    assert run(["update", str(src), out]) == 0
    said = capsys.readouterr()
    assert "MindSpore 2.8" in said.out
    assert "update: nothing changed" in said.err
    edit(tmp_path / "out/net.py", "WIDTH = 3", "WIDTH = 30")
    edit(src / "net.py", "WIDTH = 3", "WIDTH = 4")
    assert run(["update", str(src), out]) == 1
    assert "conflict  net.py: 1 place" in capsys.readouterr().err
    assert run(["update", str(src), out, "--device", "ascend"]) == 0
    assert "2.8, ascend" in capsys.readouterr().out


def test_mapping_tables_must_be_given_again(src: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "my.toml").write_text("")
    command = [str(src), str(tmp_path / "out")]
    assert run(["translate", *command, "--mapping", str(tmp_path / "my.toml")]) == 0
    assert run(["update", *command]) == 2
    assert "give them again with --mapping" in capsys.readouterr().err
    assert run(["update", *command, "--mapping", str(tmp_path / "my.toml")]) == 0


def test_force_warns_of_edits_before_they_go(src: Path, out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["translate", str(src), str(out), "--force"]) == 0
    assert "warning" not in capsys.readouterr().err
    edit(out / "net.py", "WIDTH = 3", "WIDTH = 30")
    (out / "mine.txt").touch()
    assert run(["translate", str(src), str(out), "--force"]) == 0
    said = capsys.readouterr().err
    assert "2 files of" in said
    assert "mine.txt, net.py" in said
    assert f"torch2ms update {src} {out}" in said
    assert (out.parent / "out.backup-1/mine.txt").exists()
