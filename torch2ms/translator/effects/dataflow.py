"""Dataflow within one scope: liveness, backward slices, loop invariance.

Everything works on the standard library's ``ast``; what single statements do is in ``effects.py``. The analysis is
structured (no control flow graph is built): Python's compound statements give the joins and the back edges. Slices
take what a call might change for a change; liveness kills only what is certainly bound.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

from torch2ms.translator.effects.reads_and_writes import (
    Effects,
    base_path,
    dotted_path,
    effects,
    overlap,
    overlaps,
    root,
)
from torch2ms.translator.syntax.ast_walk import walk

__all__ = [
    "Effects",
    "Liveness",
    "backward_slice",
    "base_path",
    "certain_binds",
    "child_blocks",
    "dotted_path",
    "effects",
    "live_in",
    "names_in",
    "overlap",
    "overlaps",
    "root",
]

_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def child_blocks(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    """Yield the statement lists directly inside a compound statement, in source order; none of a definition's."""
    if isinstance(statement, (*_FUNCTIONS, ast.ClassDef)):
        return
    for name in ("body", "handlers", "orelse", "finalbody", "cases"):
        block = getattr(statement, name, None) or []
        if name in ("handlers", "cases"):
            for part in block:
                yield part.body
        elif block:
            yield block


def names_in(node: ast.AST | Sequence[ast.AST]) -> frozenset[str]:
    """Return every identifier that occurs anywhere inside: names, parameters, definitions, imports."""
    found: set[str] = set()
    for top in [node] if isinstance(node, ast.AST) else node:
        for item in walk(top):
            if isinstance(item, ast.Name):
                found.add(item.id)
            elif isinstance(item, ast.arg):
                found.add(item.arg)
            elif isinstance(item, (*_FUNCTIONS, ast.ClassDef)):
                found.add(item.name)
            elif isinstance(item, ast.alias):
                found.add(item.asname or root(item.name))
    return frozenset(found)


def certain_binds(statements: Sequence[ast.stmt], *, loops_run: bool = False) -> frozenset[str]:
    """Return the names bound on every path through the statements.

    With ``loops_run`` every loop is taken to run at least once.
    """
    bound: set[str] = set()
    for statement in statements:
        if isinstance(statement, ast.If):
            test = effects(statement.test).binds
            branches = [certain_binds(block, loops_run=loops_run) for block in (statement.body, statement.orelse)]
            leaving = [_leaves(block) for block in (statement.body, statement.orelse)]
            staying = [names for names, leaves in zip(branches, leaving, strict=True) if not leaves]
            bound |= test | (frozenset.intersection(*staying) if staying else frozenset())
        elif isinstance(statement, (ast.With, ast.AsyncWith)):
            bound |= effects(statement.items).binds | certain_binds(statement.body, loops_run=loops_run)
        elif isinstance(statement, _LOOPS):
            if loops_run:
                bound |= certain_binds(statement.body, loops_run=True)
                bound |= frozenset() if isinstance(statement, ast.While) else effects(statement.target).binds
        elif isinstance(statement, ast.Try):
            tried = certain_binds([*statement.body, *statement.orelse], loops_run=loops_run)
            for handler in statement.handlers:
                if not _leaves(handler.body):
                    tried &= certain_binds(handler.body, loops_run=loops_run)
            bound |= tried | certain_binds(statement.finalbody, loops_run=loops_run)
        elif not isinstance(statement, ast.Match):
            bound |= effects(statement).binds
        if _leaves([statement]):
            break
    return frozenset(bound)


def _leaves(block: Sequence[ast.stmt]) -> bool:
    return any(isinstance(s, (ast.Return, ast.Raise, ast.Break, ast.Continue)) for s in block)


def _kills(statement: ast.stmt, path: str) -> bool:
    if root(path) in certain_binds([statement]):
        return True
    if not isinstance(statement, (ast.Assign, ast.AnnAssign)):
        return False
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    stored = {dotted_path(target) for target in targets if isinstance(target, ast.Attribute)}
    return any(store is not None and (path == store or path.startswith(store + ".")) for store in stored)


def backward_slice(
    statements: Sequence[ast.stmt],
    index: int,
    describe: Callable[[ast.AST], Effects] = effects,
    *,
    ignored: Collection[int] = (),
    value: ast.expr | None = None,
) -> set[int]:
    """Return the indices below ``index`` whose statements contribute to what ``statements[index]`` reads.

    ``value`` narrows the criterion to one expression of that statement; ``ignored`` are indices known to have no
    effect on values (``optimizer.zero_grad()``); ``describe`` gives the effects of a node. Conservative: a statement
    that may change an object the slice reads is in it, a compound statement is in it as a whole, and so is every
    binding of a name that a nested function of the slice captures; prints and metrics that only read are not.
    """
    criterion = describe(statements[index] if value is None else value)
    late: set[str] = set()
    while True:
        needed = set(criterion.reads)
        chosen: set[int] = set()
        captured: set[str] = set()
        for position in range(index - 1, -1, -1):
            if position in ignored:
                continue
            found = describe(statements[position])
            if not overlaps(found.changes, needed | late):
                continue
            chosen.add(position)
            needed = {path for path in needed if not _kills(statements[position], path)} | set(found.reads)
            captured |= found.captures
        if captured <= late:
            return chosen
        late |= captured


