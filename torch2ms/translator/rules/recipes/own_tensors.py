"""Tensors that networks hold as plain attributes, ``self.state = torch.zeros(3)``, and that are changed in place.

``ops.assign`` changes them as it changes parameters, but no gradient flows through what it assigns. ``x[...] = value``
has the gradient; after it ``ops.assign`` refuses the tensor, so that one attribute is changed in one way everywhere.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Literal

import libcst as cst

from torch2ms.translator.context import Context
from torch2ms.translator.effects.buffers import class_around, is_bound_live, put_in_place, registers
from torch2ms.translator.effects.gradient_state import is_recording, requires_grad
from torch2ms.translator.effects.trained_tensors import trained_paths
from torch2ms.translator.rules.call_site import DROPPED, Replace
from torch2ms.translator.syntax.ast_walk import walk
from torch2ms.translator.syntax.cst_builders import build
from torch2ms.translator.values.kinds import Kind, candidates

__all__ = ["Held", "cut_buffer", "dropped", "held_by_network", "may_carry"]

Held = Literal["own", "live", "buffer"]
# own: a plain attribute; live: a buffer that carries a gradient and stays a tensor; buffer: one that is a Parameter.

_PLAIN = ("Tensor", "none", "unknown")


def held_by_network(tree: ast.Attribute, ctx: Context) -> Held | None:
    """Say how a network holds the tensor that its attribute is; None for parameters, and where that is not known."""
    path = ast.unparse(tree)
    if ctx.kind(tree).name not in ("Tensor", "unknown") or path in ctx.once(trained_paths):
        return None
    classes = _classes(ctx.kind(tree.value), ctx)
    if any(registers(tree.attr, node) for where in classes for node in walk(where)):
        where = class_around(tree, ctx)
        named = where is not None and any(registers(tree.attr, node, named=True) for node in walk(where))
        if where is None or not named or getattr(tree.value, "id", "") != "self":
            return None
        return "live" if is_bound_live(tree.attr, where, ctx) else "buffer"
    held = [ctx.kind(value).name for value in _bound(path, tree, ctx)]
    return "own" if "Tensor" in held and all(name in _PLAIN for name in held) else None


def cut_buffer(tree: ast.Attribute, code: cst.BaseExpression, held: Held, ctx: Context) -> Replace:
    """Return what ``self.state.detach_()`` is of a buffer; one that is a parameter has no history."""
    if held != "live" or not isinstance(code, cst.Attribute):
        return dropped()
    return Replace(
        build(
            "{f}({x}, {name}, {cut}({y}))",
            f=ctx.reference("torch2ms.runtime.parts.set_buffer"),
            x=code.value,
            name=ctx.literal(f"'{tree.attr}'"),
            cut=ctx.reference("mindspore.ops.stop_gradient"),
            y=code.deep_clone(),
        )
    )


def dropped() -> Replace:
    """Return what has the statement of a call go."""
    return Replace(DROPPED)


def may_carry(tree: ast.Attribute, ctx: Context) -> bool:
    """Whether a gradient may flow through a tensor of a network, from what it is bound to or filled with."""
    path = ast.unparse(tree)
    return any(_may_record(value, ctx) for value in (*_bound(path, tree, ctx), *_put(path, tree, ctx)))


def _classes(owner: Kind, ctx: Context) -> list[ast.ClassDef]:
    """Return the project's classes that a network may be of, with their bases."""
    found = []
    for key in candidates(owner):
        names = ctx.world.ancestry(key) if ":" in key else (key,)
        infos = [ctx.world.class_info(name) for name in names if ":" in name]
        found += [info.node for info in infos if info is not None]
    return found


def _bound(path: str, tree: ast.Attribute, ctx: Context) -> Iterator[ast.expr]:
    """Yield what the file binds a path to, in the class around where it is one of ``self``."""
    for node in _nodes(tree, ctx):
        targets = node.targets if isinstance(node, ast.Assign) else []
        if isinstance(node, ast.AnnAssign) and node.value is not None:
            targets = [node.target]
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            yield from [node.value] * any(ast.unparse(target) == path for target in targets)


def _put(path: str, tree: ast.Attribute, ctx: Context) -> Iterator[ast.expr]:
    """Yield what the file puts into the tensor of a path, in place."""
    for node in _nodes(tree, ctx):
        for changed, value in put_in_place(node):
            if ast.unparse(changed) == path:
                yield value


def _nodes(tree: ast.Attribute, ctx: Context) -> Iterator[ast.AST]:
    where = class_around(tree, ctx) if getattr(tree.value, "id", "") == "self" else None
    return iter(walk(where if where is not None else ctx.analysis.tree))


def _may_record(value: ast.expr, ctx: Context) -> bool:
    return is_recording(value, ctx) is not False and requires_grad(value, ctx) is not False
