"""Signatures of the runtime, read from its source: it needs mindspore to be imported, its source does not."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from torch2ms.mapping_tables.schema import Signature
from torch2ms.mapping_tables.signatures import signature_of_node

__all__ = ["PREFIX", "runtime_code", "runtime_has", "runtime_signature"]

PREFIX = "torch2ms.runtime."
_FOLDER = Path(__file__).parent.parent / "runtime"
_Definition = ast.FunctionDef | ast.ClassDef


@lru_cache(maxsize=512)
def _module(parts: tuple[str, ...]) -> ast.Module | None:
    return _parsed(parts)


@lru_cache(maxsize=512)
def _outline(parts: tuple[str, ...]) -> ast.Module | None:
    """Return a module without what its functions do, a fifth of the memory: all of them are asked for signatures."""
    module = _parsed(parts)
    for node in ast.walk(module) if module is not None else ():
        if isinstance(node, ast.FunctionDef):
            node.body = []
    return module


def _parsed(parts: tuple[str, ...]) -> ast.Module | None:
    stem = _FOLDER.joinpath(*parts)
    for path in (stem.with_suffix(".py"), stem / "__init__.py"):
        if path.is_file():
            return ast.parse(path.read_text(encoding="utf-8"))
    return None


def _members(body: list[ast.stmt], package: tuple[str, ...]) -> dict[str, ast.stmt]:
    """Return what a body defines by name; ``package`` is the folder that relative imports start from."""
    found: dict[str, ast.stmt] = {}
    for node in body:
        if isinstance(node, _Definition):
            found[node.name] = node
        elif isinstance(node, ast.Assign):
            found.update((target.id, node) for target in node.targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found[node.target.id] = node
        elif isinstance(node, (ast.If, ast.Try)):
            found.update(_members(node.body + node.orelse, package))
        elif isinstance(node, ast.ImportFrom):
            found.update(_imported(node, package))
    return found


def _imported(node: ast.ImportFrom, package: tuple[str, ...]) -> dict[str, ast.stmt]:
    """Return what a relative import brings in: the definitions themselves, as far as they are the runtime's."""
    offered: dict[str, ast.stmt] = {}
    if node.level and node.module:  # "from . import part" brings in modules
        offered = _offered((*package[: len(package) - (node.level - 1)], *node.module.split(".")))
    if any(alias.name == "*" for alias in node.names):
        return offered
    return {alias.asname or alias.name: offered.get(alias.name, node) for alias in node.names}


def _member(body: list[ast.stmt], package: tuple[str, ...], name: str) -> ast.stmt | None:
    """Return what a body defines under one name, last; only the modules that it comes from are read."""
    found: ast.stmt | None = None
    for node in body:
        if isinstance(node, ast.ImportFrom):
            found = _imported_member(node, package, name) or found
        elif isinstance(node, (ast.If, ast.Try)):
            found = _member(node.body + node.orelse, package, name) or found
        elif name in _members([node], package):
            found = node
    return found


def _imported_member(node: ast.ImportFrom, package: tuple[str, ...], name: str) -> ast.stmt | None:
    every = any(alias.name == "*" for alias in node.names)
    original = next((a.name for a in node.names if (a.asname or a.name) == name), name if every else None)
    if original is None:
        return None
    offered: ast.stmt | None = None
    if node.level and node.module:
        offered = _offered_member((*package[: len(package) - (node.level - 1)], *node.module.split(".")), original)
    return offered if every else offered or node


@lru_cache(maxsize=1024)
def _offered(parts: tuple[str, ...]) -> dict[str, ast.stmt]:
    """Return what a module of the runtime defines and brings in."""
    module = _outline(parts)
    return _members(module.body, parts if _is_package(parts) else parts[:-1]) if module is not None else {}


@lru_cache(maxsize=8192)
def _offered_member(parts: tuple[str, ...], name: str) -> ast.stmt | None:
    """Return what a module of the runtime has under one name; other modules are read only as far as that needs."""
    module = _outline(parts)
    return _member(module.body, parts if _is_package(parts) else parts[:-1], name) if module is not None else None