def _reads_any_name(call: ast.Call) -> bool:
    if not isinstance(call.func, ast.Name):
        return False
    return call.func.id in ("locals", "eval", "exec") or (call.func.id == "vars" and not call.args)


class Liveness:
    """Which names are live after each statement of one scope (function, method or module body).

    ``dropped`` are ids of statements that are taken as removed. Names that nested functions read, names declared
    global or nonlocal, and every name when ``locals()``, ``vars()``, ``eval`` or ``exec`` is called, are live
    everywhere (``always``); so are, in a module, the names that ``exported`` lists. ``out`` are those live at the end.
    """

    def __init__(
        self,
        body: Sequence[ast.stmt],
        *,
        out: Collection[str] = (),
        exported: Collection[str] = (),
        dropped: Collection[int] = (),
    ) -> None:
        self._dropped = frozenset(dropped)
        self._after: dict[int, frozenset[str]] = {}
        self._before: dict[int, frozenset[str]] = {}
        everything = effects(body)
        always = set(exported) | everything.captures
        for node in (item for statement in body for item in walk(statement)):
            if isinstance(node, (ast.Global, ast.Nonlocal)):
                always.update(node.names)
            elif isinstance(node, ast.Call) and _reads_any_name(node):
                always |= everything.binds
        self.always = frozenset(always)
        self.entry = self._block(body, self.always | frozenset(out), _Exits(self.always, self.always, self.always))

    def after(self, statement: ast.stmt) -> frozenset[str]:
        """Return the names that may be read after ``statement`` before they are bound again."""
        return self._after.get(id(statement), frozenset()) | self.always

    def before(self, statement: ast.stmt) -> frozenset[str]:
        """Return the names that ``statement`` or what follows it may read before they are bound again."""
        return self._before.get(id(statement), frozenset()) | self.always

    def _block(self, block: Sequence[ast.stmt], out: frozenset[str], exits: _Exits) -> frozenset[str]:
        live = out
        for statement in reversed(block):
            self._after[id(statement)] = self._after.get(id(statement), frozenset()) | live
            if id(statement) not in self._dropped:
                live = self._statement(statement, live, exits) | exits.error
            self._before[id(statement)] = self._before.get(id(statement), frozenset()) | live
        return live

    def _statement(self, node: ast.stmt, out: frozenset[str], exits: _Exits) -> frozenset[str]:
        if isinstance(node, ast.If):
            return (
                effects(node.test).names_read
                | self._block(node.body, out, exits)
                | self._block(node.orelse, out, exits)
            )
        if isinstance(node, _LOOPS):
            return self._loop(node, out, exits)
        if isinstance(node, (ast.With, ast.AsyncWith)):
            head = effects(node.items)
            return (self._block(node.body, out, exits) - head.binds) | head.names_read
        if isinstance(node, ast.Try):
            return self._try(node, out, exits)
        if isinstance(node, ast.Match):
            live = effects(node.subject).names_read | out
            for case in node.cases:
                live |= self._block(case.body, out, exits) | effects([case.pattern]).names_read
                live |= effects(case.guard).names_read if case.guard else frozenset()
            return live
        if isinstance(node, ast.Break):
            return exits.stop
        if isinstance(node, ast.Continue):
            return exits.next
        here = effects(node)
        if isinstance(node, (ast.Return, ast.Raise)):
            return here.names_read | self.always
        return (out - here.binds) | here.names_read

    def _loop(self, node: ast.For | ast.AsyncFor | ast.While, out: frozenset[str], exits: _Exits) -> frozenset[str]:
        done = self._block(node.orelse, out, exits)
        if isinstance(node, ast.While):
            per_round, bound = effects(node.test).names_read, effects(node.test).binds
            once: frozenset[str] = frozenset()
        else:
            per_round, bound = effects(node.target).names_read, effects(node.target).binds
            once = effects(node.iter).names_read
        head = done | per_round
        while True:
            inside = self._block(node.body, head, _Exits(out, head, exits.error))
            grown = head | (inside - bound) | per_round
            if grown == head:
                return head | once
            head = grown

    def _try(self, node: ast.Try, out: frozenset[str], exits: _Exits) -> frozenset[str]:
        finished = self._block(node.finalbody, out, exits)
        final_reads = effects(node.finalbody).names_read
        inner = _Exits(exits.stop | final_reads, exits.next | final_reads, exits.error | final_reads)
        caught: frozenset[str] = frozenset()
        for handler in node.handlers:
            names = frozenset([handler.name] if handler.name else [])
            caught |= self._block(handler.body, finished, inner) - names
            caught |= effects(handler.type).names_read if handler.type else frozenset()
        normal = self._block(node.orelse, finished, inner)
        return self._block(node.body, normal, _Exits(inner.stop, inner.next, inner.error | caught))


@dataclass(frozen=True, slots=True)
class _Exits:
    """What is live where a block can be left other than at its end."""

    stop: frozenset[str]  # after break
    next: frozenset[str]  # after continue
    error: frozenset[str]  # in a handler of an enclosing try


def live_in(statements: Sequence[ast.stmt], out: Collection[str] = ()) -> frozenset[str]:
    """Return the names whose value on entry may be read by the statements, or flows through to ``out``."""
    flow = Liveness(statements, out=out)
    hidden = flow.always - frozenset(out) - effects(statements).names_read
    return frozenset(flow.entry - hidden)
