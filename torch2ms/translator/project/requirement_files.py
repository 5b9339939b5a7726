"""Files that say what a project needs: requirements*.txt, setup.py, setup.cfg, pyproject.toml.

Only what is certain is changed: the entries of torch, torchvision and numpy become those of what OUT imports. Entries
of other torch packages stay, because code that uses them stays too (and is marked). Layout and comments are kept.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import PurePosixPath

__all__ = ["is_requirement_file", "translate_requirements", "with_counterparts", "with_taken_along"]

_LINE_FILE = re.compile(r"requirements?([-_.].*)?\.(txt|in)|.*[-_]requirements?\.(txt|in)")
_NAME = re.compile(r"\s*(?:-\s+)?([A-Za-z0-9][A-Za-z0-9._-]*)")
_NEEDED = {"torch": "mindspore", "pytorch": "mindspore", "torchvision": "pillow", "numpy": "numpy"}
_KEYWORDS = frozenset({"install_requires", "setup_requires", "tests_require", "extras_require", "requires"})
_LISTS = re.compile(r"requir|depend|install", re.IGNORECASE)
_CFG_SECTION = re.compile(r"^(install_requires|setup_requires|tests_require)\s*=")
_TOML_TABLE = re.compile(r"\[([\w.-]+)\]")
_TOML_LIST = re.compile(r"([\w-]+)\s*=\s*\[")
_TOML_GROUPS = frozenset({"project.optional-dependencies", "dependency-groups"})
_QUOTED = re.compile(r"(?P<quote>[\"'])(?P<entry>[^\"'\n]*)(?P=quote)")


def is_requirement_file(path: str) -> bool:
    """Whether a file of this path states requirements in a form that is understood."""
    name = PurePosixPath(path).name
    in_folder = PurePosixPath(path).parent.name == "requirements" and name.endswith((".txt", ".in"))
    return in_folder or name in ("setup.py", "setup.cfg", "pyproject.toml") or _LINE_FILE.fullmatch(name) is not None


def translate_requirements(path: str, text: str, needs: Mapping[str, str], *, add: bool = False) -> str:
    """Return the text with the requirements of OUT: ``needs`` has an entry for mindspore, numpy and pillow.

    A text that does not require torch comes back as it is, unless ``add`` says that it must name them all.
    """
    name = PurePosixPath(path).name
    if name == "setup.py":
        return _setup(text, needs)
    if name == "pyproject.toml":
        return _toml(text, needs)
    if name == "setup.cfg":
        return _cfg(text, needs)
    return _lines(text, needs, add)


def with_taken_along(path: str, text: str, packages: Mapping[str, Sequence[str]], *, add: bool = False) -> str:
    """Return the text of a list of lines without the packages that OUT holds, and with what these require instead.

    ``packages``: name of a distribution -> its requirements; those that OUT holds, or has no use for, are left out.
    ``add``: whether a text that names none of the packages gets their requirements as well.
    """
    if PurePosixPath(path).name in ("setup.py", "setup.cfg", "pyproject.toml"):
        return text
    held = {_plain(name) for name in packages}
    lines = text.splitlines()
    kept = [line for line in lines if _plain(_package(line)) not in held]
    if not packages or (len(kept) == len(lines) and not add):
        return text
    present = {_plain(_package(line)) for line in kept} | held | _NEEDED.keys()
    for entry in (entry for entries in packages.values() for entry in entries):
        if _plain(_package(entry)) not in present:
            present.add(_plain(_package(entry)))
            kept.append(entry)
    return "\n".join(kept) + "\n"


def with_counterparts(path: str, text: str, entries: Sequence[str], replaced: Collection[str]) -> str:
    """Return the text of a list of lines with ``entries`` in place of the packages that they stand for."""
    if not entries or PurePosixPath(path).name in ("setup.py", "setup.cfg", "pyproject.toml"):
        return text
    gone = {_plain(name) for name in (*replaced, *map(_package, entries))}
    return "\n".join([*(line for line in text.splitlines() if _plain(_package(line)) not in gone), *entries]) + "\n"


def _plain(name: str) -> str:
    """Return the name of a distribution as package indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _package(entry: str) -> str:
    found = _NAME.match(entry)
    return found.group(1).lower() if found is not None else ""


