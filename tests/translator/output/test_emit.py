"""Writing OUT: whole or not at all, and never over what somebody else put there."""

from __future__ import annotations

import errno
import json
import os
import shutil
import stat
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from torch2ms.errors import InternalError, OutputError
from torch2ms.translator.output.emit import EMITTED, MANIFEST, OutFile, check_out, emit
from torch2ms.translator.output.leftovers import lock
from torch2ms.translator.project.out_names import REPORT_NAME

TEXTS = f"{REPORT_NAME}/{EMITTED}"
FILES = (OutFile("a.py", b"x = 1\n"), OutFile("b/c.txt", b"\0\xff"))


def tree(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.relative_to(folder).as_posix() not in (MANIFEST, TEXTS)
    }


def test_writes_all_files_and_a_manifest(tmp_path: Path) -> None:
    emitted = emit(tmp_path / "out", FILES)
    assert tree(tmp_path / "out") == {"a.py": b"x = 1\n", "b/c.txt": b"\0\xff"}
    assert (emitted.files, emitted.backup) == (2, None)
    assert list(json.loads((tmp_path / "out" / MANIFEST).read_text())["files"]) == ["a.py", "b/c.txt", TEXTS]
    with zipfile.ZipFile(tmp_path / "out" / TEXTS) as kept:
        assert {name: kept.read(name) for name in kept.namelist()} == {"a.py": b"x = 1\n"}  # what can be merged
    assert os.listdir(tmp_path) == ["out"]


def test_copies_links_and_modes(tmp_path: Path) -> None:
    source = tmp_path / "source.bin"
    source.write_bytes(b"z" * 3_000_000)
    files = [
        OutFile("big.bin", copy_of=source),
        OutFile("run.sh", b"#!/bin/sh\n", executable=True),
        OutFile("link", link="big.bin"),
    ]
    out = tmp_path / "out"
    emit(out, files)
    assert (out / "big.bin").read_bytes() == source.read_bytes()
    assert os.readlink(out / "link") == "big.bin"
    assert stat.S_IMODE((out / "run.sh").stat().st_mode) & 0o100
    assert not stat.S_IMODE((out / "big.bin").stat().st_mode) & 0o111
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE(out.stat().st_mode) == 0o777 & ~umask


def test_equal_files_give_equal_trees(tmp_path: Path) -> None:
    emit(tmp_path / "one", FILES)
    emit(tmp_path / "two", reversed(FILES))
    assert tree(tmp_path / "one") == tree(tmp_path / "two")
    assert (tmp_path / "one" / MANIFEST).read_bytes() == (tmp_path / "two" / MANIFEST).read_bytes()


def test_missing_parents_are_made(tmp_path: Path) -> None:
    emit(tmp_path / "x" / "y" / "out", FILES)
    assert (tmp_path / "x" / "y" / "out" / "a.py").exists()


def test_empty_out_is_filled(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    emit(tmp_path / "out", FILES)
    assert (tmp_path / "out" / "a.py").exists()


def test_existing_out_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    out = tmp_path / "out"
    emit(out, FILES)
    with pytest.raises(OutputError, match="exists already"):
        emit(out, [OutFile("new.py", b"")])
    assert sorted(tree(out)) == ["a.py", "b/c.txt"]


def test_force_replaces_what_we_wrote(tmp_path: Path) -> None:
    out = tmp_path / "out"
    emit(out, FILES)
    (out / "__pycache__").mkdir()
    (out / "__pycache__" / "a.pyc").write_bytes(b"")  # left by running it
    emitted = emit(out, [OutFile("new.py", b"")], force=True)
    assert emitted.backup is None
    assert sorted(tree(out)) == ["new.py"]
    assert os.listdir(tmp_path) == ["out"]


@pytest.mark.parametrize("change", ["added", "edited", "link"])
def test_force_keeps_what_was_added_or_edited(tmp_path: Path, change: str) -> None:
    out = tmp_path / "out"
    emit(out, FILES)
    if change == "added":
        (out / "checkpoints").mkdir()
        (out / "checkpoints" / "best.ckpt").write_bytes(b"weeks of training")
    elif change == "edited":
        (out / "a.py").write_text("x = 2\n")
    else:
        (out / "data").symlink_to(tmp_path)
    before = tree(out)
    (tmp_path / "out.backup-1").mkdir()  # that name is taken
    emitted = emit(out, [OutFile("new.py", b"")], force=True)
    assert emitted.backup == tmp_path / "out.backup-2"
    assert tree(emitted.backup) == before
    assert sorted(tree(out)) == ["new.py"]


def test_force_never_replaces_a_foreign_folder_or_file(tmp_path: Path) -> None:
    foreign = tmp_path / "home"
    foreign.mkdir()
    (foreign / "thesis.tex").write_text("x")
    (tmp_path / "file").write_text("x")
    (tmp_path / "link").symlink_to(foreign)
    for name in ("home", "file", "link"):
        with pytest.raises(OutputError):
            emit(tmp_path / name, FILES, force=True)
    assert (foreign / "thesis.tex").read_text() == "x"
    assert (tmp_path / "file").read_text() == "x"


def test_check_out_refuses_early(tmp_path: Path) -> None:
    check_out(tmp_path / "out")
    emit(tmp_path / "out", FILES)
    with pytest.raises(OutputError):
        check_out(tmp_path / "out")
    check_out(tmp_path / "out", force=True)


def test_python_that_does_not_parse_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InternalError, match=r"T2M900.*a\.py"):
        emit(tmp_path / "out", [OutFile("ok.py", b""), OutFile("a.py", b"x = (\n")])
    assert os.listdir(tmp_path) == []


