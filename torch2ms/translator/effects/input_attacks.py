"""Attacks that stand in a training step: ``loss.backward()``, of which only the gradient of a made-up input is read.

``delta.grad`` behind it is ``torch.autograd.grad(loss, delta)[0]``, and the gradients that the weights get besides are
reset before the next backward call: so the file is read as if it said that. Everything else of the translation then
sees a gradient that is kept nowhere. Lines keep their numbers.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from torch2ms.translator.effects.names_used import is_zeroing
from torch2ms.translator.syntax.ast_walk import walk
from torch2ms.translator.values.use_evidence import is_schedule, may_be_optimizer, uses

__all__ = ["PLACE", "edited", "parses", "with_inner_gradients"]

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_LOOPS = (ast.For, ast.While, ast.AsyncFor)
PLACE = tuple[int, int, int, str]  # a line, the bytes from where to where, what stands there instead


def with_inner_gradients(text: str) -> str | None:
    """Return the text with such backward calls written as ``torch.autograd.grad``; None where there is none."""
    if not all(word in text for word in (".grad", ".backward(", ".step(")) or not re.search(
        r"^import torch$", text, re.M
    ):
        return None
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    places: list[PLACE] = []
    for scope in walk(tree):
        if isinstance(scope, (ast.Module, ast.FunctionDef, ast.AsyncFunctionDef)):
            places.extend(_Scope(scope, tree, text).places())
    new = edited(text, places)
    return new if places and parses(new) else None


def parses(text: str) -> bool:
    """Whether a text is Python."""
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def edited(text: str, places: Sequence[PLACE]) -> str:
    """Return a text with something else at some places."""
    lines = [line.encode() for line in text.split("\n")]
    for line, start, end, new in sorted(set(places), reverse=True):
        before = lines[line - 1]
        lines[line - 1] = (before[:start] + new.encode() + before[end:]).rstrip()
    return b"\n".join(lines).decode()


class _Scope:
    """One function, or the script, and the backward calls in it."""

    def __init__(self, scope: ast.AST, tree: ast.AST, text: str) -> None:
        self.tree = tree
        self.text = text
        self.blocks: dict[int, list[ast.stmt]] = {}
        self.loops: dict[int, list[ast.AST]] = {}  # the loops around a statement, innermost first
        self.nodes: list[ast.AST] = []
        self._enter(scope, [])
        self.calls = [n for n in self.nodes if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)]

    def _enter(self, node: ast.AST, loops: list[ast.AST]) -> None:
        for name in ("body", "orelse", "finalbody"):
            found = getattr(node, name, None)
            block: list[ast.stmt] = found if isinstance(found, list) else []
            for statement in block:
                self.blocks[id(statement)], self.loops[id(statement)] = block, loops
        for child in ast.iter_child_nodes(node):
            if isinstance(child, _FUNCTIONS):
                continue
            self.nodes.append(child)
            self._enter(child, [child, *loops] if isinstance(child, _LOOPS) else loops)

    def _called(self, name: str, first: int = 0, last: float = float("inf")) -> list[ast.Call]:
        return [c for c in self.calls if getattr(c.func, "attr", "") == name and first <= c.lineno <= last]

    def places(self) -> Iterator[PLACE]:
        """Yield what is written otherwise."""
        if not self._called("step"):
            return
        for statement in [n for n in self.nodes if isinstance(n, (ast.Expr, ast.With))]:
            yield from self._attack(statement)

    def _attack(self, statement: ast.Expr | ast.With) -> list[PLACE]:
        loss, block = _loss(statement), self.blocks.get(id(statement), [])
        if not loss or statement not in block:
            return []
        behind = block[block.index(statement) + 1 :]
        end = next((index for index, other in enumerate(behind) if _calls(other, "backward")), len(behind))
        behind = behind[:end]
        gradients = [n for other in behind for n in walk(other) if isinstance(n, ast.Attribute) and n.attr == "grad"]
        names = {n.value.id if isinstance(n.value, ast.Name) else "" for n in gradients}
        name = names.pop() if len(names) == 1 else ""
        if not name or any(_calls(other, "step") for other in behind) or not self._is_leaf(name):
            return []
        every = [n for n in self.nodes if isinstance(n, ast.Attribute) and n.attr == "grad"
                 and isinstance(n.value, ast.Name) and n.value.id == name]  # fmt: skip
        resets = [s for s in block if _resets(s, name)]
        if not self._is_fresh(statement, name, resets) or not self._is_forgotten(statement):
            return []
        read = [n for n in every if not any(n in walk(reset) for reset in resets)]
        if any(n not in gradients or not isinstance(n.ctx, ast.Load) for n in read) or not read:
            return []
        return self._written(statement, loss, name, read, [*resets, *self._useless(statement, name)])

    def _is_leaf(self, name: str) -> bool:
        """Whether a name is that of a tensor that is marked in the scope, and that no optimizer moves."""
        marked = False
        for node in self.nodes:
            if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name for t in node.targets):
                given = node.value if isinstance(node.value, ast.Call) else None
                if given is not None and getattr(given.func, "attr", getattr(given.func, "id", "")) == "Parameter":
                    return False
                words = given.keywords if given is not None else []
                marked = marked or any(word.arg == "requires_grad" for word in words)
                marked = marked or getattr(getattr(given, "func", None), "attr", "") == "requires_grad_"
            target = node.targets[0] if isinstance(node, ast.Assign) else None
            if isinstance(target, ast.Attribute) and target.attr == "requires_grad":
                marked = marked or getattr(target.value, "id", "") == name
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "requires_grad_":
                marked = marked or getattr(getattr(node.func, "value", None), "id", "") == name
        steps = {ast.unparse(call.func.value) for call in self._called("step") if isinstance(call.func, ast.Attribute)}
        return marked and steps.isdisjoint(ast.unparse(t) for s in self._movers(name) for t in s.targets)

    def _movers(self, name: str) -> list[ast.Assign]:
        """Return the statements that make an optimizer of the tensor: ``opt = optim.SGD([x], lr=1)``."""
        return [
            node
            for node in self.nodes
            if isinstance(node, ast.Assign)
            and isinstance(node.value, ast.Call)
            and node.value.args
            and isinstance(node.value.args[0], (ast.List, ast.Tuple))
            and any(isinstance(part, ast.Name) and part.id == name for part in node.value.args[0].elts)
        ]

    def _is_fresh(self, statement: ast.stmt, name: str, resets: Sequence[ast.stmt]) -> bool:
        """Whether the tensor has no gradient from the round before: it is made anew, or its gradient is reset."""
        loops = self.loops[id(statement)]
        return not loops or bool(resets) or any(
            isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store) for n in walk(loops[0])
        )  # fmt: skip

    def _is_forgotten(self, statement: ast.stmt) -> bool:
        """Whether what the weights get is reset before the next backward call, and no step is taken until then."""
        last = statement.end_lineno or statement.lineno
        later = [call.lineno for call in self._called("backward", last + 1)]
        if not later or not self._called("zero_grad", last + 1, min(later)):
            return False
        reset = min(call.lineno for call in self._called("zero_grad", last + 1))
        before = [c for c in self._called("step", last + 1, reset) if not self._is_schedule(c)]
        inner = self.loops[id(statement)][:1]
        return not before and not any(_calls(loop, "step") and not _calls(loop, "zero_grad") for loop in inner)

    def _is_schedule(self, step: ast.Call) -> bool:
        """Whether ``x.step()`` is a schedule's: it is asked for rates, or made of what steps and resets gradients."""
        found = uses(self.tree)
        schedule = found.of(step.func.value) if isinstance(step.func, ast.Attribute) else found.of(step.func)
        made = [value.args[0] for value in schedule.values if isinstance(value, ast.Call) and value.args]
        return is_schedule(schedule) or any(may_be_optimizer(found.of(first)) for first in made)

    def _useless(self, statement: ast.stmt, name: str) -> list[ast.stmt]:
        """Return what only cleared gradients in the attack's own loop: none are left there now."""
        loop = self.loops[id(statement)][:1]
        if not loop or sum(_calls(other, "backward") for other in self.blocks[id(statement)]) != 1:
            return []
        if self.blocks[id(statement)] is not getattr(loop[0], "body", None) or _calls(loop[0], "step"):
            return []
        zeros = [s for s in self.blocks[id(statement)] if isinstance(s, ast.Expr) and _calls(s, "zero_grad")]
        movers = self._movers(name)
        uses = [n for n in self.nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)]
        made = {t.id for mover in movers for t in mover.targets if isinstance(t, ast.Name)}
        inside = {id(n) for zero in zeros for n in walk(zero)}
        left = any(use.id in made and id(use) not in inside for use in uses)
        return [*zeros, *(() if left else movers)]

    def _written(self, statement: ast.Expr | ast.With, loss: str, name: str, read: Sequence[ast.Attribute],
                 gone: Sequence[ast.stmt]) -> list[PLACE]:  # fmt: skip
        backward: list[ast.stmt] = statement.body if isinstance(statement, ast.With) else [statement]
        lines: list[ast.expr | ast.stmt] = [*backward, *read, *gone]
        starts = [n.lineno for n in self.nodes if isinstance(n, ast.stmt)]
        if any(n.lineno != n.end_lineno for n in lines):
            return []
        if any(starts.count(s.lineno) > 1 for s in [statement, *backward, *gone]):
            return []
        new = f"{name}_grad"
        while re.search(rf"\b{new}\b", self.text):
            new += "_"
        asked = f"{new} = torch.autograd.grad({loss}, {name})[0]"
        places = [(s.lineno, s.col_offset, s.end_col_offset or 0, "") for s in gone]
        places += [(n.lineno, n.col_offset, n.end_col_offset or 0, new) for n in read]
        if isinstance(statement, ast.With):
            places += [(s.lineno, s.col_offset, s.end_col_offset or 0, "") for s in backward]
            end = statement.items[0]
            name_end = end.optional_vars.end_col_offset if end.optional_vars is not None else None
            return [*places, (statement.lineno, statement.col_offset, (name_end or 0) + 1, asked)]
        return [*places, (statement.lineno, statement.col_offset, statement.end_col_offset or 0, asked)]


