"""Functions of the project that only compute from what they are given: no weights enter through them."""

from __future__ import annotations

import ast

from torch2ms.translator.context import Context
from torch2ms.translator.effects import dotted_path
from torch2ms.translator.names import candidates
from torch2ms.translator.training.vocabulary import BUILTINS, VALUE_METHODS
from torch2ms.translator.trees import walk

__all__ = ["is_plain_function"]

_BUILTINS = BUILTINS - {"next", "getattr", "map", "filter", "hasattr", "input", "iter"}  # these may run anything
_LIBRARIES = frozenset({"torch", "F", "np", "numpy", "math"})  # what files call those whose functions hold no weights


def is_plain_function(func: ast.expr, ctx: Context) -> bool:
    """Whether every function of the project that ``func`` may be computes with its arguments and constants alone.

    The text of the function says so: it calls functions of libraries, built-in ones and methods of tensors, and reads
    no global names but constants, which are written in capitals.
    """
    kind = ctx.kind(func)
    keys = candidates(kind) if kind.name == "function" else ()
    return bool(keys) and all(":" in key and _is_plain(key, ctx) for key in keys)


def _is_plain(key: str, ctx: Context) -> bool:
    info = ctx.world.function(key)
    if info is None or not isinstance(info.node, ast.FunctionDef) or info.node.decorator_list:
        return False
    nodes = [node for statement in info.node.body for node in walk(statement)]
    bound = {node.arg for node in walk(info.node.args) if isinstance(node, ast.arg)} - {"self"}
    bound |= {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return all(_is_harmless(node, bound, ctx) for node in nodes)


def _is_harmless(node: ast.AST, bound: set[str], ctx: Context) -> bool:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.Global, ast.Await)):
        return False
    if isinstance(node, ast.Name):
        return node.id in bound | _BUILTINS | _LIBRARIES or node.id.isupper() or node.id.endswith("Error")
    if not isinstance(node, ast.Call):
        return True
    func = node.func
    if isinstance(func, ast.Name):
        return func.id not in bound  # which name it is, is asked above
    if not isinstance(func, ast.Attribute):
        return False
    path = dotted_path(func) or ""
    return path.partition(".")[0] in _LIBRARIES - bound or _is_tensor_method(func.attr, ctx)


def _is_tensor_method(name: str, ctx: Context) -> bool:
    rows = (ctx.tables.row(f"{owner}.{name}") is not None for owner in ("torch.Tensor", "torch.nn.Module"))
    return name in VALUE_METHODS or tuple(rows) == (True, False) or name == "extend"
