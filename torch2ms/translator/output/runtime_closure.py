"""Runtime closure: which definitions of the runtime emitted code reaches, and the runtime that holds no others.

``used_names(texts, "torch2ms_runtime")`` reads what emitted code names; ``carried_files`` follows each definition to
what it uses and returns the files that OUT carries::

    used_names(["from torch2ms_runtime import layers\\nlayers.pair_to_tblr(2)"], "torch2ms_runtime")
    == {("layers",), ("layers", "pair_to_tblr")}

A module that is used as a value (``getattr(layers, name)``, ``from torch2ms_runtime.layers import *``), or that looks
up its own names (``globals()``), is carried whole. Statements of a module that define nothing (a registration, a
setting) come with the module.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from functools import lru_cache

from torch2ms.translator.output.runtime_module import EVERYTHING, Parts, is_module, module_of

__all__ = ["carried_files", "reached_names", "used_names"]

_IMPORTED = re.compile(r"[ \t]*from ({name}(?:\.\w+)*) import (\([^)]*\)|[^\n#]+)|[ \t]*import ({name}[^\n#]*)")


def used_names(texts: Iterable[str], name: str) -> set[tuple[str, ...]]:
    """Return the dotted names, below the runtime called ``name``, that Python texts use, or name in a comment.

    A name that ends in ``"*"`` stands for all that a module holds.
    """
    pattern = re.compile(_IMPORTED.pattern.replace("{name}", re.escape(name)))
    texts = [text for text in texts if name in text]
    found: set[tuple[str, ...]] = set()
    aliases: dict[str, set[tuple[str, ...]]] = {}
    holders: list[tuple[str, set[str]]] = []
    for text in texts:
        here: set[str] = set()
        for match in pattern.finditer(text):
            for alias, path in _bound(match, name):
                if is_module(path):
                    aliases.setdefault(alias, set()).add(path)
                    here.add(alias)
                found.add(path)
        rest = pattern.sub("", text)
        for named in re.findall(rf"\b{re.escape(name)}\.(\w+(?:\.\w+)*)", rest):  # in a string, or in advice
            path = tuple(named.split("."))
            found.add((*path, EVERYTHING) if is_module(path) else path)
        holders.append((rest, here))
    for text, here in holders:
        # A text inside a string (exec, eval, a doctest) may name a member as well; hence text, not the syntax tree.
        for alias, paths in aliases.items():
            for members in set(re.findall(rf"\b{re.escape(alias)}((?:\s*\.\s*\w+)+)", text)):
                parts = tuple(part.strip() for part in members.split(".")[1:])
                found.update((*path, *parts) for path in paths)
        for alias in here:
            if re.search(rf"(?<![\w.]){re.escape(alias)}\b(?!\s*\.|\s*=[^=])", text) and _is_value(text, alias):
                found.update((*path, EVERYTHING) for path in aliases[alias])
    return found


def _bound(match: re.Match[str], name: str) -> list[tuple[str, tuple[str, ...]]]:
    """Return the names that an import statement binds, with the paths below the runtime that they stand for."""
    source, items, plain = match.groups()
    bound = []
    if plain is not None:
        for item in plain.split(","):
            path, _, alias = (part.strip() for part in item.partition(" as "))
            if path.split(".")[0] == name:
                bound.append((alias or name, tuple(path.split(".")[1:]) if alias else ()))
        return bound
    base = tuple(source.split(".")[1:])
    for item in items.strip("()\n ").split(","):
        path, _, alias = (part.strip() for part in item.partition(" as "))
        if path == "*" or path.isidentifier():
            bound.append((alias or path, (*base, EVERYTHING if path == "*" else path)))
    return bound


def _is_value(text: str, alias: str) -> bool:
    """Whether a text uses the name of a module otherwise than for a member of it; True for what does not parse."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return True
    members = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    names = (node for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load))
    return any(node.id == alias and id(node) not in members for node in names)


def carried_files(used: Iterable[tuple[str, ...]]) -> dict[str, str]:
    """Return the files of the runtime with what ``used`` reaches, and nothing else; texts by path below the runtime."""
    return {module_of(parts).path: module_of(parts).pruned(names) for parts, names in _reached(frozenset(used))}


def reached_names(used: Iterable[tuple[str, ...]]) -> tuple[set[str], set[str]]:
    """Return what ``used`` reaches: dotted names of the installed runtime, and the names that their code mentions."""
    reached = _reached(frozenset(used))
    dotted = {".".join(("torch2ms.runtime", *parts, name)) for parts, names in reached for name in names}
    return dotted, {word for parts, names in reached for word in module_of(parts).mentioned(names)}


@lru_cache(maxsize=8)
def _reached(used: frozenset[tuple[str, ...]]) -> tuple[tuple[Parts, frozenset[str]], ...]:
    """Return the modules that OUT carries, each with its names that are reached."""
    reached: dict[Parts, set[str]] = {(): {EVERYTHING}}
    waiting: list[tuple[Parts, str]] = [((), EVERYTHING)]

    def add(parts: Parts, name: str) -> None:
        if name not in reached.setdefault(parts, set()):
            reached[parts].add(name)
            waiting.append((parts, name))

    for path in sorted(used):
        add(*_place(path))
    entered: set[Parts] = set()
    while waiting:
        parts, name = waiting.pop()
        module = module_of(parts)
        if parts not in entered:
            entered.add(parts)
            for length, name_there in enumerate(parts):  # a package imports the module that stands in it
                add(parts[:length], name_there)
            for place in module.always:
                add(*place)
        for place in module.uses(name):
            add(*place)
    return tuple((parts, frozenset(names)) for parts, names in sorted(reached.items()))


def _place(path: tuple[str, ...]) -> tuple[Parts, str]:
    """Return the module and the name in it that a dotted path means; members of classes belong to their class."""
    cut = len(path)
    while cut and not is_module(path[:cut]):
        cut -= 1
    return path[:cut], path[cut] if cut < len(path) else ""
