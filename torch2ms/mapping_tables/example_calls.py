"""Which target an example shows: its call, bound to torch's signature, against the conditions of the row's targets."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from torch2ms.config import Target, parse_version
from torch2ms.mapping_tables.lookup import Tables
from torch2ms.mapping_tables.schema import DROP, RECEIVER, Example, MappedTo, Row, Signature

__all__ = ["bound_arguments", "producer", "same_literal"]


def producer(tables: Tables, row: Row, example: Example) -> MappedTo | None:
    """Return the target of a row that an example shows, None when none holds for its release and device.

    Of the targets whose release, device and conditions hold, the first whose name stands in ``after`` and whose edge is
    the example's, then whose name alone stands there; when none does, one that drops the call where ``after`` has no
    call at all, or else the first (methods and operators do not spell their target).
    """
    device: Any = example.device
    api: Any = "mint" if ".mint." in example.after else "auto"
    target = Target(parse_version(example.mindspore), device, api, example.exact, example.graph)
    given = bound_arguments(tables, row, example)
    held = [option for option in tables.select(row, target) if _conditions_hold(option, given)]
    named = [option for option in held if names_target(example.after, option.target)]
    spoken = [option for option in held if option in named or option.target in (RECEIVER, DROP)]
    at_edge = [option for option in spoken if example.edge and option.edge == example.edge]
    has_call = any(isinstance(node, ast.Call) for node in ast.walk(ast.parse(example.after)))
    dropping = [] if has_call else [option for option in held if option.target == DROP]
    return next((option for option in [*at_edge, *named, *dropping, *held]), None)


def names_target(after: str, target: str) -> bool:
    """Whether the text of an example uses a target: by its full name, or as a method or attribute of something."""
    if target in (RECEIVER, DROP):
        return False
    short = target.rpartition(".")[2]
    for node in ast.walk(ast.parse(after)):
        if isinstance(node, ast.Attribute):
            if ast.unparse(node) == target:
                return True
            if (
                node.attr == short
                and "Tensor" in target
                and not ast.unparse(node).startswith(("mindspore.", "torch2ms."))
            ):
                return True
        elif isinstance(node, ast.Name) and node.id == target:
            return True
    return False


def bound_arguments(tables: Tables, row: Row, example: Example) -> Mapping[str, str] | None:
    """Return the source of every argument of the example's call by parameter; defaults stand in where none is given.

    None when ``before`` has no call of the row's name, or when it cannot be bound.
    """
    for node in ast.walk(ast.parse(example.before)):
        if not isinstance(node, ast.Call):
            continue
        text = ast.unparse(node.func)
        method = row.kind == "method" and text.rpartition(".")[2] == row.name.rpartition(".")[2]
        if method or tables.canonical(text) == row.name:
            for signature in tables.overloads(row.name):
                if (bound := _bind(node, signature)) is not None:
                    return bound
    return None


def _bind(call: ast.Call, signature: Signature) -> dict[str, str] | None:
    bound = {item.name: item.default for item in signature.parameters if item.default is not None}
    places = [item for item in signature.parameters if item.kind in ("positional", "positional_only")]
    rest = any(item.kind == "var_positional" for item in signature.parameters)
    for index, argument in enumerate(call.args):
        if isinstance(argument, ast.Starred):
            return None
        if index < len(places):
            bound[places[index].name] = ast.unparse(argument)
        elif not rest:
            return None
    for keyword in call.keywords:
        named = keyword.arg and (signature.get(keyword.arg) or signature.parameters[-1:])
        if not named or keyword.arg is None:
            return None
        bound[keyword.arg] = ast.unparse(keyword.value)
    return bound


def _conditions_hold(option: MappedTo, given: Mapping[str, str] | None) -> bool:
    if not option.when or given is None:
        return True
    return all(name in given and same_literal(given[name], literal) for name, literal in option.when.items())


def same_literal(a: str | None, b: str | None) -> bool:
    """Whether two pieces of source mean the same literal: ``1`` and ``1.0``, ``[1]`` and ``(1,)``."""
    if a is None or b is None:
        return a is b
    if a == b:
        return True
    try:
        x, y = ast.literal_eval(a), ast.literal_eval(b)
    except (ValueError, SyntaxError, TypeError):
        return False
    if isinstance(x, (list, tuple)) and isinstance(y, (list, tuple)):
        return list(x) == list(y)
    return bool(x == y) and isinstance(x, bool) == isinstance(y, bool)
