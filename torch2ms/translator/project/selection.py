"""Which files of SRC belong to the program that is translated, and why the others do not.

Left out are, in this order: what ``exclude`` names; what ``.gitignore`` names and git does not track; ``node_modules``,
``build`` and ``dist`` (unless they are packages), virtual environments, and earlier translations, known by their
manifest. Patterns are written as in a ``.gitignore``. In an unpacked archive there is no git to say which of the
ignored files the project holds on purpose, as it often does with data: there only what holds Python is left out.

Python files that were left out are kept in mind: when a file of the program imports one, it belongs to the program.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Sequence
from difflib import get_close_matches
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from pathspec import GitIgnoreSpec

from torch2ms.errors import UsageError
from torch2ms.translator.project.git_index import tracked_files
from torch2ms.translator.project.out_names import REPORT_NAME, is_report

if TYPE_CHECKING:
    from torch2ms.translator.project.source_tree import Project
    from torch2ms.translator.project.symbol_table import SymbolTable

__all__ = ["EXCLUDED", "IGNORED", "Selection", "check_entry", "imported_aside", "is_foreign"]

EXCLUDED = "exclude"  # how the reason of what the user excluded begins
IGNORED = ".gitignore"
_ENVIRONMENT = frozenset({"pyvenv.cfg", "conda-meta"})  # what a virtual environment's folder holds
_BUILT = frozenset({"build", "dist"})
_PACKAGES = frozenset({"node_modules"})
_LARGEST = 1 << 20  # bytes of a .gitignore


class Selection:
    """Answers for the paths of one walk through SRC, whose folders are entered from the outside in."""

    def __init__(self, root: Path, exclude: Sequence[str] = ()) -> None:
        self._root = root
        self._exclude = tuple(exclude)
        self._excluded = _excluding(exclude)
        known = tracked_files(root)
        tracked = known or frozenset()
        self.has_git = known is not None
        self._tracked = tracked | {str(parent) for path in tracked for parent in PurePosixPath(path).parents}
        self._ignored: dict[str, GitIgnoreSpec] = {}

    def enter(self, prefix: str, names: Collection[str]) -> None:
        """Hear the ``.gitignore`` of a folder that is entered."""
        if ".gitignore" in names:
            text = _text(self._root / prefix / ".gitignore")
            self._ignored[prefix] = _spec(text.splitlines())

    def reason(self, path: str, *, is_folder: bool) -> str:
        """Return why a file or folder is left out, "" when it is not; folders are asked before what they hold."""
        shown = f"{path}/" if is_folder else path
        found = self._excluded.check_file(shown)
        if found.include and found.index is not None:
            return f"{EXCLUDED} {self._exclude[found.index]}"
        if path in self._tracked:
            return ""
        return IGNORED if self._is_ignored(shown) else ""

    def folder_reason(self, path: str, names: Collection[str]) -> str:
        """Return why a folder that holds ``names`` is no part of the program, "" when it may be one."""
        name = path.rpartition("/")[2]
        if not _ENVIRONMENT.isdisjoint(names):
            return "a virtual environment"
        if name in _PACKAGES:
            return "installed packages"
        if any(_is_report_of(self._root / path / entry) for entry in names if entry.startswith(REPORT_NAME)):
            return "an earlier translation"
        is_built = name in _BUILT and "__init__.py" not in names and path not in self._tracked
        return "build products" if is_built else ""

    def _is_ignored(self, path: str) -> bool:
        """Ask the nearest ``.gitignore`` first: its patterns win over those of the folders above."""
        parents = [str(parent) for parent in PurePosixPath(path).parents]
        for prefix in ("" if parent == "." else parent for parent in parents):
            spec = self._ignored.get(prefix)
            answer = spec.check_file(path[len(prefix) :].lstrip("/")).include if spec is not None else None
            if answer is not None:
                return answer
        return False


def imported_aside(symbols: SymbolTable, whole: SymbolTable) -> frozenset[str]:
    """Return the files that only ``whole`` holds and that the files of ``symbols`` import, one through the other.

    What an import finds in the program itself is never looked for aside: a copy in ``build`` replaces no module.
    """
    found: set[str] = set()
    queue = sorted(symbols.files)
    while queue:
        path = queue.pop()
        for level, module in whole.files[path].imports:
            own = symbols.find_module(path, module, level) if path in symbols.files else None
            other = whole.find_module(path, module, level) if own is None or own.endswith("/") else None
            if other is not None and other in whole.files and other not in symbols.files and other not in found:
                packages = (f"{parent}/__init__.py" for parent in PurePosixPath(other).parents)
                new = {other, *(name for name in packages if name in whole.files)} - found - symbols.files.keys()
                found |= new
                queue += sorted(new)
    return frozenset(found)


def check_entry(project: Project, entry: str | None) -> None:
    """Raise UsageError when SRC has no such ``module:callable``, before anything is translated."""
    module, _, name = (entry or "").partition(":")
    end = "/".join(module.split("."))
    ends = (f"/{end}.py", f"/{end}/__init__.py")
    files = [file for file in project.python_files if f"/{file.path}".endswith(ends)]
    if not module:
        return
    if not files:
        raise UsageError(
            f"--entry {entry}: SRC has no module {module}", advice="name a module of SRC: package.model:Net"
        )
    trees = [file.load().tree for file in files]
    names = [_names(tree) if tree is not None else {"*"} for tree in trees]
    if not any({name.partition(".")[0], "*"} & bound for bound in names):
        near = get_close_matches(name, sorted(set().union(*names)), n=3)
        advice = f"did you mean {' or '.join(near)}?" if near else "name a class or function of the module"
        raise UsageError(f"--entry {entry}: {files[0].path} has no {name}", advice=advice)


def _names(tree: ast.Module) -> set[str]:
    """Return what the statements of a module bind, outside functions and classes; "*" for an import of all."""
    found: set[str] = set()
    queue: list[ast.AST] = list(tree.body)
    while queue:
        node = queue.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            found |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        else:
            queue += ast.iter_child_nodes(node)
    return found


def is_foreign(reason: str) -> bool:
    """Whether what was left out for this reason is other people's, or a copy: never what the program imports."""
    return reason in ("a virtual environment", "installed packages", "an earlier translation")


def _spec(lines: Iterable[str]) -> GitIgnoreSpec:
    """Return the patterns of a ``.gitignore``, without those that are none, as git does."""
    return GitIgnoreSpec.from_lines([line for line in lines if _is_pattern(line)])


def _excluding(patterns: Sequence[str]) -> GitIgnoreSpec:
    for pattern in patterns:
        if not _is_pattern(pattern):
            raise UsageError(f"not a pattern to exclude: {pattern!r}", advice="write it as in a .gitignore: docs/*.py")
    return GitIgnoreSpec.from_lines(patterns)


def _is_pattern(line: str) -> bool:
    try:
        return len(GitIgnoreSpec.from_lines([line])) == 1
    except ValueError:
        return False


def _is_report_of(folder: Path) -> bool:
    try:
        manifest = folder / "manifest.json"
        return manifest.is_file() and is_report(manifest.read_bytes())
    except OSError:
        return False


def _text(file: Path) -> str:
    try:
        if not file.is_file() or file.stat().st_size > _LARGEST:
            return ""
        return file.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return ""
