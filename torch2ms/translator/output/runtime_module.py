"""Runtime module: the definitions of one file of the runtime, what each uses, and the file without the others.

``module_of(("layers", "linear")).uses("Linear")`` are the places, ``(module, name)``, that the definition needs.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping, Set
from functools import lru_cache
from pathlib import Path

__all__ = ["EVERYTHING", "Parts", "RuntimeModule", "is_module", "module_of"]

EVERYTHING = "*"  # in the place of a name: all that a module defines
Parts = tuple[str, ...]  # a module, by its path below the runtime
_DEFINED = re.compile(r"^(?:def|class|async def) (\w+)|^(\w+)(?:: [^=\n]+)? = ", re.MULTILINE)
_EXPORTS = re.compile(r"^__all__ = \[([^\]]*)\]", re.MULTILINE)
_QUOTED_TYPE = re.compile(r"^(\w+)[.\[][\w.\[\], ]*$")  # "os.PathLike[str]" within an annotation
_WIDTH = 120


def is_module(parts: Parts) -> bool:
    """Whether the runtime has a module of that path."""
    return parts in _modules()


@lru_cache(maxsize=1)
def _modules() -> frozenset[Parts]:
    paths = (path.relative_to(RuntimeModule.FOLDER) for path in RuntimeModule.FOLDER.rglob("*.py"))
    return frozenset(path.parent.parts if path.name == "__init__.py" else path.with_suffix("").parts for path in paths)


@lru_cache(maxsize=256)
def module_of(parts: Parts) -> RuntimeModule:
    """Return a module of the runtime, which must exist."""
    return RuntimeModule(parts)


@lru_cache(maxsize=256)
def _offered(parts: Parts) -> frozenset[str]:
    """Return the names that ``from module import *`` brings in, as far as the module defines them itself."""
    text = RuntimeModule.location(parts).read_text("utf-8")
    if exports := _EXPORTS.search(text):
        return frozenset(re.findall(r"\w+", exports[1]))
    return frozenset(name for pair in _DEFINED.findall(text) for name in pair if name and not name.startswith("_"))


class RuntimeModule:
    """One module of the runtime, read once."""

    FOLDER = Path(__file__).resolve().parent.parent.parent / "runtime"

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        location = self.location(parts)
        self.path = location.relative_to(self.FOLDER).as_posix()
        self._package = parts if location.name == "__init__.py" else parts[:-1]
        self._text = location.read_text("utf-8")
        self._body = ast.parse(self._text).body
        self._imports: dict[str, tuple[Parts, str]] = {}
        self._stars: list[Parts] = []  # where stars bring names from
        for statement in self._body:
            if not isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
                self._imports |= self._imported(ast.walk(statement))
        self._statements: dict[str, list[ast.stmt]] = {}
        loose = []
        for statement in self._body:
            names = _defined(statement)
            for name in names:
                self._statements.setdefault(name, []).append(statement)
            is_plain = names or isinstance(statement, (ast.Import, ast.ImportFrom)) or _is_text(statement)
            if not is_plain or self._is_registered(statement):
                loose.append(statement)
        self._loose = loose
        self._read: dict[int, tuple[frozenset[tuple[Parts, str]], frozenset[str]]] = {}
        always = {place for statement in loose for place in self._look(statement)[0]}
        if "__getattr__" in self._statements:  # which makes names that no statement defines
            always.add((self.parts, EVERYTHING))
        self.always = sorted(always)

    def _is_registered(self, statement: ast.stmt) -> bool:
        """Whether a decorator of the runtime's own, which may keep it, takes a definition: ``@_fused.register``."""
        decorators = getattr(statement, "decorator_list", [])
        heads = {node.id for item in decorators for node in ast.walk(item) if isinstance(node, ast.Name)}
        return any(head in self._statements or self._origin(head) is not None for head in heads)

    @classmethod
    def location(cls, parts: Parts) -> Path:
        """Return the file of a module."""
        stem = cls.FOLDER.joinpath(*parts)
        return stem.with_suffix(".py") if parts and stem.with_suffix(".py").is_file() else stem / "__init__.py"

    def _imported(self, nodes: Iterable[ast.AST]) -> dict[str, tuple[Parts, str]]:
        """Return the places of the names that relative imports among ``nodes`` bind; note those with a star."""
        found = {}
        for node in nodes:
            if isinstance(node, ast.ImportFrom) and node.level:
                base = self._package[: len(self._package) - node.level + 1]
                source = tuple(part for part in (*base, *(node.module or "").split(".")) if part)
                for alias in node.names:
                    inner = (*source, alias.name)
                    found[alias.asname or alias.name] = (inner, "") if is_module(inner) else (source, alias.name)
                    if alias.name == "*":
                        self._stars.append(source)
        found.pop("*", None)
        return found

    def uses(self, name: str) -> list[tuple[Parts, str]]:
        """Return the places that a name of this module needs: what its definition uses, or where it comes from."""
        if not name:
            return []
        if name == EVERYTHING:
            own = [(self.parts, other) for other in (*self._statements, *self._imports)]
            return [*own, *((source, EVERYTHING) for source in self._stars)]
        found = {place for statement in self._statements.get(name, ()) for place in self._look(statement)[0]}
        if name not in self._statements:
            is_part = self._package == self.parts and is_module((*self.parts, name))
            origin = ((*self.parts, name), "") if is_part else self._origin(name)
            found |= {origin} if origin is not None else set()
        return sorted(found)

    def _origin(self, name: str, local: Mapping[str, tuple[Parts, str]] | None = None) -> tuple[Parts, str] | None:
        if local and name in local:
            return local[name]
        if name in self._imports:
            return self._imports[name]
        return next(((source, name) for source in reversed(self._stars) if name in _offered(source)), None)

    def _look(self, statement: ast.stmt) -> tuple[frozenset[tuple[Parts, str]], frozenset[str]]:
        """Return the places that a statement needs, and the identifiers in it, with a dot in front of members."""
        if id(statement) not in self._read:
            places, words = self._used_in(statement)
            self._read[id(statement)] = frozenset(places), frozenset(words)
        return self._read[id(statement)]

    def _used_in(self, statement: ast.stmt) -> tuple[set[tuple[Parts, str]], set[str]]:
        places: set[tuple[Parts, str]] = set()
        words: set[str] = set()
        heads, inner = set(), set()
        nodes = list(ast.walk(statement))  # an attribute comes before what it is read from
        local = self._imported(nodes)
        places |= set(local.values())
        for node in nodes:
            if isinstance(node, ast.Attribute):
                words.add(f".{node.attr}")
                inner.add(id(node.value))
                chain = _chain(node) if id(node) not in inner else ()
                place = self._member(chain, local) if chain else None
                if place is not None:
                    heads.add(id(_head(node)))
                    places.add(place)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                words.update(_QUOTED_TYPE.findall(node.value))
            elif isinstance(node, ast.Name):
                words.add(node.id)
                if node.id == "globals":
                    places.add((self.parts, EVERYTHING))
                if node.id in self._statements or id(node) in heads:
                    places.add((self.parts, node.id))
                elif (origin := self._origin(node.id, local)) is not None:
                    places |= {(self.parts, node.id), (origin[0], EVERYTHING) if origin[1] == "" else origin}
        return places, words

    def _member(self, chain: tuple[str, ...], local: Mapping[str, tuple[Parts, str]]) -> tuple[Parts, str] | None:
        """Return the place of ``module.member``; None where the chain does not begin with a module of the runtime."""
        if chain[0] in self._statements:
            return None
        origin = self._origin(chain[0], local)
        if origin is None or origin[1]:
            return None
        parts = origin[0]
        for name in chain[1:]:
            if not is_module((*parts, name)):
                return parts, name
            parts = (*parts, name)
        return parts, EVERYTHING

    def mentioned(self, names: Set[str]) -> set[str]:
        """Return every identifier in the definitions of ``names``."""
        kept = [s for s in self._body if EVERYTHING in names or _defined(s) & names]
        return {word.lstrip(".") for statement in kept for word in self._look(statement)[1]}

    def pruned(self, names: Set[str]) -> str:
        """Return the module's text with the definitions of ``names`` and what belongs to no name."""
        if EVERYTHING in names:
            return self._text
        lines = self._text.splitlines(keepends=True)
        kept = [s for s in self._body if s in self._loose or _is_text(s) or _defined(s) & names]
        used = {word for statement in kept for word in self._look(statement)[1]} | names
        told: list[str] = []
        end = 0
        for statement in self._body:
            first = min([statement.lineno, *(item.lineno for item in getattr(statement, "decorator_list", []))])
            last = statement.end_lineno or first
            if isinstance(statement, (ast.Import, ast.ImportFrom)):
                told += [*_blanks(lines[end : first - 1]), *self._import_of(statement, used)]
            elif _is_list_of_exports(statement):
                told += self._exports(lines[end:last], statement, names)
            elif any(statement is item for item in kept):
                told += lines[end:last]
            end = last
        return _without_gaps("".join(told))

    def _import_of(self, node: ast.Import | ast.ImportFrom, used: Set[str]) -> list[str]:
        """Return an import statement with the names that are used; a star brings in those that it stands for."""
        if isinstance(node, ast.ImportFrom) and node.module == "__future__":
            return [ast.unparse(node) + "\n"]
        items = []
        for alias in node.names:
            if alias.name == "*" and isinstance(node, ast.ImportFrom):
                source = tuple(part for part in (*self._package, *(node.module or "").split(".")) if part)
                explicit = [n for n in sorted(used & _offered(source)) if self._origin(n) == (source, n)]
                items += [ast.alias(name) for name in explicit]
            elif (alias.asname or alias.name.split(".")[0]) in used:
                items.append(alias)
        if not items:
            return []
        told = ast.unparse(
            ast.ImportFrom(node.module, items, node.level) if isinstance(node, ast.ImportFrom) else ast.Import(items)
        )
        if len(told) > _WIDTH and isinstance(node, ast.ImportFrom):
            head = told.partition(" import ")[0]
            told = f"{head} import (\n" + "".join(f"    {ast.unparse(item)},\n" for item in items) + ")"
        return [told + "\n"]

    def _exports(self, lines: list[str], node: ast.stmt, names: Set[str]) -> list[str]:
        value = node.value if isinstance(node, ast.Assign) else None
        kept = [name for name in ast.literal_eval(value) if name in names] if value is not None else []
        told = "__all__ = [" + ", ".join(f'"{name}"' for name in kept) + "]"
        if len(told) > _WIDTH:
            told = "__all__ = [\n" + "".join(f'    "{name}",\n' for name in kept) + "]"
        return [*_blanks(lines), told + "\n"] if kept else []


