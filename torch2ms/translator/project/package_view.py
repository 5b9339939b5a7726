"""What the translation of a package may know of the project that takes it along: the same for most projects.

A package is translated as a library: who calls its functions, and how, is left open, as for any other program that
imports it. So its translation depends on its own files and on a few facts of the whole program, and is found in the
cache when another project takes it along. The facts stand in one ``FileIndex``, as if one file were the whole project.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import fields
from typing import Any

from torch2ms.translator.project.file_index import PACKERS, PARALLEL, CallShape, FileIndex
from torch2ms.translator.project.symbol_table import SymbolTable

__all__ = ["library_table", "view_text"]

_VIEW = "<project>.py"  # no module has this name
_OF_PROGRAMS = PARALLEL | PACKERS | {"DataParallel", "backward", "grad"}
_FLAGS = tuple(field.name for field in fields(FileIndex) if field.type == "bool")


def library_table(symbols: SymbolTable, packages: Collection[str]) -> SymbolTable:
    """Return the table of the files of ``packages``, and of one file that stands for the others.

    It imports what no file of the packages imports, and their top-level modules.
    """
    held = [file for path, file in symbols.files.items() if path in packages]
    others = [file for path, file in symbols.files.items() if path not in packages]
    alone = SymbolTable.build(held, compiled=symbols.compiled)
    inner = {alone.find_module(f.path, module, level) for f in held for level, module in f.imports}
    starts = [file.path for file in held if file.path not in inner or file.path.count("/") == 1]
    names = [path.removesuffix(".py").removesuffix("/__init__").replace("/", ".") for path in starts]
    return SymbolTable.build([*held, _view(others, names)], compiled=symbols.compiled)


def view_text(table: SymbolTable) -> str:
    """Return the facts of the project in such a table as a text that depends on nothing else."""
    view = table.files[_VIEW]
    calls = sorted((name, sorted(map(repr, shapes))) for name, shapes in view.calls.items())
    return repr((sorted(view.imports), calls, [getattr(view, name) for name in _FLAGS]))


def _view(files: Collection[FileIndex], modules: Collection[str]) -> FileIndex:
    """Return the facts of the project's own files, joined: whether any of them clips, freezes, differentiates, ..."""
    calls: dict[str, frozenset[CallShape]] = {}
    for file in files:
        for name in file.calls.keys() & _OF_PROGRAMS:
            calls[name] = calls.get(name, frozenset()) | file.calls[name]
    flags: dict[str, Any] = {name: any(getattr(file, name) for file in files) for name in _FLAGS}
    flags["has_effects"] = True  # it is a program, which runs what it imports
    none: frozenset[Any] = frozenset()
    imports = frozenset((0, module) for module in modules)
    return FileIndex(_VIEW, imports, calls, none, none, none, none, {}, None, {}, {}, none, **flags)
