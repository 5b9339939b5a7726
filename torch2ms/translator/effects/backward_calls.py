"""``torch.autograd.backward(losses)``: read as the method of one loss that has the same gradients.

Of several losses the sum is differentiated, of one with a weight of its own the product. Lines keep their numbers.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torch2ms.translator.effects.copied_leaves import with_copied_leaves
from torch2ms.translator.effects.input_attacks import PLACE, edited, parses, with_inner_gradients
from torch2ms.translator.project.source_text import READINGS
from torch2ms.translator.syntax.ast_walk import walk

__all__ = ["read_as", "with_backward_methods"]

_NAMES = re.compile(
    r"^(?:(?:import torch(?:\.autograd)?|from torch import autograd|import torch\.autograd as autograd)\s*)$", re.M
)
_CALLS = frozenset({"torch.autograd.backward", "autograd.backward"})
_LISTS = (ast.List, ast.Tuple)


def read_as(text: str) -> str | None:
    """Return the text that is translated in the place of one that asks for gradients in other ways; None for others."""
    found = None
    for written in (with_backward_methods, with_copied_leaves, with_inner_gradients):
        found = written(text if found is None else found) or found
    return found


READINGS.append(read_as)


def with_backward_methods(text: str) -> str | None:
    """Return the text with such calls written as ``loss.backward()``; None where there is none."""
    if "autograd.backward(" not in text or not _NAMES.search(text):
        return None
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    nodes = list(walk(tree))
    places = [place for node in nodes if isinstance(node, ast.Expr) for place in _place(node, nodes)]
    new = edited(text, places)
    return new if places and parses(new) else None


def _place(statement: ast.Expr, nodes: list[ast.AST]) -> Iterator[PLACE]:
    call = statement.value
    if not isinstance(call, ast.Call) or ast.unparse(call.func) not in _CALLS or call.lineno != call.end_lineno:
        return
    words = {keyword.arg: keyword.value for keyword in call.keywords}
    given = [*call.args, *[words[name] for name in ("tensors", "variables") if name in words and not call.args]]
    seeds = words.get("grad_tensors", words.get("grad_variables", given[1] if len(given) > 1 else None))
    settings = [f"{name}={ast.unparse(words[name])}" for name in ("retain_graph", "create_graph") if name in words]
    known = {"tensors", "variables", "grad_tensors", "grad_variables", "retain_graph", "create_graph"}
    starred = any(isinstance(argument, ast.Starred) for argument in call.args)
    if not given or len(given) > 2 or starred or not words.keys() <= known:
        return
    loss = _loss(given[0], None if isinstance(seeds, ast.Constant) else seeds, nodes)
    if loss:
        new = f"{loss}.backward({', '.join(settings)})"
        yield call.lineno, call.col_offset, call.end_col_offset or 0, new


def _loss(tensors: ast.expr, seeds: ast.expr | None, nodes: list[ast.AST]) -> str:
    """Return the one loss whose gradients are those of some, each with its weight; nothing where that is not told."""
    if isinstance(tensors, _LISTS):
        weights = seeds.elts if isinstance(seeds, _LISTS) else [None] * len(tensors.elts)
        if len(weights) != len(tensors.elts) or (seeds is not None and not isinstance(seeds, _LISTS)) or not weights:
            return ""
        parts = [_weighted(value, weight) for value, weight in zip(tensors.elts, weights, strict=True)]
        return f"({' + '.join(parts)})" if len(parts) > 1 else parts[0]
    is_list = _is_list(tensors, nodes)
    if is_list is None or (
        seeds is not None and is_list != (isinstance(seeds, _LISTS) or bool(_is_list(seeds, nodes)))
    ):
        return ""
    if not is_list:
        return _weighted(tensors, seeds)
    if seeds is None:
        return f"sum({ast.unparse(tensors)})"
    pairs = f"zip({ast.unparse(tensors)}, {ast.unparse(seeds)})"
    return f"sum((one_loss * one_weight.detach()).sum() for one_loss, one_weight in {pairs})"


def _weighted(value: ast.expr, weight: ast.expr | None) -> str:
    code = ast.unparse(value)
    if weight is None or isinstance(weight, ast.Constant):
        return code if isinstance(value, (ast.Name, ast.Attribute, ast.Call, ast.Subscript)) else f"({code})"
    return f"(({code}) * ({ast.unparse(weight)}).detach()).sum()"


def _is_list(tree: ast.expr, nodes: list[ast.AST]) -> bool | None:
    """Whether an expression is a list, by what its name is bound to; None where the file does not tell."""
    if isinstance(tree, (*_LISTS, ast.ListComp)):
        return True
    if not isinstance(tree, ast.Name):
        return False if isinstance(tree, (ast.Call, ast.BinOp)) else None
    values = [
        node.value
        for node in nodes
        if isinstance(node, ast.Assign) and any(getattr(target, "id", "") == tree.id for target in node.targets)
    ]
    lists = [_makes_list(value) for value in values]
    return lists[0] if lists and len(set(lists)) == 1 else None


def _makes_list(value: ast.expr) -> bool:
    parts = [value.left, value.right] if isinstance(value, ast.BinOp) else [value]
    return any(isinstance(part, (*_LISTS, ast.ListComp)) for part in parts)
