"""The index of a project: its modules, how imports find them, and who calls what.

Built once from one cheap look at every file; small enough to be handed to worker processes. What a name *means* is the
business of ``inference``, which reads the files it needs on demand.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from torch2ms.translator.names import is_torch_name
from torch2ms.translator.trees import walk

__all__ = ["CallShape", "FileIndex", "SymbolTable", "index_file"]

SOURCE_ROOTS = ("", "src", "lib", "python", "source", "code")


@dataclass(frozen=True, slots=True)
class CallShape:
    """How a callee of some name is called somewhere: number of positional arguments, keywords, splats."""

    positional: int
    keywords: tuple[str, ...]
    splat: bool


@dataclass(frozen=True, slots=True)
class FileIndex:
    """What the rest of the project needs to know of one Python file without reading it again."""

    path: str
    imports: frozenset[tuple[int, str]]  # (level, dotted module)
    calls: Mapping[str, frozenset[CallShape]]  # last identifier of the callee -> shapes
    passed: frozenset[str]  # names handed on as arguments: callbacks such as model.apply(init_weights)
    flows: frozenset[tuple[str, str]]  # (from, to): plain copies between names, ``self._norm = norm_layer``
    public: tuple[str, ...] | None  # the literal ``__all__``


@dataclass(frozen=True, slots=True)
class SymbolTable:
    """All Python files of the project, by path relative to SRC."""

    files: Mapping[str, FileIndex]
    folders: frozenset[str] = field(default_factory=frozenset)
    package: str = ""  # the name of SRC's folder when SRC itself is a package

    @staticmethod
    def build(files: Iterable[FileIndex], root: str = "") -> SymbolTable:
        """Return the table of these files; ``root`` is the name of the folder they stand in."""
        table = {file.path: file for file in files}
        folders = {str(parent) for path in table for parent in PurePosixPath(path).parents}
        return SymbolTable(table, frozenset(folders), root if "__init__.py" in table else "")

    def callers(self, name: str) -> list[str]:
        """Return the files that call something named ``name`` or hand it on, in order."""
        return sorted(p for p, f in self.files.items() if name in f.calls or name in f.passed)

    def shapes(self, names: frozenset[str]) -> frozenset[CallShape]:
        """Return every way in which something named like one of ``names`` is called anywhere in the project."""
        found: set[CallShape] = set()
        for file in self.files.values():
            for name in names & file.calls.keys():
                found |= file.calls[name]
        return frozenset(found)

    def aliases(self, names: frozenset[str]) -> frozenset[str]:
        """Return ``names`` and every name that a plain copy gives their value to."""
        edges = [edge for file in self.files.values() for edge in file.flows]
        reached = set(names)
        grown = True
        while grown:
            new = {to for source, to in edges if source in reached} - reached
            reached |= new
            grown = bool(new)
        return frozenset(reached)

    def find_module(self, importer: str, module: str, level: int) -> str | None:
        """Return the path an import names: a ``.py`` file, or a folder with a trailing ``/``; None outside the project.

        Python looks beside the script first, so the importer's own folder and its parents come before the root.
        """
        parts = [part for part in module.split(".") if part]
        here = PurePosixPath(importer).parent
        if level:
            for _ in range(level - 1):
                here = here.parent
            return self._at(here, parts)
        if self.package and parts and parts[0] == self.package:
            return self._at(PurePosixPath("."), parts[1:])
        for base in [here, *here.parents, *(PurePosixPath(root) for root in SOURCE_ROOTS)]:
            found = self._at(base, parts)
            if found is not None and found != importer:
                return found
        return None

    def is_torch(self, importer: str, module: str, level: int = 0) -> bool:
        """Whether an import is torch's or torchvision's, and not the project's own (SRC may be torchvision itself)."""
        return level == 0 and is_torch_name(module) and self.find_module(importer, module, level) is None

    def _at(self, base: PurePosixPath, parts: list[str]) -> str | None:
        target = base.joinpath(*parts) if parts else base
        name = str(target)
        if f"{name}.py" in self.files:
            return f"{name}.py"
        init = "__init__.py" if name == "." else f"{name}/__init__.py"
        if init in self.files:
            return init
        if name in self.folders and name != ".":
            return f"{name}/"
        return None


def index_file(path: str, tree: ast.Module) -> FileIndex:
    """Return the index of one parsed file."""
    imports: set[tuple[int, str]] = set()
    calls: dict[str, set[CallShape]] = {}
    passed: set[str] = set()
    flows: set[tuple[str, str]] = set()
    for node in walk(tree):
        if isinstance(node, ast.Call):
            name = _last(node.func)
            if name:
                splat = any(isinstance(a, ast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords)
                keywords = tuple(sorted(k.arg for k in node.keywords if k.arg))
                calls.setdefault(name, set()).add(CallShape(len(node.args), keywords, splat))
            passed.update(a.id for a in node.args if isinstance(a, ast.Name))
            for keyword in node.keywords:
                value = _last(keyword.value)
                if keyword.arg and value:
                    flows.add((value, keyword.arg))
        elif isinstance(node, ast.Assign):
            value = _last(node.value)
            if value:
                flows.update((value, target) for t in node.targets if (target := _last(t)))
        elif isinstance(node, ast.Import):
            imports.update((0, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            imports.add((node.level, node.module or ""))
            imports.update((node.level, f"{node.module or ''}.{a.name}".lstrip(".")) for a in node.names)
    shapes = {name: frozenset(found) for name, found in calls.items()}
    return FileIndex(path, frozenset(imports), shapes, frozenset(passed), frozenset(flows), _declared_all(tree))


def _declared_all(tree: ast.Module) -> tuple[str, ...] | None:
    """Return the literal names of ``__all__``, or None when there is none or it cannot be read."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets):
            try:
                return tuple(str(name) for name in ast.literal_eval(node.value))
            except ValueError:
                return None
    return None


def _last(node: ast.expr) -> str:
    """Return the last identifier of a name or attribute chain, else an empty string."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return node.attr
    return ""
