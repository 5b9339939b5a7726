"""Snippets from real code that nobody here wrote: the examples in torch's own docstrings, notebooks and scripts.

Every expression behind ``>>>``, and every one at the top level of a notebook or a script, becomes a snippet: the
statements before it that it needs, then ``out = expression``. Random draws of a known shape become fixed numbers, so
that both sides see the same values; what is still random (torch itself gives two answers) is compared by shape and
dtype alone.
"""

from __future__ import annotations

import ast
import doctest
import inspect
import itertools
import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

__all__ = ["docstring_programs", "file_programs"]

SPACES = ("torch", "torch.Tensor", "torch.linalg", "torch.fft", "torch.special", "torch.distributions")
_SKIPPED = ("help(", "dir(", "print(torch.__config__")
# What reaches outside of the process is not run
_OUTSIDE = ("http", "download", "subprocess", "rmtree", "os.system", "os.remove")
# How many snippets of one notebook or script are taken, evenly
FROM_FILE = 12
# Larger draws stay random: written out they would make texts of megabytes, which take minutes to parse
LARGEST = 2_000
_NEEDED = {"np": "import numpy as np", "numpy": "import numpy", "math": "import math"}


def docstring_programs(spaces: tuple[str, ...] = SPACES) -> Iterator[tuple[str, str]]:
    """Yield namespace and text of each snippet; the text starts with its imports and sets ``out``."""
    seen: set[str] = set()
    for space in spaces:
        for documented in _documented(space):
            for text in _programs(_examples(documented)):
                if text not in seen:
                    seen.add(text)
                    yield space, text


def file_programs(paths: Sequence[Path]) -> Iterator[tuple[str, str]]:
    """Yield file name and text of each snippet of notebooks and scripts, or of all that lie in folders."""
    from torch2ms.translator.project.notebooks import read_notebook

    for path in paths:
        files = sorted(f for f in path.rglob("*") if f.suffix in (".py", ".ipynb")) if path.is_dir() else [path]
        for file in files:
            data = file.read_bytes()
            text = read_notebook(data, file.name, is_parsed=True).text if file.suffix == ".ipynb" else data.decode()
            if not text or "torch" not in text:
                continue
            values = list(_values([text]))
            step = max(len(values) // FROM_FILE, 1)
            evenly = (value for start in range(step) for value in values[start::step])
            programs = (_text(*value) for value in evenly)
            tried = itertools.islice(programs, 3 * FROM_FILE)
            inside = (t for t in tried if "torch." in t and not any(word in t for word in _OUTSIDE))
            for program in itertools.islice(inside, FROM_FILE):
                yield file.name, program


def _documented(space: str) -> Iterator[str]:
    """Yield the docstrings of a namespace that hold examples, in the order of the names."""
    import torch

    owner: Any = torch
    for part in space.split(".")[1:]:
        owner = getattr(owner, part)
    for name in sorted(dir(owner)):
        value = getattr(owner, name, None)
        if name.startswith("_") or inspect.ismodule(value):
            continue
        text = getattr(value, "__doc__", None)
        if isinstance(text, str) and ">>>" in text:
            yield text


def _examples(documented: str) -> list[str]:
    """Return the sources behind ``>>>``."""
    try:
        return [example.source for example in doctest.DocTestParser().get_examples(documented)]
    except ValueError:
        return []


def _programs(sources: Iterable[str]) -> Iterator[str]:
    for before, value in _values(sources):
        yield _text(before, value)


def _values(sources: Iterable[str]) -> Iterator[tuple[list[ast.stmt], ast.expr]]:
    """Yield each expression that is worth a snippet, with all the statements before it."""
    before: list[ast.stmt] = []
    for source in sources:
        if any(word in source for word in _SKIPPED):
            continue
        try:
            body = ast.parse(source).body
        except SyntaxError:
            continue
        for statement in body:
            statement = ast.fix_missing_locations(_Fixed().visit(statement))
            if isinstance(statement, ast.Expr):
                if not isinstance(statement.value, ast.Constant):
                    yield [*before], statement.value
                if not _changes(statement.value):
                    continue
            before.append(statement)
            if isinstance(statement, ast.For | ast.While) and (bound := _last_bound(statement)) is not None:
                yield [*before], bound
    if before and isinstance(before[-1], ast.Assign):
        yield before, before[-1].targets[-1]


def _last_bound(loop: ast.For | ast.While) -> ast.Name | None:
    """Return the name that a loop binds last."""
    names = [
        n for part in loop.body for n in ast.walk(part) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    ]
    return max(names, key=lambda name: (name.lineno, name.col_offset), default=None)


def _changes(tree: ast.expr) -> bool:
    """Whether an expression is there for what it changes: ``x.add_(1)``, ``y.backward()``, ``torch.manual_seed(0)``."""
    name = tree.func.attr if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Attribute) else ""
    return (
        name.endswith("_")
        or name in ("backward", "manual_seed", "append", "set_default_dtype")
        or "out=" in (ast.unparse(tree))
    )


