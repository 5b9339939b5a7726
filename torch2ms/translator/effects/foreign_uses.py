"""Packages that a program hands torch's objects to, or gets such from: by their use alone.

A package that no table knows may be built on PyTorch. ``crf(emissions, tags)``, ``Lion(net.parameters())``,
``nn.Sequential(package.Layer())`` and ``ema.parameters()`` tell that it is; numbers, texts and settings tell nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from torch2ms.translator.effects.reads_and_writes import dotted_path
from torch2ms.translator.syntax.ast_walk import walk
from torch2ms.translator.values.file_facts import FileFacts
from torch2ms.translator.values.kinds import UNKNOWN, Kind

__all__ = ["handling_torch"]

_OF_TORCH = ("Module", "Parameter", "Optimizer")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(slots=True)
class _Places:
    """The names and attributes of a file that hold what packages give: by scope, None for the file and objects."""

    ctx: FileFacts
    roots: dict[tuple[ast.AST | None, str], str]

    def root_of(self, node: ast.expr) -> str | None:
        """Return the package whose name, or object, an expression starts at."""
        scope = self.scope(node)
        while True:
            path = dotted_path(node)
            parts = path.split(".") if path is not None else []
            for end in range(len(parts), 0, -1):
                part = ".".join(parts[:end])
                found = self.roots.get((scope, part)) or self.roots.get((None, part))
                if found is not None:
                    return found
            if isinstance(node, ast.Call):
                node = node.func
            elif isinstance(node, (ast.Attribute, ast.Subscript, ast.Await)):
                node = node.value
            else:
                return None

    def scope(self, node: ast.AST) -> ast.AST | None:
        """Return the function that a node stands in."""
        around = self.ctx.parent(node)
        while around is not None and not isinstance(around, _FUNCTIONS):
            around = self.ctx.parent(around)
        return around

    def add(self) -> None:
        """Add what is assigned from calls of packages alone."""
        made: dict[tuple[ast.AST | None, str], list[str | None]] = {}
        for node in self.ctx.analysis.all(ast.Assign):
            root = self.root_of(node.value) if isinstance(node.value, ast.Call) else None
            for path in filter(None, map(dotted_path, node.targets)):
                made.setdefault((None if "." in path else self.scope(node), path), []).append(root)
        self.roots.update({key: several[0] for key, several in made.items() if several[0] and all(several)})


def handling_torch(roots: Collection[str], ctx: FileFacts) -> set[str]:
    """Return those of some imported packages that take or give tensors, networks or optimizers in a file."""
    places = _Places(ctx, {(None, name): root for name, root in _imported(roots, ctx)})
    found: set[str] = set()
    if not places.roots:
        return found
    places.add()
    for made in ctx.analysis.all(ast.ClassDef):
        if any(isinstance(part, _FUNCTIONS) and part.name == "forward" for part in made.body):
            found.update(root for base in made.bases if (root := places.root_of(base)) is not None)
    known = -1
    while known < len(found):  # what such a package gives may be torch's where another one takes it
        known = len(found)
        for call in ctx.analysis.all(ast.Call):
            found.update(_of_call(call, places, found, ctx))
    return found


def _imported(roots: Collection[str], ctx: FileFacts) -> Iterator[tuple[str, str]]:
    """Yield the names that imports of these packages bind, with the package."""
    for node in ctx.analysis.all(ast.Import):
        for alias in node.names:
            if alias.name.partition(".")[0] in roots:
                root = alias.name.partition(".")[0]
                yield alias.asname or root, root
    for statement in ctx.analysis.all(ast.ImportFrom):
        root = (statement.module or "").partition(".")[0]
        if not statement.level and root in roots:
            yield from ((alias.asname or alias.name, root) for alias in statement.names)


def _of_call(call: ast.Call, places: _Places, known: Collection[str], ctx: FileFacts) -> Iterator[str]:
    """Yield the packages of which a call tells that they take or give torch's objects."""
    given = [part.value if isinstance(part, ast.Starred) else part for part in call.args]
    given += [keyword.value for keyword in call.keywords]
    root = places.root_of(call.func)
    if root is not None:
        told = ctx.world.evidence.of_call(call.func.attr) if isinstance(call.func, ast.Attribute) else UNKNOWN
        if any(_is_torchs(ctx.kind(part)) or places.root_of(part) in known for part in given) or _is_torchs(told):
            yield root
    elif ctx.kind(call.func).name == "api" and ctx.kind(call.func).of.startswith("torch.nn."):
        parts = (inner for part in given for inner in walk(part) if isinstance(inner, ast.Call))
        yield from (found for part in parts if (found := places.root_of(part.func)) is not None)


def _is_torchs(kind: Kind) -> bool:
    return kind.is_tensor or kind.name in _OF_TORCH or any(map(_is_torchs, kind.items))
