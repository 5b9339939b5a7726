"""The sources that properties of the translator are tested on: goldens, programs, cases, and packages."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

from tests.golden.snapshots import CASES, read_case

__all__ = ["PACKAGES", "package_files", "python_of", "sources"]

_ROOT = Path(__file__).resolve().parents[1]
PACKAGES = _ROOT.parent / ".venv" / "corpus"
Files = dict[str, str]


def sources(kind: str) -> Iterator[tuple[str, Files]]:
    """Yield the names and the files of small projects: of ``golden``, ``programs`` or ``cases``."""
    if kind == "golden":
        yield from ((path.stem, dict(read_case(path).inputs)) for path in sorted(CASES.glob("*.txt")))
    else:
        pattern = "*.py" if kind == "programs" else "*/*.py"
        for path in sorted((_ROOT / kind).glob(pattern)):
            yield f"{path.parent.name}/{path.stem}", {path.name: path.read_text("utf-8")}


def package_files(package: str, count: int, seed: int) -> Iterator[tuple[str, Files]]:
    """Yield single files of an unpacked package that name torch, chosen by a seed."""
    every = [path for path in sorted((PACKAGES / package).rglob("*.py")) if "torch" in path.read_text("utf-8")]
    random.Random(seed).shuffle(every)
    for path in every[:count]:
        yield f"{package}/{path.relative_to(PACKAGES / package)}", {path.name: path.read_text("utf-8")}


def python_of(files: Files) -> Files:
    """Return the Python files of a project; none if one of them is no Python."""
    found = {path: text for path, text in files.items() if path.endswith(".py")}
    try:
        for text in found.values():
            compile(text, "source", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return {}
    return found