def test_python_copied_from_src_need_not_parse(tmp_path: Path) -> None:
    (tmp_path / "old.py").write_text("print 'hello'\n")
    emit(tmp_path / "out", [OutFile("old.py", copy_of=tmp_path / "old.py")])
    assert (tmp_path / "out" / "old.py").read_text() == "print 'hello'\n"


@pytest.mark.parametrize("path", ["/etc/x", "../x", "a/../../x", "", "a//b", "./a"])
def test_paths_outside_out_are_refused(tmp_path: Path, path: str) -> None:
    with pytest.raises(InternalError, match="T2M900"):
        emit(tmp_path / "out", [OutFile(path, b"")])
    assert os.listdir(tmp_path) == []


def test_a_path_given_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InternalError, match="twice"):
        emit(tmp_path / "out", [*FILES, FILES[0]])
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(143), ValueError("bug"), MemoryError()])
@pytest.mark.parametrize("existing", [False, True])
def test_an_end_before_its_time_leaves_nothing(tmp_path: Path, error: BaseException, existing: bool) -> None:
    out = tmp_path / "deep" / "out" if not existing else tmp_path / "out"
    if existing:
        emit(out, FILES)
    before = tree(tmp_path)

    def files() -> Iterator[OutFile]:
        yield OutFile("new.py", b"")
        raise error

    with pytest.raises(type(error)):
        emit(out, files(), force=existing)
    assert tree(tmp_path) == before
    assert os.listdir(tmp_path) == (["out"] if existing else [])


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EIO])
def test_full_disk_is_a_clear_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    def fail(self: Path, data: bytes) -> int:
        raise OSError(number, os.strerror(number), str(self))

    monkeypatch.setattr(Path, "write_bytes", fail)
    with pytest.raises(OutputError, match=os.strerror(number)) as caught:
        emit(tmp_path / "out", FILES)
    assert caught.value.advice or number == errno.EIO
    assert os.listdir(tmp_path) == []


def test_failure_of_the_last_rename_brings_the_old_out_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out"
    emit(out, FILES)
    rename = Path.rename

    def fail(self: Path, target: Path) -> Path:
        if target == out and ".torch2ms-old-" not in self.name:
            raise OSError(errno.EIO, "Input/output error", str(self))
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", fail)
    with pytest.raises(OutputError):
        emit(out, [OutFile("new.py", b"")], force=True)
    assert sorted(tree(out)) == ["a.py", "b/c.txt"]
    assert os.listdir(tmp_path) == ["out"]


def test_out_that_cannot_be_made_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot write"):
        emit(tmp_path / "file" / "out", FILES)
    with pytest.raises(OutputError, match="cannot write"):
        emit(Path("/proc/torch2ms/out"), FILES)


@pytest.mark.parametrize("name", ["pipe", "torch2ms_report/manifest.json"])
def test_a_pipe_in_out_is_the_users_and_nothing_waits_for_it(tmp_path: Path, name: str) -> None:
    out = tmp_path / "out"
    emit(out, FILES)
    if (out / name).exists():
        (out / name).unlink()
    os.mkfifo(out / name)
    if name == "pipe":
        assert emit(out, FILES, force=True).backup == tmp_path / "out.backup-1"
    else:
        with pytest.raises(OutputError, match="was not written by torch2ms"):
            emit(out, FILES, force=True)


def test_a_folder_that_cannot_be_listed_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out"
    emit(out, FILES)
    (out / "results").mkdir()
    scan = os.scandir

    def refuse(path: object) -> object:
        if str(path).endswith("results"):
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return scan(path)  # type: ignore[call-overload]

    monkeypatch.setattr(os, "scandir", refuse)
    assert emit(out, FILES, force=True).backup == tmp_path / "out.backup-1"


def test_what_cannot_be_deleted_is_kept_and_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out"
    emit(out, FILES)
    monkeypatch.setattr(shutil, "rmtree", lambda path, ignore_errors: None)
    assert emit(out, FILES, force=True).backup == tmp_path / "out.backup-1"
    assert sorted(os.listdir(tmp_path)) == ["out", "out.backup-1"]


def test_leftovers_of_killed_runs_are_cleared_and_told(tmp_path: Path) -> None:
    out = tmp_path / "out"
    emit(out, FILES)
    for name in (".out.torch2ms-abc", ".out.torch2ms-old-abc", ".out.torch2ms-old-xyz", ".out.torch2ms-mine"):
        shutil.copytree(out, tmp_path / name)
    (tmp_path / ".out.torch2ms-old-xyz" / "best.ckpt").write_bytes(b"weeks of training")
    with lock(tmp_path / ".out.torch2ms-mine"):  # of a run that goes on
        emitted = emit(out, FILES, force=True)
    assert sorted(os.listdir(tmp_path)) == [".out.torch2ms-mine", "out", "out.backup-1"]
    assert (tmp_path / "out.backup-1" / "best.ckpt").read_bytes() == b"weeks of training"
    assert [line.split()[0] for line in emitted.cleared] == ["removed", "removed", "a"]
    assert "out.backup-1" in emitted.cleared[2]


def test_a_file_below_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "tools").mkdir()
    files = [OutFile("scripts", link="tools"), OutFile("scripts/run.sh", b"")]
    with pytest.raises(InternalError, match="through a link"):
        emit(tmp_path / "out", files)
