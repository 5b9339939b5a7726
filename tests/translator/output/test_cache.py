"""The cache of translations: never a stale result, never a fault."""

from __future__ import annotations

import hashlib
import io
import os
import pickle
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from torch2ms.config import Options, Target
from torch2ms.diagnostics import Diagnostic, Severity
from torch2ms.translator import pipeline
from torch2ms.translator.output import cache
from torch2ms.translator.output.file_result import FileResult
from torch2ms.translator.pipeline import translate_project
from torch2ms.translator.project.source_tree import read_project

MakeTree = Callable[..., Path]
KEY_OF = cache.key_of  # before conftest turns it off

FILES = {
    "net.py": "import torch\n\n\ndef show(x):\n    return x.size(0)\n",
    "main.py": "import torch\nfrom net import show\n\nprint(show(torch.ones(2)))\n",
    "free.py": "x = 1\n",
    "notes.txt": "torch\n",
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of the test's own, turned on."""
    monkeypatch.setattr(cache, "key_of", KEY_OF)
    monkeypatch.setattr(cache, "FOLDER", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def translated(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that were really translated, in order."""
    seen: list[str] = []
    original = pipeline.translate_file

    def translate(path: str, *rest: Any) -> FileResult:
        seen.append(path)
        return original(path, *rest)

    monkeypatch.setattr(pipeline, "translate_file", translate)
    return seen


def _tree(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_a_second_run_translates_nothing_and_gives_the_same(
    make_tree: MakeTree, tmp_path: Path, translated: list[str]
) -> None:
    source = make_tree(FILES)
    first = translate_project(source, tmp_path / "first")
    assert translated == ["main.py", "net.py"]
    second = translate_project(source, tmp_path / "second")
    assert translated == ["main.py", "net.py"]
    assert second == first
    assert _tree(tmp_path / "second") == _tree(tmp_path / "first")


def test_a_change_elsewhere_that_changes_a_kind_is_seen(make_tree: MakeTree, tmp_path: Path) -> None:
    source = make_tree(FILES)
    translate_project(source, tmp_path / "first")
    assert "x.shape[0]" in (tmp_path / "first" / "net.py").read_text()
    (source / "main.py").write_text("from net import show\nfrom PIL import Image\n\nprint(show(Image.open('a.png')))\n")
    translate_project(source, tmp_path / "second")
    assert "x.size(0)" in (tmp_path / "second" / "net.py").read_text()


@pytest.mark.parametrize(
    "change",
    [
        lambda root: (root / "free.py").write_text("x = 2\n"),
        lambda root: (root / "free.py").rename(root / "freed.py"),
        lambda root: (root / "new.py").write_text(""),
        lambda root: (root / "net.py").write_bytes(FILES["net.py"].replace("\n", "\r\n").encode()),
    ],
    ids=["bytes", "name", "new file", "newlines"],
)
def test_the_key_follows_the_python_files(make_tree: MakeTree, change: Callable[[Path], object]) -> None:
    source = make_tree(FILES)
    before = KEY_OF(read_project(source), Options())
    change(source)
    assert KEY_OF(read_project(source), Options()) != before


def test_the_key_leaves_other_files_and_the_place_out(make_tree: MakeTree) -> None:
    source = make_tree(FILES)
    before = KEY_OF(read_project(source), Options())
    (source / "notes.txt").write_text("other")
    assert KEY_OF(read_project(source), Options(jobs=4)) == before
    source.parent.joinpath("elsewhere").mkdir()
    moved = source.rename(source.parent / "elsewhere" / "src")
    assert KEY_OF(read_project(moved), Options()) == before


def test_the_key_follows_options_and_mappings(make_tree: MakeTree, tmp_path: Path) -> None:
    project = read_project(make_tree(FILES))
    mapping = tmp_path / "my.toml"
    mapping.write_text('namespace = "torch"\n')
    options = [
        Options(),
        Options(target=Target(mindspore=(2, 7))),
        Options(target=Target(device="ascend")),
        Options(on_unsupported="raise"),
        Options(runtime="installed"),
        Options(mode="graph"),
        Options(mappings=(str(mapping),)),
    ]
    keys = [KEY_OF(project, choice) for choice in options]
    assert None not in keys
    assert len(set(keys)) == len(options)
    mapping.write_text('namespace = "torch.nn"\n')
    assert KEY_OF(project, options[-1]) != keys[-1]


def test_the_key_follows_the_tool(make_tree: MakeTree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = read_project(make_tree(FILES))
    package = tmp_path / "package"
    package.mkdir()
    monkeypatch.setattr(cache, "_PACKAGE", package)
    keys = {KEY_OF(project, Options())}
    (package / "rows.toml").write_text("a = 1\n")
    keys.add(KEY_OF(project, Options()))
    (package / "rows.toml").write_text("a = 10\n")
    keys.add(KEY_OF(project, Options()))
    os.utime(package / "rows.toml", ns=(1, 1))
    keys.add(KEY_OF(project, Options()))
    monkeypatch.setattr("torch2ms.__version__", "99")
    keys.add(KEY_OF(project, Options()))
    assert len(keys) == 5


def test_no_cache_neither_reads_nor_writes(make_tree: MakeTree, folder: Path, translated: list[str]) -> None:
    source = make_tree(FILES)
    translate_project(source, None, Options(cache=False))
    assert not folder.exists()
    translate_project(source, None)
    translate_project(source, None, Options(cache=False))
    assert len(translated) == 6


@pytest.mark.parametrize("damage", [b"", b"x" * 100, None], ids=["empty", "noise", "cut"])
def test_a_damaged_entry_is_no_entry(
    make_tree: MakeTree, folder: Path, translated: list[str], damage: bytes | None
) -> None:
    source = make_tree(FILES)
    first = translate_project(source, None)
    (entry,) = folder.iterdir()
    entry.write_bytes(entry.read_bytes()[:-1] if damage is None else damage)
    assert translate_project(source, None) == first
    assert len(translated) == 4
    assert translate_project(source, None) == first
    assert len(translated) == 4  # and it was made good


def test_an_entry_cannot_run_code(folder: Path, tmp_path: Path) -> None:
    class Evil:
        def __reduce__(self) -> tuple[Any, ...]:
            return os.mkdir, (str(tmp_path / "ran"),)

    payload = zlib.compress(pickle.dumps(Evil()))
    folder.mkdir()
    (folder / "key.bin").write_bytes(hashlib.blake2b(payload, digest_size=32).digest() + payload)
    assert cache.read("key") is None
    assert not (tmp_path / "ran").exists()


class _Named:
    """What pickles as ``getattr(owner, name)``, as Python before 3.11.4 pickles the members of enums."""

    def __init__(self, owner: type, name: str) -> None:
        self.owner, self.name = owner, name

    def __reduce__(self) -> Any:
        return getattr, (self.owner, self.name)


def test_members_of_enums_may_be_named_by_getattr_and_nothing_else() -> None:
    def read(value: object) -> object:
        return cache._Unpickler(io.BytesIO(pickle.dumps(value))).load()

    assert read(_Named(Severity, "ERROR")) is Severity.ERROR
    with pytest.raises(pickle.UnpicklingError, match="no part of a translation"):
        read(_Named(cache.Translation, "__init__"))


def test_a_cache_that_cannot_be_written_is_no_fault(
    make_tree: MakeTree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(cache, "FOLDER", str(tmp_path / "file" / "below"))
    source = make_tree(FILES)
    assert translate_project(source, None) == translate_project(source, None)


def _translation(**changes: Any) -> cache.Translation:
    result = FileResult("a.py", "x = 1\n", **changes)
    return cache.Translation({"a.py": result}, (), frozenset({"a.py"}), frozenset(), ())


def test_what_failed_is_tried_again(folder: Path) -> None:
    slow = Diagnostic("a.py", 1, 1, "T2M105", Severity.ERROR, "", "took too long")
    cache.write("key", _translation(diagnostics=(slow,), failed=True))
    assert cache.read("key") is None


def test_the_entries_not_used_for_longest_go(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number, key in enumerate(("old", "used", "middle")):
        cache.write(key, _translation())
        os.utime(folder / f"{key}.bin", ns=(number, number))
    (folder / ".new-left").write_bytes(b"x")
    os.utime(folder / ".new-left", ns=(0, 0))
    assert cache.read("used") == _translation()
    size = (folder / "used.bin").stat().st_size
    monkeypatch.setattr(cache, "MAX_BYTES", 3 * size)
    cache.write("new", _translation())
    assert {path.name for path in folder.iterdir()} == {"used.bin", "middle.bin", "new.bin"}
    monkeypatch.setattr(cache, "MAX_ENTRY", 1)
    cache.write("large", _translation())
    assert cache.read("large") is None


def test_every_record_survives(make_tree: MakeTree, example: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[cache.Translation] = []
    with monkeypatch.context() as patch:
        patch.setattr(cache, "write", lambda key, translation: made.append(translation))
        translate_project(example, None)
    cache.write("key", made[0])
    assert cache.read("key") == made[0]
    assert cache.read("key") != replace(made[0], parsed=frozenset())