def _is_package(parts: tuple[str, ...]) -> bool:
    return _FOLDER.joinpath(*parts).is_dir()


def _find(name: str) -> tuple[ast.stmt | None, bool]:
    """Return the statement that defines a runtime name, and whether it stands in a class."""
    parts = tuple(name.removeprefix(PREFIX).split("."))
    for cut in range(len(parts), 0, -1):
        module = _outline(parts[:cut])
        if module is None:
            continue
        node: ast.stmt | None = None
        inside = False
        body, package = module.body, parts[:cut] if _is_package(parts[:cut]) else parts[: cut - 1]
        for part in parts[cut:]:
            inside = isinstance(node, ast.ClassDef)
            node = _member(body, package, part)
            body, package = node.body if isinstance(node, ast.ClassDef) else [], ()
        return node, inside
    return None, False


def runtime_has(name: str) -> bool:
    """Whether the runtime defines the name ``torch2ms.runtime.<module>.<name>``.

    A module has a ``__dict__``, and a table that it defines what dictionaries have.
    """
    if _find(name)[0] is not None:
        return True
    owner, _, member = name.rpartition(".")
    if member == "__dict__":
        return _outline(tuple(owner.removeprefix(PREFIX).split("."))) is not None
    table = _find(owner)[0]
    if isinstance(table, ast.ClassDef):  # what a class of the same module hands down
        module = owner.rpartition(".")[0]
        bases = (base.id for base in table.bases if isinstance(base, ast.Name) and base.id != table.name)
        return any(runtime_has(f"{module}.{base}.{member}") for base in bases)
    value = table.value if isinstance(table, (ast.Assign, ast.AnnAssign)) else None
    return member in dir(dict) and isinstance(value, (ast.Dict, ast.DictComp))


@lru_cache(maxsize=2048)
def runtime_signature(name: str) -> Signature | None:
    """Return the signature of a function, method or constructor of the runtime, without ``self``.

    None for what is no function or class, and for a class whose constructor is inherited from outside its module.
    """
    node, inside = _find(name)
    if isinstance(node, ast.FunctionDef):
        static = any(isinstance(item, ast.Name) and item.id == "staticmethod" for item in node.decorator_list)
        return signature_of_node(node.args, skip_first=inside and not static)
    if isinstance(node, ast.ClassDef):
        return _constructor(node, name)
    return None


def _constructor(node: ast.ClassDef, name: str) -> Signature | None:
    lines = list(_lines(node, name))
    for position, owner in enumerate(lines):
        if any(other is owner for other in lines[position + 1 :]):
            continue  # a class that several bases share stands behind all of them
        members = _members(owner.body, ())
        for method in ("__init__", "__new__"):
            found = members.get(method)
            if isinstance(found, ast.FunctionDef):
                return signature_of_node(found.args, skip_first=True)
    return None


def _lines(node: ast.ClassDef, name: str) -> Iterator[ast.ClassDef]:
    """Yield a class of the runtime and its bases there, depth first; one that several share comes several times."""
    yield node
    for base in node.bases:
        if isinstance(base, ast.Name) and base.id != node.name:
            found = f"{name.rpartition('.')[0]}.{base.id}"
            owner, _ = _find(found)
            if isinstance(owner, ast.ClassDef):
                yield from _lines(owner, found)


Place = tuple[tuple[str, ...], str]  # the parts of a module, and a name it defines


def runtime_code(code: str) -> str:
    """Return the runtime's source that a piece of code reaches: what it names, and what that uses, in a fixed order.

    Comments and docstrings are left out, so that rewording one changes nothing.
    """
    reached: dict[Place, str] = {}
    waiting = [place for name in _runtime_names(code) if (place := _place(name)) is not None]
    while waiting:
        place = waiting.pop()
        if place not in reached:
            text, used = _definition(place)
            reached[place] = text
            waiting += used
    return "\n".join(reached[place] for place in sorted(reached))


@lru_cache(maxsize=4096)
def _runtime_names(code: str) -> tuple[str, ...]:
    if PREFIX not in code:
        return ()
    names = {ast.unparse(node) for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Attribute)}
    return tuple(sorted(name for name in names if name.startswith(PREFIX)))


