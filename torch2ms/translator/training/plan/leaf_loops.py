"""Loops over leaves that read the gradient of each: ``for p in (w, b): p -= lr * p.grad``, in place or in a function.

MindSpore's tensors hold no gradient, so such a loop goes over the gradients as well: ``for p, p_grad in zip((w, b),
(w_grad, b_grad))``. A function of the file that is handed the leaves, as textbooks write ``sgd([w, b], lr, n)``, is
handed their gradients too.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from torch2ms.translator.effects.names_used import own
from torch2ms.translator.syntax.ast_walk import walk
from torch2ms.translator.training.find.gradient_reads import clears
from torch2ms.translator.training.leaf_model import LeafPlan, LeafUnit, Refused
from torch2ms.translator.training.naming import Names

__all__ = ["LeafLoop", "LoopedLeaves", "Updater", "updaters"]

_LISTS = (ast.List, ast.Tuple)


@dataclass(frozen=True, slots=True)
class Updater:
    """A function that goes over one of its parameters, a list of leaves, and reads their gradients."""

    node: ast.FunctionDef
    place: int
    name: str
    loops: tuple[ast.For, ...]

    def given(self, call: ast.Call) -> ast.expr | None:
        """Return what a call hands over as the list of leaves."""
        if len(call.args) > self.place:
            plain = not any(isinstance(arg, ast.Starred) for arg in call.args[: self.place + 1])
            return call.args[self.place] if plain else None
        return next((keyword.value for keyword in call.keywords if keyword.arg == self.name), None)


@dataclass(frozen=True, slots=True)
class LeafLoop:
    """A loop over leaves of a scope, or the call of a function that has it."""

    statement: ast.stmt
    loops: tuple[ast.For, ...]
    leaves: tuple[str, ...]
    updater: Updater | None = None

    def own_gradients(self) -> list[ast.Attribute]:
        """Return what the loop reads and empties; nothing for the call of a function."""
        return [node for loop in self.loops for node in gradients_in(loop)] if self.updater is None else []

    def clears(self) -> bool:
        """Whether the gradients are emptied, too."""
        return any(map(resets_in, self.loops))

    def reads(self) -> bool:
        """Whether the gradients are read, too."""
        return any(len(resets_in(loop)) < len(loop.body) for loop in self.loops)


def gradients_in(loop: ast.For) -> list[ast.Attribute]:
    """Return the ``p.grad`` of the variable of a loop."""
    name = getattr(loop.target, "id", "")
    nodes = (node for statement in loop.body for node in walk(statement))
    return [
        n for n in nodes if isinstance(n, ast.Attribute) and n.attr == "grad" and getattr(n.value, "id", "") == name
    ]


def resets_in(loop: ast.For) -> list[ast.stmt]:
    """Return the statements of a loop's body that empty the gradient of its variable."""
    name = getattr(loop.target, "id", "")
    bound = {id(s) for s in loop.body if isinstance(s, ast.Assign) and any(isinstance(t, ast.Name) for t in s.targets)}
    return [s for s in loop.body if id(s) not in bound and clears(s, name)]


