"""Aliases: which expressions and names may share memory, by the facts of operations.

``shared_memory`` answers for one expression: ``x.view(2, 2)`` and ``torch.flatten(x, 1)`` share the memory of ``x``,
``x + 1`` that of nothing. ``Aliases`` answers for the names of some statements: after ``y = h.view(2, 2)`` and
``row = y[0]``, what is written into one of the three is seen by all.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from torch2ms.mapping_tables.facts import Fact, load_facts
from torch2ms.translator.effects.reads_and_writes import dotted_path
from torch2ms.translator.values.kinds import UNKNOWN, Kind

__all__ = ["Aliases", "Shared", "shared_memory"]


class Oracle(Protocol):
    """Whoever knows the kind of an expression."""

    def kind(self, node: ast.expr) -> Kind:
        """Return the kind of ``node``; UNKNOWN when nothing is known."""


class _Nobody:
    """Knows no kinds: names alone decide."""

    def kind(self, node: ast.expr) -> Kind:
        return UNKNOWN


@dataclass(frozen=True, slots=True)
class Shared:
    """Of which expressions a value may share the memory; ``fact`` is that of the operation that makes it."""

    sources: tuple[ast.expr, ...]
    fact: Fact
    is_itself: bool = False  # it is the source itself, whatever the arguments
    is_layer: bool = False  # a layer or a function of one makes it, which shares memory under few settings


_SELF = Fact("self")


def shared_memory(tree: ast.expr, oracle: Oracle | None = None) -> Shared | None:
    """Return what an expression shares memory with; None where no operation of torch is seen that shares any.

    Without an oracle, and for what it does not know, the name of a method or function decides.
    """
    oracle = oracle or _Nobody()
    if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.UAdd):
        return Shared((tree.operand,), _SELF, True) if oracle.kind(tree.operand).is_tensor else None
    if isinstance(tree, ast.Attribute):
        fact = _member(tree, oracle)
        return _shared(fact, (tree.value,), oracle) if fact is not None else None
    if not isinstance(tree, ast.Call):
        return None
    callee = oracle.kind(tree.func)
    names = callee.of.split("|") if callee.of else []
    if callee.name in ("api", "Module"):
        for name in names:
            fact = _of_name(name)
            if fact is not None and fact.is_alias:
                sources = _operands(tree, fact)
                is_layer = name.startswith("torch.nn.")
                return _shared(fact, sources, oracle, is_layer) if sources else None
        return None
    if callee.name in ("function", "class") or not isinstance(tree.func, ast.Attribute):
        return None
    fact = _member(tree.func, oracle)
    if fact is None:
        return None
    of_unknown = oracle.kind(tree.func.value).name == "unknown"
    first = [arg for arg in tree.args[:1] if of_unknown and not isinstance(arg, ast.Constant)]  # of torch.flatten(x)
    sources = (tree.func.value, *first)
    if fact.of:
        sources = tuple(arg for arg in tree.args if oracle.kind(arg).is_tensor)
        return _shared(fact, sources, oracle) if sources else None
    made = _shared(fact, sources, oracle)
    return None if _is_cast(tree, made, oracle) else made


def _of_name(name: str) -> Fact | None:
    """Return the facts of a function, method or layer of torch; of ``torch.functional.einsum`` those of torch's."""
    found = load_facts().of(name)
    return found or load_facts().of(name.replace("torch.functional.", "torch."))


def _member(tree: ast.Attribute, oracle: Oracle) -> Fact | None:
    """Return the facts of a tensor's method or attribute that gives an alias; None for all else."""
    kind = oracle.kind(tree.value)
    if not kind.is_tensor and kind.name != "unknown":
        return None
    names = [f"torch.Tensor.{tree.attr}", *([] if kind.is_tensor else [f"torch.{tree.attr}"])]
    facts = (load_facts().of(name) for name in names)
    return next((fact for fact in facts if fact is not None and fact.is_alias), None)