def _defined(statement: ast.stmt) -> frozenset[str]:
    """Return the names that a statement of a module defines; none of an import, or of what only has an effect."""
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        return frozenset({statement.name})
    if isinstance(statement, (ast.Import, ast.ImportFrom, ast.AugAssign)):
        return frozenset()
    if isinstance(statement, (ast.Assign, ast.AnnAssign)):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        names = [node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)]
        plain = all(isinstance(target, (ast.Name, ast.Tuple)) for target in targets)
        return frozenset(names) if plain else frozenset()
    if isinstance(statement, (ast.If, ast.Try)):
        handlers = [item for handler in getattr(statement, "handlers", []) for item in handler.body]
        inner = [*statement.body, *statement.orelse, *handlers]
        imports = (item for item in inner if isinstance(item, (ast.Import, ast.ImportFrom)))
        names = [alias.asname or alias.name for item in imports for alias in item.names]
        return frozenset(names).union(*(_defined(item) for item in inner))
    return frozenset()


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _is_list_of_exports(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Assign)
        and isinstance(statement.targets[0], ast.Name)
        and statement.targets[0].id == "__all__"
        and isinstance(statement.value, ast.List)
    )


def _head(node: ast.Attribute) -> ast.expr:
    value: ast.expr = node
    while isinstance(value, ast.Attribute):
        value = value.value
    return value


def _chain(node: ast.Attribute) -> tuple[str, ...]:
    """Return the names of ``a.b.c``; empty where it does not begin with a name."""
    names = []
    value: ast.expr = node
    while isinstance(value, ast.Attribute):
        names.append(value.attr)
        value = value.value
    return (value.id, *reversed(names)) if isinstance(value, ast.Name) else ()


def _blanks(lines: list[str]) -> list[str]:
    """Return the empty lines in front of a statement, without comments that spoke of another."""
    return [line for line in lines if not line.strip()]


def _without_gaps(text: str) -> str:
    """Return a text with at most two empty lines together, and none at its end."""
    return re.sub(r"\n{4,}", "\n\n\n", text).strip("\n") + "\n"