def updaters(tree: ast.Module, excluded: Collection[str] = ()) -> dict[str, Updater]:
    """Return the functions of a file that update the leaves they are handed, by name."""
    found: dict[str, Updater] = {}
    names = [node.name for node in walk(tree) if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and names.count(node.name) == 1 and node.name not in excluded:
            made = _updater(node)
            if made is not None:
                found[node.name] = made
    return found


def _updater(node: ast.FunctionDef) -> Updater | None:
    given = node.args
    if node.decorator_list or given.vararg or given.kwarg or given.kwonlyargs or given.posonlyargs:
        return None
    asked = [n for n in walk(node) if isinstance(n, ast.Attribute) and n.attr == "grad"]
    loops = [n for n in own(node) if isinstance(n, ast.For) and gradients_in(n)]
    if not asked or not loops or any(isinstance(n, ast.Attribute) and n.attr == "backward" for n in walk(node)):
        return None
    over = {getattr(n.iter, "id", "") for n in loops}
    name = over.pop() if len(over) == 1 else ""
    place = next((i for i, arg in enumerate(given.args) if arg.arg == name), None)
    uses = [n for n in walk(node) if isinstance(n, ast.Name) and n.id == name]
    if place is None or place >= (len(given.args) - len(given.defaults)) or len(uses) != len(loops):
        return None
    known = {id(read) for loop in loops for read in gradients_in(loop)}
    if any(id(n) not in known for n in asked) or not all(map(_is_plain, loops)):
        return None
    return Updater(node, place, name, tuple(loops))


def _is_plain(loop: ast.For) -> bool:
    """Whether gradients are only read in a loop, or emptied by statements of its own."""
    if loop.orelse or not isinstance(loop.target, ast.Name):
        return False
    resets = resets_in(loop)
    inside = {id(n) for reset in resets for n in walk(reset)}
    changed = [n for n in walk(loop) if isinstance(n, ast.Call) and getattr(n.func, "attr", "").endswith("_")]
    written = {id(n) for call in changed if isinstance(call.func, ast.Attribute) for n in walk(call.func.value)}
    written |= {id(part) for n in walk(loop) if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store)
                for part in walk(n.value)}  # fmt: skip
    reads = [n for n in gradients_in(loop) if id(n) not in inside]
    later = [loop.body.index(reset) for reset in resets]
    last = max((i for i, s in enumerate(loop.body) if any(n in reads for n in walk(s))), default=-1)
    if any(not isinstance(n.ctx, ast.Load) or id(n) in written for n in reads):
        return False
    return all(isinstance(s, (ast.Assign, ast.Expr)) for s in resets) and all(i > last for i in later)


