"""Which files of SRC are translated, which are copied, which are left out and told."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from torch2ms.config import Options
from torch2ms.errors import UsageError
from torch2ms.translator.pipeline import translate_project
from torch2ms.translator.project.source_tree import Project, read_project

MakeTree = Callable[..., Path]
NET = "import torch\nclass Net(torch.nn.Linear):\n    pass\n"


def paths(project: Project) -> list[str]:
    return [file.path for file in project.files]


def left(project: Project) -> dict[str, str]:
    return {entry.path: entry.reason for entry in project.left_out}


def test_exclude_takes_patterns_as_in_a_gitignore(make_tree: MakeTree) -> None:
    src = make_tree(
        {"a.py": "", "tests/b.py": "", "p/tests/c.py": "", "p/gen_x.py": "", "p/keep.py": "", "n.ipynb": "{}"}
    )
    project = read_project(src, exclude=["/tests", "*.ipynb", "p/gen_*.py"])
    assert paths(project) == ["a.py", "p/keep.py", "p/tests/c.py"]
    assert left(project) == {
        "n.ipynb": "exclude *.ipynb",
        "p/gen_x.py": "exclude p/gen_*.py",
        "tests/": "exclude /tests",
    }


@pytest.mark.parametrize("pattern", ["", "!"])
def test_a_pattern_that_names_nothing_is_refused(make_tree: MakeTree, pattern: str) -> None:
    with pytest.raises(UsageError, match="not a pattern"):
        read_project(make_tree({"a.py": ""}), exclude=[pattern])


def test_gitignore_files_are_heard_nearest_first(make_tree: MakeTree) -> None:
    files = {".gitignore": "gen_*\nruns/\n", "gen_a.py": "", "runs/b.py": "", "p/.gitignore": "!gen_b.py\n"}
    project = read_project(make_tree({**files, "p/gen_b.py": "", "p/gen_c.py": "", "a.py": ""}))
    assert paths(project) == [".gitignore", "a.py", "p/.gitignore", "p/gen_b.py"]
    assert left(project) == dict.fromkeys(("gen_a.py", "p/gen_c.py", "runs/"), ".gitignore")


def test_an_archive_holds_its_ignored_data_on_purpose(make_tree: MakeTree) -> None:
    src = make_tree(
        {".gitignore": "data/\n*.txt\nruns/\n", "data/x/a.csv": "", "b.txt": "", "runs/c.py": "", "runs/d.txt": ""}
    )
    assert paths(read_project(src)) == [".gitignore", "b.txt", "data/x/a.csv"]
    subprocess.run(["git", "-C", str(src), "init", "-q"], check=True)
    subprocess.run(["git", "-C", str(src), "add", ".gitignore"], check=True)
    assert left(read_project(src)) == dict.fromkeys(("b.txt", "data/", "runs/"), ".gitignore")


def test_what_git_tracks_is_not_ignored(make_tree: MakeTree) -> None:
    src = make_tree({".gitignore": "lib/\nbuild/\n", "lib/net.py": "", "lib/x.yaml": "", "build/a.py": "", "m.py": ""})
    git = ["git", "-C", str(src), "-c", "core.excludesFile="]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "add", "-f", "lib/net.py", "m.py", ".gitignore"], check=True)
    project = read_project(src)
    assert paths(project) == [".gitignore", "lib/net.py", "m.py"]
    assert left(project) == {"build/": ".gitignore", "lib/x.yaml": ".gitignore"}
    assert paths(read_project(src / "lib")) == ["net.py", "x.yaml"]  # a .gitignore above SRC is another folder's


def test_products_environments_and_earlier_translations_are_left_out(make_tree: MakeTree) -> None:
    manifest = '{"schema": 1, "files": {}}'
    files = {
        "build/a.py": "",
        "dist/b.whl": "",
        "node_modules/c.js": "",
        "env/pyvenv.cfg": "",
        "conda/conda-meta/x": "",
    }
    out = {"out/torch2ms_report/manifest.json": manifest, "out/net.py": ""}
    project = read_project(make_tree({**files, **out, "pkg/build/__init__.py": "", "a.py": ""}))
    assert paths(project) == ["a.py", "pkg/build/__init__.py"]
    assert left(project) == {
        "build/": "build products",
        "conda/": "a virtual environment",
        "dist/": "build products",
        "env/": "a virtual environment",
        "node_modules/": "installed packages",
        "out/": "an earlier translation",
    }


def test_large_data_is_left_out_with_its_size(make_tree: MakeTree) -> None:
    src = make_tree(
        {"a.py": "", "w.pth": b"x" * 30, "p/b.py": "", "p/x.csv": b"x" * 5, "d/1/a": b"x" * 8, "d/2/b": b"x" * 8}
    )
    project = read_project(src, data_limit=10)
    assert paths(project) == ["a.py", "p/b.py", "p/x.csv"]
    assert [(e.path, e.reason, e.size, e.files) for e in project.left_out] == [
        ("d/", "large data", 16, 2),
        ("w.pth", "large data", 30, 1),
    ]


def test_an_excluded_file_that_is_imported_is_copied_and_told(make_tree: MakeTree, tmp_path: Path) -> None:
    src = make_tree({"main.py": "from old.net import Net\nnet = Net(1, 1)\n", "old/net.py": NET, "old/other.py": NET})
    report = translate_project(src, tmp_path / "out", Options(exclude=("old",)))
    assert (tmp_path / "out/old/net.py").read_text() == NET
    assert not (tmp_path / "out/old/other.py").exists()
    assert [(e.path, e.reason) for e in report.left_out] == [("old/", "exclude old")]
    assert [(d.code, d.file, str(d.severity)) for d in report.diagnostics] == [("T2M107", "old/net.py", "warning")]


def test_ignored_modules_that_are_imported_belong_to_the_program(make_tree: MakeTree, tmp_path: Path) -> None:
    files = {"main.py": "from lib.net import Net\n", "lib/net.py": NET, "lib/c.yaml": "x", "runs/lib/net.py": NET}
    report = translate_project(make_tree({**files, ".gitignore": "/lib/\nruns\n"}), tmp_path / "out")
    assert "torch2ms_runtime" in (tmp_path / "out/lib/net.py").read_text()
    assert (tmp_path / "out/lib/c.yaml").exists()
    assert [entry.path for entry in report.left_out] == ["runs/"]


def test_a_copy_aside_replaces_no_module_of_the_program(make_tree: MakeTree, tmp_path: Path) -> None:
    files = {"main.py": "import pkg.net\n", "pkg/__init__.py": "", "pkg/net.py": NET, "build/lib/pkg/net.py": NET}
    report = translate_project(make_tree(files), tmp_path / "out")
    assert [entry.path for entry in report.left_out] == ["build/"]


def test_a_file_that_asks_for_it_is_copied(make_tree: MakeTree, tmp_path: Path) -> None:
    text = "# torch2ms: skip-file\nimport torch\ntorch.bogus()\n"
    said = 'import torch\nS = """\n# torch2ms: skip-file\n"""\nx = torch.zeros(2)\n'
    report = translate_project(make_tree({"a.py": text, "b.py": said}), tmp_path / "out")
    assert (tmp_path / "out/a.py").read_text() == text
    assert {file.path: file.status for file in report.files if file.source or file.note} == {
        "a.py": "copied",
        "b.py": "translated",
    }
    assert [(d.code, d.file, str(d.severity)) for d in report.diagnostics] == [("T2M107", "a.py", "note")]


@pytest.mark.parametrize(
    ("entry", "message"),
    [("modle:Net", "SRC has no module modle"), ("model:Nett", "model.py has no Nett"), ("p.model:net", "no module")],
)
def test_an_entry_that_is_not_there_is_refused_at_once(make_tree: MakeTree, entry: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        translate_project(make_tree({"model.py": NET}), None, Options(entry=entry))


@pytest.mark.parametrize("text", [NET, "from other import Net\n", "from other import *\n", "if 1:\n    Net = print\n"])
def test_an_entry_may_be_bound_in_any_way(make_tree: MakeTree, text: str) -> None:
    translate_project(make_tree({"src/pkg/model.py": text}), None, Options(entry="pkg.model:Net"))
