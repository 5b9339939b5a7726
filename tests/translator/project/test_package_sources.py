"""Where the source of a package is found: names, folders, archives that cannot lead out of their folder."""

from __future__ import annotations

import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from torch2ms.errors import UsageError
from torch2ms.translator.project.package_sources import is_place, opened_packages

MakeTree = Callable[..., Path]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("timm", False),
        ("./timm", True),
        ("timm-1.0-py3-none-any.whl", True),
        ("a/b", True),
        (".", True),
        ("x_y", False),
    ],
)
def test_what_looks_like_a_path_is_one(text: str, expected: bool) -> None:
    assert is_place(text) is expected


def test_installed_packages_are_found_by_both_names() -> None:
    for name in ("libcst", "markdown-it-py", "markdown_it"):
        with opened_packages([name]) as (source,):
            assert (source.folder / source.modules[0] / "__init__.py").is_file()
            assert source.version


def test_a_folder_may_be_a_package_or_hold_one(make_tree: MakeTree) -> None:
    root = make_tree({"src/box/__init__.py": "", "setup.py": "", "LICENSE": "free", "tests/test_box.py": ""}, "box-1")
    with opened_packages([str(root), str(root / "src/box")]) as (whole, inner):
        assert (whole.modules, whole.folder) == (inner.modules, inner.folder) == (("box",), root / "src")
        assert [path for path, _ in whole.about] == ["box/LICENSE"]


@pytest.mark.parametrize("name", ["../evil.py", "/evil.py", "layerbox/../../evil.py", "C:\\evil.py"])
def test_archives_cannot_leave_their_folder(tmp_path: Path, name: str) -> None:
    path = tmp_path / "evil.whl"
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr("layerbox/__init__.py", "")
        packed.writestr(name, "")
    with pytest.raises(UsageError, match="leads out of its folder"), opened_packages([str(path)]):
        pass


def test_links_of_archives_are_not_followed(tmp_path: Path) -> None:
    path = tmp_path / "linked.tar"
    with tarfile.open(path, "w") as packed:
        entry = tarfile.TarInfo("box/__init__.py")
        packed.addfile(entry)
        link = tarfile.TarInfo("box/secret.py")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        packed.addfile(link)
    with opened_packages([str(path)]) as (source,):
        assert [file.name for file in source.folder.rglob("*.py")] == ["__init__.py"]
