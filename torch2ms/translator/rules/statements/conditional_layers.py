"""Layers that a step may not reach: ``self.heads[task](x)``, ``if random.random() < p: x = self.block(x)``.

PyTorch's optimizers pass over weights whose gradient is None. MindSpore's gradient is zero there, and momentum, the
averages of Adam and weight decay go on moving them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torch2ms.translator.context import Context
from torch2ms.translator.syntax.ast_walk import walk

__all__ = ["report_seldom_reached"]

_PLAIN = "SGD"  # without momentum and decay, the one that leaves alone what has no gradient
_LISTS = frozenset({"torch.nn.ModuleList", "torch.nn.ModuleDict"})
_DRAWS = frozenset({"random", "rand", "uniform", "randint", "bernoulli", "choice"})


def report_seldom_reached(tree: ast.ClassDef, ctx: Context) -> None:
    """Report layers of a network that its ``forward`` chooses by an argument or by chance, where it matters."""
    forward = next((f for f in tree.body if isinstance(f, ast.FunctionDef) and f.name == "forward"), None)
    if forward is None or not ctx.once(_moves_without_gradient):
        return
    given = {argument.arg for argument in (*forward.args.args[1:], *forward.args.kwonlyargs)}
    for place in {
        node.lineno: node for node in (*_chosen(forward, given, ctx), *_skipped(forward, given, ctx))
    }.values():
        message = (
            f"{ast.unparse(place)} is not reached in each step: PyTorch leaves weights without gradient alone, here "
            "momentum, averages and decay go on moving them"
        )
        ctx.report("T2M303", place, message, symbol="torch.nn.Module", advice="give them an optimizer of their own")


def _moves_without_gradient(ctx: Context) -> bool:
    """Whether an optimizer of the project moves weights whose gradient is zero: all do but plain SGD."""
    symbols = ctx.world.symbols
    if any({"momentum", "weight_decay"} & set(shape.keywords) for shape in symbols.shapes(frozenset({_PLAIN}))):
        return True
    return bool(symbols.remembered("optimizers", lambda: frozenset(_optimizers(ctx))))


def _optimizers(ctx: Context) -> Iterator[tuple[str, str]]:
    """Yield the optimizers that the project makes, PyTorch's and its own, each with a file that makes it."""
    symbols = ctx.world.symbols
    for path, file in symbols.files.items():
        for name in file.calls:
            torchs = name[:1].isupper() and name != _PLAIN and ctx.tables.row(f"torch.optim.{name}") is not None
            if torchs or (name in file.parameters and "Optimizer" in symbols.bases(name)):
                yield name, path


def _chosen(forward: ast.FunctionDef, given: set[str], ctx: Context) -> Iterator[ast.expr]:
    """Yield ``self.heads[task]`` where it is called, and ``task`` is an argument."""
    for node in walk(forward):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Subscript):
            whole = ctx.kind(node.func.value)
            names = {n.id for n in walk(node.func.slice) if isinstance(n, ast.Name)}
            if whole.name == "Module" and whole.of in _LISTS and names & given:
                yield node.func


def _skipped(forward: ast.FunctionDef, given: set[str], ctx: Context) -> Iterator[ast.expr]:
    """Yield ``self.block`` where it is called in one branch of a test of an argument's truth, or of a draw, alone."""
    for node in walk(forward):
        if isinstance(node, ast.If) and _is_chance(node.test, given):
            before, behind = _beside(node, ctx)
            sides = [{ast.unparse(f): f for f in _layers(body, ctx)} for body in (node.body, node.orelse)]
            for layers, (other, body) in zip(sides, ((sides[1], node.orelse), (sides[0], node.body)), strict=True):
                leaves = bool(body) and isinstance(body[-1], (ast.Return, ast.Raise))
                always = map(ast.unparse, _layers(before if leaves else [*before, *behind], ctx))
                yield from (layers[name] for name in layers.keys() - other.keys() - set(always))


def _beside(node: ast.If, ctx: Context) -> tuple[list[ast.stmt], list[ast.stmt]]:
    """Return the simple statements of the block around a test that run before it, and those that run behind it."""
    blocks = (getattr(ctx.parent(node), field, []) for field in ("body", "orelse", "finalbody"))
    block = next((part for part in blocks if isinstance(part, list) and node in part), [node])
    place = block.index(node)
    before, behind = ([s for s in part if not hasattr(s, "body")] for part in (block[:place], block[place + 1 :]))
    return before, behind


def _is_chance(test: ast.expr, given: set[str]) -> bool:
    plain = test.operand if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) else test
    if isinstance(plain, ast.Name):
        return plain.id in given
    calls = (node.func for node in walk(test) if isinstance(node, ast.Call))
    return any(getattr(call, "attr", getattr(call, "id", "")) in _DRAWS for call in calls)


def _layers(body: list[ast.stmt], ctx: Context) -> Iterator[ast.expr]:
    for statement in body:
        for node in walk(statement):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                own = isinstance(node.func.value, ast.Name) and node.func.value.id == "self"
                if own and ctx.kind(node.func).name == "Module":
                    yield node.func