@lru_cache(maxsize=2048)
def _place(name: str) -> Place | None:
    """Return where a runtime name is defined; of a member of a class, where the class is."""
    parts = tuple(name.removeprefix(PREFIX).split("."))
    for cut in range(len(parts) - 1, 0, -1):
        if _module(parts[:cut]) is not None:
            return _resolved(parts[:cut], parts[cut])
    return None


@lru_cache(maxsize=512)
def _imports(parts: tuple[str, ...]) -> dict[str, Place]:
    """Return from which module a module has its imported names, and what they are called there."""
    module = _module(parts)
    found: dict[str, Place] = {}
    package = parts if _is_package(parts) else parts[:-1]
    for node in ast.walk(module) if module is not None else ():
        if isinstance(node, ast.ImportFrom) and node.level:
            base = package[: len(package) - (node.level - 1)]
            source = (*base, *(node.module.split(".") if node.module else ()))
            for alias in node.names:
                names = _defined(source) if alias.name == "*" else {alias.asname or alias.name: alias.name}
                found.update((here, (source, there)) for here, there in names.items())
    return found


@lru_cache(maxsize=512)
def _defined(parts: tuple[str, ...]) -> dict[str, str]:
    """Return the names that a module defines itself."""
    module = _module(parts)
    statements = _statements(module.body) if module is not None else []
    own = [node for node in statements if not isinstance(node, ast.ImportFrom)]
    return {name: name for name in _members(own, ())}


@lru_cache(maxsize=8192)
def _resolved(parts: tuple[str, ...], name: str) -> Place | None:
    """Return where a name of a module is defined; ``(module, "")`` is a whole module, None is none of the runtime's."""
    for _ in range(10):  # a name is handed on a few times at most
        if name in _defined(parts):
            return parts, name
        source = _imports(parts).get(name)
        if source is None:
            return None
        if _module((*source[0], name_there := source[1])) is not None:
            return (*source[0], name_there), ""
        parts, name = source
    return None


@lru_cache(maxsize=2048)
def _definition(place: Place) -> tuple[str, tuple[Place, ...]]:
    """Return the source of a definition and the places of what it uses."""
    parts, name = place
    module = _module(parts)
    if module is None or not name:
        return "", ()
    nodes = [node for node in _statements(module.body) if name in _members([node], ())]
    used: set[Place | None] = set()
    for node in (item for statement in nodes for item in ast.walk(statement)):
        if isinstance(node, ast.Name):
            used.add(_resolved(parts, node.id))
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            owner = _resolved(parts, node.value.id)
            used.add(_resolved(owner[0], node.attr) if owner is not None and not owner[1] else None)
    return "\n".join(_bare_source(parts, node) for node in nodes), tuple(
        sorted(item for item in used if item is not None and item != place)
    )


def _statements(body: list[ast.stmt]) -> list[ast.stmt]:
    found = []
    for node in body:
        found += _statements(node.body + node.orelse) if isinstance(node, (ast.If, ast.Try)) else [node]
    return found


def _bare_source(parts: tuple[str, ...], node: ast.stmt) -> str:
    """Return the lines of a definition without docstrings, comments and blank lines."""
    lines = _source_lines(parts)
    decorators = getattr(node, "decorator_list", [])
    first = min([node.lineno, *(item.lineno for item in decorators)])
    skipped: set[int] = set()
    for item in ast.walk(node):
        if isinstance(item, (ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(item, clean=False) is not None:
            skipped.update(range(item.body[0].lineno, (item.body[0].end_lineno or 0) + 1))
    kept = [lines[number - 1] for number in range(first, (node.end_lineno or first) + 1) if number not in skipped]
    return "\n".join(line.rstrip() for line in kept if line.strip() and not line.lstrip().startswith("#"))


@lru_cache(maxsize=512)
def _source_lines(parts: tuple[str, ...]) -> list[str]:
    stem = _FOLDER.joinpath(*parts)
    path = stem.with_suffix(".py") if stem.with_suffix(".py").is_file() else stem / "__init__.py"
    return path.read_text(encoding="utf-8").splitlines()