def _text(before: list[ast.stmt], value: ast.expr) -> str:
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "print" and value.args:
        value = value.args[0]
    import torch

    body = [*_needed(before, value), ast.parse(f"out = {ast.unparse(value)}").body[0]]
    text = "\n".join(map(ast.unparse, body))
    used = {node.id for part in body for node in ast.walk(part) if isinstance(node, ast.Name)}
    imports = [line for name, line in _NEEDED.items() if name in used]
    imports += [f"from torch.distributions import {name}" for name in sorted(used & set(torch.distributions.__all__))]
    return "\n".join([*imports, "import torch", text]) + "\n"


def _needed(before: list[ast.stmt], value: ast.expr) -> list[ast.stmt]:
    """Return the statements that ``value`` needs: those that set or touch a name it uses, directly or not."""
    wanted = set(_names(value))
    kept: list[ast.stmt] = []
    for statement in reversed(before):
        if isinstance(statement, ast.Import | ast.ImportFrom):
            bound: Collection[str] = {(alias.asname or alias.name).split(".")[0] for alias in statement.names}
        else:
            bound = _names(statement)
        if not wanted.isdisjoint(bound) and not wanted.intersection(bound) <= {"torch"}:
            kept.append(statement)
            if isinstance(statement, ast.Assign):
                wanted -= {target.id for target in statement.targets if isinstance(target, ast.Name)}
                wanted |= _names(statement.value) | _names(statement.targets[0]) - _stored(statement)
            else:
                wanted |= _names(statement)
    return kept[::-1]


def _stored(statement: ast.Assign) -> set[str]:
    return {n.id for target in statement.targets for n in ast.walk(target) if isinstance(n, ast.Name)
            and isinstance(n.ctx, ast.Store)}  # fmt: skip


@lru_cache(maxsize=10_000)
def _names(tree: ast.AST) -> frozenset[str]:
    found = list(ast.walk(tree))
    defined = (node.name for node in found if isinstance(node, ast.FunctionDef | ast.ClassDef))
    return frozenset(defined) | {node.id for node in found if isinstance(node, ast.Name)}


class _Fixed(ast.NodeTransformer):
    """Puts fixed numbers where a shape of literals is drawn."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if not (isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name)):
            return node
        if node.func.value.id != "torch":
            return node
        keywords = {keyword.arg: keyword.value for keyword in node.keywords}
        made = self._draw(node.func.attr, node.args, keywords)
        if made is None:
            return node
        if "requires_grad" in keywords:
            made = f"{made.removesuffix(')')}, requires_grad=True)"
        return ast.parse(made, mode="eval").body

    def _draw(self, name: str, args: list[ast.expr], keywords: dict[str | None, ast.expr]) -> str | None:
        dtype = keywords.pop("dtype", None)
        if set(keywords) - {"requires_grad", "size"}:
            return None
        low, high = 0, 10
        if name == "randint":
            bounds = [_integer(arg) for arg in args[:-1]]
            if "size" in keywords or not args or None in bounds or not 1 <= len(bounds) <= 2:
                return None
            low, high = (0, bounds[0]) if len(bounds) == 1 else bounds  # type: ignore[assignment]
            args = args[-1:]
        elif name not in ("rand", "randn", "empty"):
            return None
        shape = _shape([keywords["size"]] if "size" in keywords else args)
        if shape is None or math.prod(shape) > LARGEST:
            return None
        if name == "empty":
            return f"torch.zeros({shape}{_given(dtype)})"
        made = f"torch.tensor({_numbers(name, shape, low, high)}{_given(dtype)})"
        return made


def _numbers(name: str, shape: tuple[int, ...], low: int, high: int) -> str:
    """Return nested lists of fixed numbers: between -2 and 2 (``randn``), 0 and 1, or of integers from low to high."""
    import numpy as np

    places = np.arange(int(np.prod(shape)))
    if name == "randint":
        return repr((places * 7 % (high - low) + low).reshape(shape).tolist())
    wave = np.sin((places + 1) ** 2 * 1.1)  # squares: matrices of them are far from singular
    return repr((wave * 2 if name == "randn" else wave * 0.49 + 0.5).round(4).reshape(shape).tolist())


def _given(dtype: ast.expr | None) -> str:
    return "" if dtype is None else f", dtype={ast.unparse(dtype)}"


def _integer(tree: ast.expr) -> int | None:
    return tree.value if isinstance(tree, ast.Constant) and isinstance(tree.value, int) else None


def _shape(args: list[ast.expr]) -> tuple[int, ...] | None:
    if len(args) == 1 and isinstance(args[0], ast.Tuple | ast.List):
        args = args[0].elts
    numbers = [_integer(arg) for arg in args]
    return None if None in numbers else tuple(number for number in numbers if number is not None)
