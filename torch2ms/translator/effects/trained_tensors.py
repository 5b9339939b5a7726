"""Tensors that a program trains itself: ``w = torch.zeros(3, requires_grad=True)`` and ``optim.SGD([w], lr=0.1)``.

MindSpore's optimizers take parameters, so such a tensor is made one where it is made; for the plans of the training
steps it is a parameter like any other.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence
from typing import TypeGuard

from torch2ms.translator.effects.reads_and_writes import dotted_path
from torch2ms.translator.syntax.ast_walk import walk
from torch2ms.translator.values.file_facts import FileFacts
from torch2ms.translator.values.kinds import Kind, Oracle

__all__ = ["WithTrained", "is_trained", "listed_weights", "trained_paths", "trained_tensors", "weights_in"]

_PARAMETER = Kind("Parameter")


def listed_weights(node: ast.AST) -> set[str]:
    """Return the paths in a list of weights, or of groups of them, that is written out: ``[w, {"params": [b]}]``."""
    found: set[str] = set()
    for item in node.elts if isinstance(node, (ast.List, ast.Tuple)) else ():
        if isinstance(item, ast.Dict):
            for key, value in zip(item.keys, item.values, strict=True):
                if isinstance(key, ast.Constant) and key.value == "params":
                    found |= listed_weights(value if isinstance(value, (ast.List, ast.Tuple)) else ast.List([value]))
        elif isinstance(item, (ast.Name, ast.Attribute)) and (path := dotted_path(item)) is not None:
            found.add(path)
    return found


def weights_in(node: ast.AST, nodes: Collection[ast.AST]) -> set[str]:
    """Return the paths in the lists that an expression joins, and in those that its names are bound to in ``nodes``."""
    found: set[str] = set()
    seen: set[str] = set()
    waiting: list[ast.AST] = [node]
    while waiting:
        part = waiting.pop()
        named = listed_weights(part)
        found |= named
        if isinstance(part, ast.BinOp):
            waiting += [part.left, part.right]
        elif isinstance(part, (ast.List, ast.Tuple)):
            waiting += [item.value for item in part.elts if isinstance(item, ast.Starred)]
        elif isinstance(part, (ast.Name, ast.Attribute)) and (path := dotted_path(part)) is not None:
            named = {path}
        for path in named - seen:
            seen.add(path)
            lists = [value for name, value in _bound(nodes) if name == path and _joins_lists(value)]
            found -= {path} if lists else set()
            waiting += lists
    return found


def _joins_lists(value: ast.expr | None) -> TypeGuard[ast.expr]:
    """Whether a value is a list that is written out, or lists joined: ``[w, b]``, ``first + [c]``."""
    return isinstance(value, (ast.List, ast.Tuple)) or (isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add))


def trained_tensors(nodes: Sequence[ast.AST], oracle: Oracle) -> dict[str, set[ast.expr]]:
    """Return the paths of the tensors that optimizers train, with the calls that make them.

    A path is left out where one of the values it is bound to is not the call of a function.
    """
    listed: set[str] = set()
    optimizers = [node for node in nodes if isinstance(node, ast.Call) and _makes_optimizer(node, oracle)]
    if not optimizers:
        return {}
    for node in optimizers:
        given = [*node.args[:1], *(k.value for k in node.keywords if k.arg == "params")]
        listed = listed.union(*(weights_in(value, nodes) for value in given))
    for call in nodes:
        if isinstance(call, ast.Call) and getattr(call.func, "attr", "") == "add_param_group":
            listed |= listed_weights(ast.List([*call.args[:1], *(k.value for k in call.keywords)]))
    made: dict[str, set[ast.expr]] = {path: set() for path in listed}
    # A network's tensor is made as an attribute of self, and handed over as one of the network: optim.SGD([net.scale])
    bound = list(_bound(nodes))
    own = {path for path, value in bound if value is not None and _wants_gradient(value)}
    for path in listed - {path for path, _ in bound}:
        if path.count(".") == 1 and (inner := "self." + path.partition(".")[2]) in own:
            made[inner] = set()
    for path, value in bound:
        if path in made and value is not None and oracle.kind(value).name == "Tensor" and isinstance(value, ast.Call):
            made[path].add(value)
        elif path in made:
            made.pop(path, None)
    inline = {call for node in optimizers for call in _inline(node)}
    if inline:
        made[""] = {*made.get("", ()), *inline}
    asked = {path: {v for v in values if _wants_gradient(v)} for path, values in made.items()}
    return {path: asked[path] or values for path, values in made.items() if values}


def _inline(call: ast.Call) -> Iterator[ast.expr]:
    """Yield the tensors that are made in the list of weights: ``optim.SGD([torch.zeros(3, requires_grad=True)])``."""
    for given in call.args[:1]:
        for item in given.elts if isinstance(given, (ast.List, ast.Tuple)) else ():
            if isinstance(item, ast.Call) and _wants_gradient(item):
                yield item


def _wants_gradient(value: ast.expr) -> bool:
    """Whether an expression speaks of ``requires_grad``, or ``requires_grad_``."""
    words = (
        getattr(node, "attr", None) or getattr(node, "arg", None) or getattr(node, "id", "") for node in walk(value)
    )
    return any("requires_grad" in str(word) for word in words)


def _makes_optimizer(call: ast.Call, oracle: Oracle) -> bool:
    kind = oracle.kind(call.func)
    return kind.name == "api" and kind.of.startswith("torch.optim.") and "lr_scheduler" not in kind.of


def _bound(nodes: Collection[ast.AST]) -> Iterator[tuple[str, ast.expr | None]]:
    """Yield every path that is bound, with its value; None where that is not written out."""
    for node in nodes:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, (ast.Tuple, ast.List)):
                    values = node.value.elts if isinstance(node.value, (ast.Tuple, ast.List)) else []
                    whole = len(values) == len(target.elts)
                    for index, part in enumerate(target.elts):
                        yield dotted_path(part) or "", values[index] if whole else None
                else:
                    yield dotted_path(target) or "", node.value
        elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)):
            yield dotted_path(node.target) or "", node.value
        elif isinstance(node, (ast.For, ast.comprehension)):
            for name in walk(node.target):
                yield getattr(name, "id", ""), None


class WithTrained:
    """An oracle for which the tensors that optimizers train are parameters."""

    def __init__(self, oracle: Oracle, paths: Collection[str]) -> None:
        self._oracle = oracle
        self._paths = frozenset(paths)

    def kind(self, node: ast.expr) -> Kind:
        """Return the kind of ``node``."""
        if isinstance(node, (ast.Name, ast.Attribute)) and dotted_path(node) in self._paths:
            return _PARAMETER
        return self._oracle.kind(node)


def is_trained(name: str, ctx: FileFacts) -> bool:
    """Whether a name holds a tensor that is trained: it must be assigned to.

    An optimizer is given it, which makes it a parameter; or a loop goes over tensors and their gradients: MindSpore
    refuses ``w[...] = value`` for what a gradient was computed by.
    """
    function = ctx.functions[-1]
    here = function.node if function is not None else None
    loops = ctx.training.leaves.zipped
    if any(
        isinstance(n, ast.For) and getattr(n.target, "id", "") == name and _function_of(n, ctx) is here for n in loops
    ):
        return True
    return any(_function_of(call, ctx) is here for call in ctx.once(trained_paths).get(name, ()))


def trained_paths(ctx: FileFacts) -> dict[str, set[ast.expr]]:
    """Return the paths of the tensors that optimizers of the file train, with the calls that make them."""
    return trained_tensors(ctx.analysis.nodes, ctx.analysis)


def _function_of(tree: ast.AST, ctx: FileFacts) -> ast.AST | None:
    node = ctx.parent(tree)
    while node is not None and not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        node = ctx.parent(node)
    return node
