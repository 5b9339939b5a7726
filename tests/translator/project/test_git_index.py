"""Reading git's index as git itself lists it, in all its versions, and giving up on what is none."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from torch2ms.translator.project.git_index import tracked_files

FILES = ("a.py", "a/b.py", "a/long/path/to/some/file.txt", "a/long/path/to/some/other.txt", "z \N{SNOWMAN}.md")


@pytest.fixture
def work_tree(make_tree: Callable[..., Path]) -> Path:
    root = make_tree(dict.fromkeys((*FILES, "untracked.py"), ""))
    subprocess.run(["git", "-C", str(root), "init", "-q"], check=True)
    subprocess.run(["git", "-C", str(root), "add", *FILES], check=True)
    return root


@pytest.mark.parametrize("version", ["2", "3", "4"])
def test_all_versions_of_the_index(work_tree: Path, version: str) -> None:
    if version == "3":
        (work_tree / "new.py").touch()
        subprocess.run(["git", "-C", str(work_tree), "add", "--intent-to-add", "new.py"], check=True)
    else:
        subprocess.run(["git", "-C", str(work_tree), "update-index", "--index-version", version], check=True)
    assert (work_tree / ".git/index").read_bytes()[7] == int(version)
    assert tracked_files(work_tree) == {*FILES, *(["new.py"] if version == "3" else [])}


def test_a_folder_of_a_work_tree(work_tree: Path) -> None:
    assert tracked_files(work_tree / "a/long") == {"path/to/some/file.txt", "path/to/some/other.txt"}


def test_a_linked_work_tree(work_tree: Path, tmp_path: Path) -> None:
    git = ["git", "-C", str(work_tree), "-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run([*git, "commit", "-qm", "x"], check=True)
    subprocess.run([*git, "worktree", "add", "-q", str(tmp_path / "linked")], check=True)
    assert tracked_files(tmp_path / "linked") == set(FILES)


@pytest.mark.parametrize("data", [b"", b"DIRC", b"DIRC\0\0\0\x02\0\0\0\x09", b"x" * 200])
def test_what_is_no_index_says_nothing(work_tree: Path, data: bytes) -> None:
    (work_tree / ".git/index").write_bytes(data)
    assert tracked_files(work_tree) is None


def test_no_work_tree(tmp_path: Path) -> None:
    assert tracked_files(tmp_path) is None