class _Replacement:
    """The entries of one list; the second entry that becomes the same package is dropped."""

    def __init__(self, entries: list[str], needs: Mapping[str, str]) -> None:
        packages = [_package(entry) for entry in entries]
        self.applies = bool({"torch", "pytorch", "torchvision"} & set(packages))
        self._needs = needs
        self._present = {package for package in packages if package not in _NEEDED}

    def of(self, entry: str) -> str | None:
        """Return what an entry becomes; None when it goes."""
        package = _NEEDED.get(_package(entry))
        if package is None or not self.applies:
            return entry
        if package in self._present:
            return None
        self._present.add(package)
        return self._needs[package]

    def inside(self, entry: str) -> str:
        """Return what an entry becomes where none can be taken out."""
        return self.of(entry) or self._needs[_NEEDED[_package(entry)]]

    def missing(self) -> list[str]:
        """Return the entries that the list still lacks."""
        if not self.applies:
            return []
        return [self._needs[package] for package in ("mindspore", "numpy", "pillow") if package not in self._present]


def _lines(text: str, needs: Mapping[str, str], add: bool) -> str:
    lines = text.splitlines()
    replacement = _Replacement([line for line in lines if not line.lstrip().startswith("#")], needs)
    replacement.applies |= add
    if not replacement.applies:
        return text
    kept: list[str] = []
    for line in lines:
        new = replacement.of(line) if not line.lstrip().startswith("#") else line
        comment = re.search(r"\s+#.*", line)
        if new is not None:
            kept.append(new + comment.group() if new != line and comment is not None else new)
    return "\n".join([*kept, *replacement.missing()]) + "\n"


def _setup(text: str, needs: Mapping[str, str]) -> str:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return text
    edits: set[tuple[int, int, int, str]] = set()  # line, columns in bytes, new entry
    for node in (n for n in ast.walk(tree) if isinstance(n, (ast.keyword, ast.Assign))):
        for found in _string_lists(node.value) if _states_requirements(node) else ():
            replacement = _Replacement([str(item.value) for item in found], needs)
            for item in found:
                new = replacement.inside(str(item.value))
                if new != item.value and item.end_lineno == item.lineno:
                    edits.add((item.lineno, item.col_offset, item.end_col_offset or 0, new))
    lines = text.splitlines(keepends=True)
    for number, start, end, new in sorted(edits, reverse=True):
        line = lines[number - 1].encode()
        quote = line[start : start + 1].decode()
        if quote in "\"'":
            lines[number - 1] = (line[:start] + f"{quote}{new}{quote}".encode() + line[end:]).decode()
    return "".join(lines)


def _states_requirements(node: ast.keyword | ast.Assign) -> bool:
    if isinstance(node, ast.keyword):
        return node.arg in _KEYWORDS
    return any(isinstance(target, ast.Name) and _LISTS.search(target.id) for target in node.targets)


def _string_lists(value: ast.expr) -> list[list[ast.Constant]]:
    """Return the literal strings of a list, or of each list in a dictionary."""
    if isinstance(value, ast.Dict):
        return [found for item in value.values for found in _string_lists(item)]
    if not isinstance(value, (ast.List, ast.Tuple)):
        return []
    return [[item for item in value.elts if isinstance(item, ast.Constant) and isinstance(item.value, str)]]


def _toml(text: str, needs: Mapping[str, str]) -> str:
    """Replace the entries of the arrays that list requirements (PEP 508, 518, 621, 735)."""
    result: list[str] = []
    lines = text.splitlines(keepends=True)
    table, index = "", 0
    while index < len(lines):
        end = index
        header = _TOML_TABLE.match(lines[index])
        table = header.group(1) if header is not None else table
        key = _TOML_LIST.match(lines[index])
        block = lines[index]
        if key is not None and (key.group(1) in ("dependencies", "requires") or table in _TOML_GROUPS):
            while end < len(lines) - 1 and "]" not in _QUOTED.sub("", lines[end]):
                end += 1
            block = "".join(lines[index : end + 1])
            block = _QUOTED.sub(_quoted(_Replacement([f["entry"] for f in _QUOTED.finditer(block)], needs)), block)
        result.append(block)
        index = end + 1
    return "".join(result)


def _quoted(replacement: _Replacement) -> Callable[[re.Match[str]], str]:
    def replace(found: re.Match[str]) -> str:
        return f"{found['quote']}{replacement.inside(found['entry'])}{found['quote']}"

    return replace


def _cfg(text: str, needs: Mapping[str, str]) -> str:
    lines = text.split("\n")
    index = 0
    while index < len(lines):
        if not _CFG_SECTION.match(lines[index]):
            index += 1
            continue
        end = index + 1
        while end < len(lines) and lines[end][:1] in (" ", "\t"):
            end += 1
        replacement = _Replacement(lines[index + 1 : end], needs)
        block = [(line, replacement.of(line)) for line in lines[index + 1 : end]]
        lines[index + 1 : end] = [
            new if new == line else line[: len(line) - len(line.lstrip())] + new
            for line, new in block
            if new is not None
        ]
        index += 1
    return "\n".join(lines)