def _loss(statement: ast.Expr | ast.With) -> str:
    """Return the name of the loss in ``loss.backward()``, also in what apex wants around it; empty for all else."""
    scaled, inner = "", statement
    if isinstance(statement, ast.With):
        item, body = statement.items[0], statement.body[0]
        call, given = item.context_expr, item.optional_vars
        named = isinstance(call, ast.Call) and getattr(call.func, "attr", getattr(call.func, "id", "")) == "scale_loss"
        is_alone = len(statement.items) == len(statement.body) == 1 and body.lineno == statement.lineno + 1
        if not named or not is_alone or not isinstance(given, ast.Name) or not isinstance(body, ast.Expr):
            return ""
        assert isinstance(call, ast.Call)
        scaled, inner = given.id, body
        if not call.args or not isinstance(call.args[0], ast.Name):
            return ""
        loss = call.args[0].id
    assert isinstance(inner, ast.Expr)
    backward = inner.value
    func = backward.func if isinstance(backward, ast.Call) else None
    if not isinstance(func, ast.Attribute) or func.attr != "backward" or not isinstance(func.value, ast.Name):
        return ""
    assert isinstance(backward, ast.Call)
    if backward.args or backward.keywords:
        return ""
    return loss if scaled and func.value.id == scaled else "" if scaled else func.value.id


def _calls(tree: ast.AST, name: str) -> bool:
    """Whether a statement calls a method of this name."""
    return any(isinstance(n, ast.Call) and getattr(n.func, "attr", "") == name for n in walk(tree))


def _resets(statement: ast.stmt, name: str) -> bool:
    """Whether a statement is ``x.grad.zero_()``, ``x.grad.data.fill_(0)`` or ``x.grad = None``."""
    if isinstance(statement, ast.Expr):
        call = statement.value
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or not is_zeroing(call):
            return False
        return ast.unparse(call.func.value) in (f"{name}.grad", f"{name}.grad.data")
    return ast.unparse(statement) == f"{name}.grad = None"