class LoopedLeaves:
    """The part of a scope's planning that lets loops go over leaves and their gradients."""

    nodes: list[ast.AST]
    plan: LeafPlan
    names: Names
    grads: list[ast.Attribute]

    def _around(self, node: ast.AST) -> list[ast.AST]:
        raise NotImplementedError

    def _loops(self, node: ast.AST) -> list[ast.AST]:
        """Return the loops that a node stands in."""
        return [parent for parent in self._around(node) if isinstance(parent, (ast.For, ast.While, ast.AsyncFor))]

    def _is_tensor_path(self, node: ast.expr) -> bool:
        raise NotImplementedError

    def _is_leafs_own(self, node: ast.Attribute) -> bool:
        """Whether a gradient is that of a tensor of the scope: the variable of a comprehension is another one."""
        clauses = [clause for parent in self._around(node) for clause in getattr(parent, "generators", ())]
        name = getattr(node.value, "id", "")
        bound = (n for clause in clauses for n in walk(clause.target))
        return self._is_tensor_path(node.value) and not any(getattr(n, "id", None) == name for n in bound)

    def _find_loops(self) -> list[LeafLoop]:
        """Return the loops of the scope over leaves, and the calls of functions that have one."""
        return [
            *(LeafLoop(loop, (loop,), leaves) for loop, leaves in self._own_loops()),
            *(LeafLoop(call, made.loops, leaves, made) for call, made, leaves in self._calls()),
        ]

    def _own_loops(self) -> Iterator[tuple[ast.For, tuple[str, ...]]]:
        for node in self.nodes:
            if isinstance(node, ast.For) and gradients_in(node) and _is_plain(node):
                leaves = self._listed(node.iter)
                if leaves:
                    yield node, leaves

    def _calls(self) -> Iterator[tuple[ast.Expr, Updater, tuple[str, ...]]]:
        for node in self.nodes:
            call = node.value if isinstance(node, ast.Expr) else None
            made = self.plan.updaters.get(getattr(call.func, "id", "")) if isinstance(call, ast.Call) else None
            if isinstance(node, ast.Expr) and isinstance(call, ast.Call) and made is not None:
                given = made.given(call)
                leaves = self._listed(given) if given is not None else ()
                if leaves:
                    yield node, made, leaves

    def _listed(self, value: ast.expr) -> tuple[str, ...]:
        """Return the names in a list that is written out, or bound once to a name; empty for anything else."""
        if isinstance(value, ast.Name):
            named = [n for n in self.nodes if isinstance(n, ast.Name) and n.id == value.id]
            bound = [n for n in self.nodes if isinstance(n, ast.Assign) and getattr(n.targets[0], "id", "") == value.id]
            stores = [n for n in named if not isinstance(n.ctx, ast.Load)]
            changed = any(isinstance(n, ast.Attribute) and getattr(n.value, "id", "") == value.id for n in self.nodes)
            if len(stores) != 1 or len(bound) != 1 or len(bound[0].targets) != 1 or changed:
                return ()
            value = bound[0].value
        names = [n.id if isinstance(n, ast.Name) else "" for n in value.elts] if isinstance(value, _LISTS) else []
        return tuple(names) if all(names) and len(set(names)) == len(names) else ()

    def _check_loops(self, loops: Sequence[LeafLoop], units: Sequence[LeafUnit]) -> None:
        """Refuse loops that may not find the gradients of the one backward call, straight behind it."""
        for loop in loops:
            owners = [unit for unit in units if unit.is_backward and set(unit.leaves) & set(loop.leaves)]
            if len(owners) != 1 or not set(loop.leaves) <= set(owners[0].leaves):
                raise Refused
            block, backward = owners[0].block, owners[0].statement
            place = next((n for n in (loop.statement, *self._around(loop.statement)) if n in block), None)
            if not isinstance(place, (ast.For, ast.With, ast.Expr)) or (
                place is not loop.statement and not isinstance(place, ast.With)
            ):
                raise Refused
            read: list[ast.expr | ast.stmt] = [n for n in self.grads if getattr(n.value, "id", "") in loop.leaves]
            read += [other.statement for other in loops if other.reads() and set(other.leaves) & set(loop.leaves)]
            if loop.reads() and place.lineno < backward.lineno:
                raise Refused
            if loop.clears():
                end = backward.lineno if place.lineno < backward.lineno else math.inf
                if any(loop.statement.lineno < n.lineno < end for n in read):
                    raise Refused
            between = block[block.index(backward) : block.index(place)] if loop.reads() else []
            if any(clears(statement, leaf) for statement in between for leaf in loop.leaves):
                raise Refused

    def _clears(self, statement: ast.stmt, path: str) -> bool:
        if isinstance(statement, ast.With):
            return any(self._clears(inner, path) for inner in statement.body)
        found = [loop for loop in self._find_loops() if loop.statement is statement]
        return any(path in loop.leaves and loop.clears() for loop in found) or clears(statement, path)

    def _enter_loops(self, loops: Sequence[LeafLoop], names: dict[str, str], units: Sequence[LeafUnit]) -> None:
        """Name the gradients in the loops, and note what the loops go over."""
        for loop in loops:
            grads = [names[leaf] for leaf in loop.leaves]
            adds = any(unit.accumulates and set(unit.leaves) & set(loop.leaves) for unit in units)
            if adds and loop.clears():
                raise Refused
            joined = f"[{', '.join(grads)}]"
            if loop.updater is not None:
                if loop.updater not in self.plan.taking:
                    self.plan.taking[loop.updater] = self.names.fresh("grads", "gradients")
                    self._enter_loop(loop.loops, self.plan.taking[loop.updater])
                self.plan.handing[loop.statement] = (loop.updater, joined)
            else:
                self._enter_loop(loop.loops, joined)

    def _enter_loop(self, loops: Sequence[ast.For], grads: str) -> None:
        for loop in loops:
            assert isinstance(loop.target, ast.Name)
            resets = resets_in(loop)
            name = self.names.fresh(f"{loop.target.id}_grad", f"{loop.target.id}_gradient")
            self.plan.names.update((node, name) for node in gradients_in(loop))
            self.plan.gone.update(resets)
            if len(resets) == len(loop.body):
                self.plan.gone.add(loop)
                continue
            self.plan.zipped[loop] = (name, grads)
