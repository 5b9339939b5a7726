"""Calls of what mindone has of Hugging Face's packages: networks whose outputs have names, and what tokenizers give."""

from __future__ import annotations

import ast

import libcst as cst

from torch2ms.mapping_tables.counterparts import counterparts, disagreement
from torch2ms.translator.context import Context
from torch2ms.translator.syntax.cst_builders import build, keyword_arg
from torch2ms.translator.values.kinds import candidates
from torch2ms.translator.values.outputs import asks_for_tensors

__all__ = ["as_encoded", "with_named_outputs"]

_CALLED = ("Module", "instance")
_ENCODED = "torch2ms.runtime.encoded"
_LABELS = frozenset(
    {"labels", "label", "next_sentence_label", "sentence_order_label", "start_positions", "end_positions"}
)


def with_named_outputs(updated: cst.Call, tree: ast.Call, ctx: Context) -> cst.Call:
    """Return the call of a network, or of a method, with ``return_dict=True`` where mindone's gives a tuple without it.

    What mindone's networks do not take, by name or by place, is marked.
    """
    callee, method = ctx.kind(tree.func), "calls"
    if callee.name not in _CALLED and isinstance(tree.func, ast.Attribute):
        callee, method = ctx.kind(tree.func.value), tree.func.attr
    for name in candidates(callee) if callee.name in _CALLED else ():
        if ":" in name:
            name = next((base for base in ctx.world.torch_bases(name) if counterparts(base) is not None), "")
            own = "forward" if method == "calls" else method
            if not name or ctx.world.method(candidates(callee)[0], own) is not None:
                continue
        known = counterparts(name)
        if known is None:
            continue
        given = {word.arg for word in tree.keywords}
        if method in ("calls", "generate") and (message := disagreement(name)):
            ctx.report("T2M303", tree, message, symbol=name, advice="compare them with your weights")
        if method == "calls":
            _mark_lacking(tree, name, given, ctx)
            if known.takes_int32(name):
                updated = _with_labels(updated, ctx)
        if known.asks(name, method) and "return_dict" not in given:
            args = list(updated.args)
            if args and not isinstance(args[-1].comma, cst.Comma):
                args[-1] = args[-1].with_changes(comma=cst.Comma(whitespace_after=cst.SimpleWhitespace(" ")))
            return updated.with_changes(args=[*args, keyword_arg("return_dict", cst.Name("True"))])
    return updated


def _with_labels(updated: cst.Call, ctx: Context) -> cst.Call:
    """Return the call of a network with labels that its loss takes."""
    args = []
    for arg in updated.args:
        named = arg.keyword is not None and arg.keyword.value in _LABELS
        if named and not (isinstance(arg.value, cst.Name) and arg.value.value == "None"):
            arg = arg.with_changes(value=build("{f}({x})", f=ctx.reference(f"{_ENCODED}.as_labels"), x=arg.value))
        elif arg.star == "**":
            arg = arg.with_changes(value=build("{f}({x})", f=ctx.reference(f"{_ENCODED}.with_labels"), x=arg.value))
        args.append(arg)
    return updated.with_changes(args=args)


def _mark_lacking(tree: ast.Call, name: str, given: set[str | None], ctx: Context) -> None:
    known = counterparts(name)
    if known is None:
        return
    short = name.rpartition(".")[2]
    for argument in known.lacking(name):
        if argument in given:
            message = f"the call of {short} has no argument {argument} in {known.installs}"
            ctx.report("T2M203", tree, message, symbol=name)
    placed = known.placed(name)
    if placed is not None and len(tree.args) > placed:
        message = f"from its argument {placed + 1} on, the call of {short} has others in {known.installs}: name them"
        ctx.report("T2M203", tree, message, symbol=name)


def as_encoded(updated: cst.Call, tree: ast.Call, ctx: Context) -> cst.Call | None:
    """Return what a tokenizer gives with MindSpore's tensors: it makes arrays, and these become tensors.

    None for calls that do not ask for torch's tensors, and for functions of the project that take such a keyword.
    """
    if not asks_for_tensors(tree) or ctx.kind(tree.func).name in ("function", "class"):
        return None
    args = [
        arg.with_changes(value=cst.SimpleString('"np"'))
        if arg.keyword is not None and arg.keyword.value == "return_tensors"
        else arg
        for arg in updated.args
    ]
    return cst.ensure_type(
        build("{f}({x})", f=ctx.reference(f"{_ENCODED}.as_tensors"), x=updated.with_changes(args=args)), cst.Call
    )
