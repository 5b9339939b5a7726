"""Reading SRC: which files, which kinds, and what is reported instead of followed."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from torch2ms.errors import InputError, UsageError
from torch2ms.translator.project.source_tree import Project, mentions_torch, read_project, refuse_nesting

MakeTree = Callable[..., Path]


def paths(project: Project) -> list[str]:
    return [file.path for file in project.files]


def codes(project: Project) -> list[tuple[str, str]]:
    return [(diagnostic.code, diagnostic.file) for diagnostic in project.diagnostics]


def test_files_are_sorted_and_have_kinds(make_tree: MakeTree) -> None:
    src = make_tree({"b.py": "", "a/z.ipynb": "{}", "a/m.pyi": "", "README.md": "x", "data.bin": b"\0"})
    project = read_project(src)
    assert [(file.path, file.kind) for file in project.files] == [
        ("README.md", "other"),
        ("a/m.pyi", "python"),
        ("a/z.ipynb", "notebook"),
        ("b.py", "python"),
        ("data.bin", "other"),
    ]
    assert project.diagnostics == ()


def test_version_control_caches_and_environments_are_left_out(make_tree: MakeTree) -> None:
    skipped = (".git/HEAD", "__pycache__/a.pyc", "p/__pycache__/b.pyc", ".mypy_cache/x", "old.pyc", "env/pyvenv.cfg")
    src = make_tree({**dict.fromkeys(skipped, ""), "env/lib/t.py": "", ".github/ci.yml": "", "p/__init__.py": ""})
    assert paths(read_project(src)) == [".github/ci.yml", "p/__init__.py"]


def test_executable_script_without_suffix_is_python(make_tree: MakeTree) -> None:
    src = make_tree({"train": "#!/usr/bin/env python3\nimport torch\n", "run": "#!/bin/sh\n", "notes": "python"})
    for name in ("train", "run"):
        (src / name).chmod(0o755)
    kinds = {file.path: file.kind for file in read_project(src).files}
    assert kinds == {"train": "python", "run": "other", "notes": "other"}


def test_single_file(make_tree: MakeTree) -> None:
    src = make_tree({"a.py": "import torch\n", "b.py": ""})
    project = read_project(src / "a.py")
    assert paths(project) == ["a.py"]
    assert project.single
    assert project.root == src.resolve()


def test_single_file_of_another_kind_is_refused(make_tree: MakeTree) -> None:
    src = make_tree({"a.txt": "torch"})
    with pytest.raises(InputError, match="no Python file"):
        read_project(src / "a.txt")


def test_missing_and_empty_sources_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no"):
        read_project(tmp_path / "missing")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="holds no file"):
        read_project(tmp_path / "empty")


def test_unlistable_source_is_refused(make_tree: MakeTree, monkeypatch: pytest.MonkeyPatch) -> None:
    src = make_tree({"a.py": ""})

    def refuse(folder: object) -> object:
        raise PermissionError(13, "Permission denied", str(folder))

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(InputError, match="Permission denied"):
        read_project(src)


def test_unreadable_folder_and_file_are_reported(make_tree: MakeTree, monkeypatch: pytest.MonkeyPatch) -> None:
    src = make_tree({"a.py": "", "secret/b.py": "", "locked.py": ""})
    scandir, access = os.scandir, os.access

    def selective(folder: str | Path) -> object:
        if Path(folder).name == "secret":
            raise PermissionError(13, "Permission denied", str(folder))
        return scandir(folder)

    monkeypatch.setattr(os, "scandir", selective)
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).name != "locked.py" and access(path, mode))
    project = read_project(src)
    assert paths(project) == ["a.py"]
    assert codes(project) == [("T2M103", "locked.py"), ("T2M103", "secret")]


def test_pipe_is_reported_and_not_opened(make_tree: MakeTree) -> None:
    src = make_tree({"a.py": ""})
    os.mkfifo(src / "pipe.py")
    project = read_project(src)
    assert paths(project) == ["a.py"]
    assert codes(project) == [("T2M103", "pipe.py")]


def test_name_that_is_no_utf8_is_reported(make_tree: MakeTree) -> None:
    src = make_tree({"a.py": ""})
    try:
        Path(os.fsdecode(os.fsencode(src) + b"/\xff.py")).write_text("")
    except OSError:
        pytest.skip("the file system takes no such name")
    project = read_project(src)
    assert paths(project) == ["a.py"]
    assert codes(project) == [("T2M103", "\\xff.py")]


def test_links_inside_stay_links_and_python_links_are_files(make_tree: MakeTree) -> None:
    src = make_tree({"lib/m.py": "import torch\n", "lib/data.txt": "x"})
    (src / "m2.py").symlink_to("lib/m.py")
    (src / "absolute.txt").symlink_to(src / "lib" / "data.txt")
    (src / "libs").symlink_to("lib")
    project = read_project(src)
    found = {file.path: (file.kind, file.link) for file in project.files}
    assert found == {
        "absolute.txt": ("other", "lib/data.txt"),
        "lib/data.txt": ("other", None),
        "lib/m.py": ("python", None),
        "libs": ("other", "lib"),
        "m2.py": ("python", None),
    }
    assert project.diagnostics == ()


def test_links_out_and_in_circles_are_reported(make_tree: MakeTree, tmp_path: Path) -> None:
    (tmp_path / "outside.py").write_text("import torch\n")
    src = make_tree({"a.py": "", "deep/b.py": ""})
    (src / "out.py").symlink_to("../outside.py")
    (src / "self").symlink_to("self")
    (src / "one").symlink_to("two")
    (src / "two").symlink_to("one")
    (src / "deep" / "up").symlink_to("..")
    (src / "dangling").symlink_to("/nowhere/at/all")
    project = read_project(src)
    assert paths(project) == ["a.py", "deep/b.py"]
    assert codes(project) == [("T2M104", name) for name in ("dangling", "deep/up", "one", "out.py", "self", "two")]


def test_source_reached_through_a_link(make_tree: MakeTree, tmp_path: Path) -> None:
    src = make_tree({"a.py": "", "b/c.txt": ""})
    (src / "c").symlink_to("b/c.txt")
    (tmp_path / "alias").symlink_to(src)
    project = read_project(tmp_path / "alias")
    assert paths(project) == ["a.py", "b/c.txt", "c"]
    assert project.diagnostics == ()


@pytest.mark.parametrize("out", [".", "out", "a/deeper/out", ".."])
def test_out_inside_src_and_src_inside_out_are_refused(make_tree: MakeTree, out: str) -> None:
    src = make_tree({"a/b.py": ""})
    with pytest.raises(UsageError, match=r"inside|same"):
        read_project(src, out=src / out)


def test_nesting_is_seen_through_links(make_tree: MakeTree, tmp_path: Path) -> None:
    src = make_tree({"a/b.py": ""})
    (tmp_path / "alias").symlink_to(src)
    with pytest.raises(UsageError, match="lies inside SRC"):
        refuse_nesting(src, tmp_path / "alias" / "out")
    refuse_nesting(src, tmp_path / "src2")  # a common prefix of names is no nesting
    refuse_nesting(src / "a" / "b.py", src / "a" / "out")  # beside a single file


def test_mentions_torch() -> None:
    assert mentions_torch(b"import torch.nn as nn")
    assert not mentions_torch(b"import numpy as np")
