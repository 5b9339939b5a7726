"""Check that no file of the project passes 500 lines and no function 60; exit 1 and name those that do.

Functions of tests are not counted: a long table of cases is fine there. Files are counted everywhere.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

MAX_FILE_LINES = 500
MAX_FUNCTION_LINES = 60
ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("torch2ms", "tests", "scripts", "benchmarks", "examples")
FUNCTION_FOLDERS = ("torch2ms", "scripts", "benchmarks")


def oversized(root: Path) -> Iterator[str]:
    """Yield one line for each file or function that is too long."""
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*.py")):
            relative = path.relative_to(root).as_posix()
            if "/golden/" in relative:
                continue
            text = path.read_text(encoding="utf-8")
            lines = text.count("\n")
            if lines > MAX_FILE_LINES:
                yield f"{relative}: {lines} lines (at most {MAX_FILE_LINES})"
            if folder in FUNCTION_FOLDERS:
                yield from _long_functions(ast.parse(text), relative)


def _long_functions(tree: ast.Module, relative: str) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > MAX_FUNCTION_LINES:
                yield f"{relative}:{node.lineno}: {node.name} has {length} lines (at most {MAX_FUNCTION_LINES})"


def main() -> int:
    found = list(oversized(ROOT))
    for line in found:
        print(line)
    print(f"{len(found)} too long" if found else "sizes: ok")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
