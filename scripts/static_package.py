"""Read a Python package without importing it: what its modules export, what a class takes and inherits.

``Package(folder)`` parses files on demand and resolves imports between them, stars and ``__all__`` included. Names that
come from elsewhere resolve to nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

__all__ = ["Definition", "Package", "parameters"]

Defined = ast.ClassDef | ast.FunctionDef


@dataclass(frozen=True)
class Definition:
    """A class or a function, and the module that defines it."""

    module: str
    node: Defined

    @property
    def name(self) -> str:
        """Its own name."""
        return self.node.name


class Package:
    """One package's source, read on demand."""

    def __init__(self, folder: Path) -> None:
        """Take the folder of the package itself: ``site-packages/transformers``."""
        self.folder, self.name = folder, folder.name
        self.tree = lru_cache(maxsize=None)(self._tree)
        self.bound = lru_cache(maxsize=None)(self._bound)
        self.defined = lru_cache(maxsize=None)(self._defined)

    def modules(self) -> Iterator[str]:
        """Give every module, relative to the package: ``models.bert.modeling_bert``."""
        for path in sorted(self.folder.rglob("*.py")):
            parts = path.relative_to(self.folder).with_suffix("").parts
            yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    def _path(self, module: str) -> Path | None:
        base = self.folder.joinpath(*module.split(".")) if module else self.folder
        for path in (base / "__init__.py", base.with_suffix(".py")):
            if path.is_file():
                return path
        return None

    def _tree(self, module: str) -> ast.Module | None:
        path = self._path(module)
        return ast.parse(path.read_text(encoding="utf-8")) if path is not None else None

    def is_package(self, module: str) -> bool:
        """Whether a module is a folder with an ``__init__``."""
        path = self._path(module)
        return path is not None and path.name == "__init__.py"

    def exports(self, module: str) -> dict[str, tuple[str, str]]:
        """Return what a star import of a module gives: name -> (module, name) where it is looked for next."""
        found = self.bound(module)
        listed = self._all(module)
        if listed is not None:
            return {name: found.get(name, (module, name)) for name in listed}
        return {name: place for name, place in found.items() if not name.startswith("_")}

    def _all(self, module: str) -> list[str] | None:
        tree = self.tree(module)
        for node in tree.body if tree is not None else ():
            if isinstance(node, ast.Assign) and any(getattr(target, "id", "") == "__all__" for target in node.targets):
                try:
                    return list(ast.literal_eval(node.value))
                except ValueError:
                    return None
        return None

    def _defined(self, module: str) -> dict[str, Defined]:
        """Return the classes and functions of a module, those under conditions too."""
        found: dict[str, Defined] = {}
        tree = self.tree(module)
        stack: list[ast.stmt] = list(tree.body) if tree is not None else []
        for node in stack:
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
                found.setdefault(node.name, node)
            elif isinstance(node, (ast.If, ast.Try)):
                stack += [*node.body, *node.orelse]
        return found

    def _bound(self, module: str) -> dict[str, tuple[str, str]]:
        """Return what the statements of a module bind, those under conditions too; later ones do not replace."""
        found: dict[str, tuple[str, str]] = {}
        tree = self.tree(module)
        stack = list(reversed(tree.body)) if tree is not None else []
        while stack:
            node = stack.pop()
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
                found.setdefault(node.name, (module, node.name))
            elif isinstance(node, ast.ImportFrom):
                source = self._source(module, node)
                if source is None or "dummy_" in source:
                    continue
                for alias in node.names:
                    if alias.name == "*":
                        for name, place in self.exports(source).items():
                            found.setdefault(name, place)
                    else:
                        found.setdefault(alias.asname or alias.name, (source, alias.name))
            elif isinstance(node, (ast.If, ast.Try)):
                inner = [*node.body, *node.orelse]
                inner += [] if isinstance(node, ast.If) else [part for h in node.handlers for part in h.body]
                stack += reversed(inner)
            elif isinstance(node, ast.Assign):
                for target in node.targets:
                    if isinstance(target, ast.Name):
                        found.setdefault(target.id, (module, target.id))
        return found

    def _source(self, module: str, node: ast.ImportFrom) -> str | None:
        if not node.level:
            module = node.module or ""
            return module[len(self.name) + 1 :] if f"{module}.".startswith(f"{self.name}.") else None
        parts = module.split(".") if module else []
        if not self.is_package(module):
            parts = parts[:-1]
        parts = parts[: len(parts) - node.level + 1]
        return ".".join([*parts, *((node.module or "").split(".") if node.module else [])])

    def find(self, module: str, name: str) -> Definition | None:
        """Return the class or function that ``module.name`` is; None for anything else."""
        seen: set[tuple[str, str]] = set()
        while (module, name) not in seen:
            seen.add((module, name))
            tree = self.tree(module)
            if tree is None:
                return None
            place = self.bound(module).get(name)
            if place is None:
                return None
            if place == (module, name):
                node = self.defined(module).get(name)
                return Definition(module, node) if node is not None else None
            module, name = place
        return None

    def bases(self, definition: Definition) -> Iterator[Definition]:
        """Give a class and its base classes, nearest first, as far as the package defines them."""
        stack, seen = [definition], set()
        while stack:
            current = stack.pop(0)
            if not isinstance(current.node, ast.ClassDef) or (current.module, current.name) in seen:
                continue
            seen.add((current.module, current.name))
            yield current
            found = [self._expression(current.module, base) for base in current.node.bases]
            stack = [*(base for base in found if base is not None), *stack]

    def outer_bases(self, definition: Definition) -> set[str]:
        """Return the texts of the bases that the package does not define: ``nn.Module``."""
        return {
            ast.unparse(base)
            for each in self.bases(definition)
            if isinstance(each.node, ast.ClassDef)
            for base in each.node.bases
            if self._expression(each.module, base) is None
        }

    def _expression(self, module: str, node: ast.expr) -> Definition | None:
        return self.find(module, node.id) if isinstance(node, ast.Name) else None

    def fields(self, definition: Definition) -> dict[str, str | None]:
        """Return the fields of a dataclass and its bases, in order, as the parameters of its constructor."""
        found: dict[str, str | None] = {}
        for each in reversed(list(self.bases(definition))):
            decorators = getattr(each.node, "decorator_list", [])
            if any("dataclass" in ast.unparse(decorator) for decorator in decorators):
                for part in each.node.body:
                    if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name):
                        found[part.target.id] = "None" if part.value is not None else None
        return found

    def method(self, definition: Definition, *names: str) -> ast.FunctionDef | None:
        """Return the first of some methods that a class or its bases define."""
        for each in self.bases(definition):
            for node in each.node.body:
                if isinstance(node, ast.FunctionDef) and node.name in names and not _is_overload(node):
                    return node
        return None


def _is_overload(node: ast.FunctionDef) -> bool:
    return any(getattr(decorator, "id", "") == "overload" for decorator in node.decorator_list)


def parameters(node: ast.FunctionDef, bound: bool) -> dict[str, str | None]:
    """Return the parameters of a function in order, with the source of their defaults; without ``self`` if bound.

    ``*args`` and ``**kwargs`` keep their stars; what is keyword-only stands behind ``*``.
    """
    arguments = node.args
    placed = [*arguments.posonlyargs, *arguments.args][1 if bound else 0 :]
    defaults: list[ast.expr | None] = [None] * (len(placed) - len(arguments.defaults)) + list(arguments.defaults)
    if len(defaults) > len(placed):
        defaults = defaults[len(defaults) - len(placed) :]
    found = {
        arg.arg: None if default is None else ast.unparse(default)
        for arg, default in zip(placed, defaults, strict=True)
    }
    if arguments.vararg is not None:
        found[f"*{arguments.vararg.arg}"] = None
    for arg, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        found[f"{arg.arg}"] = None if default is None else ast.unparse(default)
    if arguments.kwarg is not None:
        found[f"**{arguments.kwarg.arg}"] = None
    return found
