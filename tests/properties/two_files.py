"""Programs of two files in one text: what ``result`` needs moves to a file of its own and is imported back."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from pathlib import Path

from torch2ms.config import Options
from torch2ms.diagnostics import Diagnostic
from torch2ms.translator.pipeline import translate_project, translate_source

__all__ = ["MOVES", "joined", "moves", "parts_of", "translated"]

_BORDER = "#### parts.py\n"


def joined(main: str, parts: str) -> str:
    """Return two files as one text."""
    return main + _BORDER + parts


def parts_of(text: str) -> tuple[str, str]:
    """Return the main file of a program and ``parts.py``, which is empty where there is none."""
    main, _, parts = text.partition(_BORDER)
    return main, parts


def translated(text: str, options: Options, folder: Path) -> tuple[str, tuple[Diagnostic, ...]]:
    """Translate a program of one or two files; ``folder`` must be free for two."""
    main, parts = parts_of(text)
    if not parts:
        result = translate_source(text, options=options)
        return result.text, result.diagnostics
    folder.mkdir(parents=True)
    (folder / "main.py").write_text(main, encoding="utf-8")
    (folder / "parts.py").write_text(parts, encoding="utf-8")
    report = translate_project(folder, None, options)
    texts = {file.path: file.output or "" for file in report.files}
    return joined(texts["main.py"], texts["parts.py"]), report.diagnostics


_Parts = tuple[list[ast.stmt], list[ast.stmt]]  # of the main file, of the other


def _split(tree: ast.Module) -> _Parts | None:
    main = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "result"]
    rest = [node for node in tree.body if node not in main]
    return (main, rest) if main and any(isinstance(n, (ast.FunctionDef, ast.ClassDef)) for n in rest) else None


def _names(body: list[ast.stmt]) -> list[str]:
    found = [node.name for node in body if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
    for node in body:
        if isinstance(node, ast.Assign):
            found += [target.id for target in node.targets if isinstance(target, ast.Name)]
    return found


def star_import(main: list[ast.stmt], rest: list[ast.stmt]) -> _Parts:
    """Import everything with a star, torch's own modules too."""
    return [*ast.parse("from parts import *\n").body, *main], rest


def from_import(main: list[ast.stmt], rest: list[ast.stmt]) -> _Parts:
    """Import the names one by one; each file imports torch itself."""
    imports = [node for node in rest if isinstance(node, (ast.Import, ast.ImportFrom))]
    return [*imports, *ast.parse(f"from parts import {', '.join(_names(rest))}\n").body, *main], rest


def module_import(main: list[ast.stmt], rest: list[ast.stmt]) -> _Parts:
    """Import the module and go through it: ``parts.Net``, ``parts.torch.tensor``."""
    bound = {alias.asname or alias.name for node in rest if isinstance(node, ast.Import) for alias in node.names}
    moved = {*_names(rest), *bound}

    class Through(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.AST:
            if node.id not in moved or not isinstance(node.ctx, ast.Load):
                return node
            return ast.Attribute(ast.Name("parts", ast.Load()), node.id, ast.Load())

    return [*ast.parse("import parts\n").body, *(Through().visit(node) for node in main)], rest


MOVES: dict[str, Callable[[list[ast.stmt], list[ast.stmt]], _Parts]] = {
    function.__name__: function for function in (star_import, from_import, module_import)
}


def moves(source: str) -> Iterator[tuple[str, str]]:
    """Yield (name of the move, program of two files) for each way of moving what ``result`` needs."""
    for name, move in MOVES.items():
        split = _split(ast.parse(source))
        if split is not None:
            texts = [ast.unparse(ast.fix_missing_locations(ast.Module(body, []))) + "\n" for body in move(*split)]
            yield name, joined(*texts)