def _operands(call: ast.Call, fact: Fact) -> tuple[ast.expr, ...]:
    """Return the tensors that a call of a function may share the memory of."""
    named = [word.value for word in call.keywords if word.arg in ("input", "self", fact.of)]
    given = [arg.value if isinstance(arg, ast.Starred) else arg for arg in call.args]
    if not fact.of:
        return tuple([*given, *named][:1])
    found = [arg for arg in [*given, *named] if not (isinstance(arg, ast.Constant) and isinstance(arg.value, str))]
    if len(found) == 1 and isinstance(found[0], (ast.Tuple, ast.List)):
        found = found[0].elts
    return () if fact.alone and len(found) > 1 else tuple(found)


def _shared(fact: Fact, sources: tuple[ast.expr, ...], oracle: Oracle, is_layer: bool = False) -> Shared:
    is_real = _family(oracle.kind(sources[0])) in ("bool", "int", "float")
    memory = fact.real if fact.real and is_real else fact.memory
    return Shared(sources, fact, memory == "self" and not fact.writes, is_layer)


def _is_cast(call: ast.Call, made: Shared, oracle: Oracle) -> bool:
    """Whether a call surely copies, because it gives another dtype: ``x.to(torch.int32)`` of floats."""
    if made.fact.memory != "maybe" or made.fact.real:
        return False
    before, after = oracle.kind(made.sources[0]), oracle.kind(call)
    return bool(_family(before) and _family(after)) and before.of != after.of


def _family(kind: Kind) -> str:
    """Return ``bool``, ``int``, ``float`` or ``complex`` for a tensor's kind; empty when its dtype is not known."""
    from torch2ms.translator.values.dtypes import family

    return family(kind.of) if kind.is_tensor else ""


class Aliases:
    """The paths that may share memory, as some nodes bind them; in whatever order they run."""

    def __init__(self, nodes: Iterable[ast.AST], oracle: Oracle | None = None) -> None:
        """Take the nodes of one function or module."""
        self._near: dict[str, set[str]] = {}
        for node in nodes:
            self._see(node, oracle)

    def __bool__(self) -> bool:
        """Whether any paths share memory."""
        return bool(self._near)

    def of(self, changed: Iterable[str]) -> set[str]:
        """Return the other paths of the memory that changes where ``changed`` do."""
        if not self._near:
            return set()
        start = {path for name in changed for path in _prefixes(name) if path in self._near}
        found: set[str] = set()
        queue = start
        while queue:
            found |= queue
            queue = set().union(*(self._near.get(path, set()) for path in queue)) - found
        return found - start

    def _see(self, node: ast.AST, oracle: Oracle | None) -> None:
        if isinstance(node, ast.Assign):
            pairs = [(target, node.value) for target in node.targets]
        elif isinstance(node, (ast.NamedExpr, ast.AnnAssign)) and node.value is not None:
            pairs = [(node.target, node.value)]
        elif isinstance(node, (ast.For, ast.comprehension)) and isinstance(node.iter, ast.Call):
            pairs = [(node.target, node.iter)]
        else:
            return
        for target, value in pairs:
            made = [path for part in getattr(target, "elts", [target]) if (path := dotted_path(part)) is not None]
            for source, is_sure in _roots(value, oracle) if made else ():
                for path in made:
                    if path != source:
                        self._near.setdefault(path, set()).add(source)
                        if is_sure:
                            self._near.setdefault(source, set()).add(path)


def _prefixes(path: str) -> Iterator[str]:
    while path:
        yield path
        path = path.rpartition(".")[0]


def _roots(value: ast.expr, oracle: Oracle | None) -> Iterator[tuple[str, bool]]:
    """Yield the paths whose memory an expression may be a part of.

    And whether the expression surely is of the same tensor: what ``items[0]`` shares with ``items``, another item of a
    list does not.
    """
    queue, is_part = [(value, True)], False
    while queue:
        node, is_sure = queue.pop()
        shared = shared_memory(node, oracle)
        if shared is not None and shared.fact.memory != "held":
            queue += [(source, is_sure) for source in shared.sources]
        elif isinstance(node, (ast.Subscript, ast.Starred)):
            is_tensor = oracle is not None and oracle.kind(node.value).is_tensor
            of_tensor = is_tensor or shared_memory(node.value, oracle) is not None  # x.split(1)[0]
            queue.append((node.value, is_sure and of_tensor))
        elif isinstance(node, ast.IfExp):
            queue += [(node.body, is_sure), (node.orelse, is_sure)]
        elif is_part and (path := dotted_path(node)) is not None:
            yield path, is_sure
        is_part = True
