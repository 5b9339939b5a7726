"""Signatures as source text: from Python's inspection, from docstrings, from source, from torch's operators."""

from __future__ import annotations

import ast
import enum
import inspect
import math
import re
import textwrap
from typing import Any


def default_text(value: Any) -> str:
    """Return Python source for a default value; ``...`` where there is none."""
    if isinstance(value, enum.Enum):
        return f"{type(value).__module__}.{type(value).__qualname__}.{value.name}"
    if isinstance(value, float) and not math.isfinite(value):
        return f"float({str(value)!r})"
    if value is None or isinstance(value, (bool, int, float, str, bytes, complex)):
        return repr(value)
    if isinstance(value, (tuple, list)) and type(value) in (tuple, list):
        inner = ", ".join(default_text(item) for item in value)
        closing = ",)" if isinstance(value, tuple) and len(value) == 1 else ")"
        return f"({inner}{closing}" if isinstance(value, tuple) else f"[{inner}]"
    if isinstance(value, dict) and not value:
        return "{}"
    if inspect.isclass(value) or inspect.isroutine(value):
        return f"{value.__module__}.{value.__qualname__}" if "<" not in value.__qualname__ else "..."
    if type(value).__module__.startswith("mindspore") and re.fullmatch(r"[A-Z][a-z]+\d*", str(value)):
        return f"mindspore.{str(value).lower()}"
    text = repr(value)
    return text if re.fullmatch(r"(torch|mindspore)\.\w+", text) else "..."


def parameters_text(parameters: list[inspect.Parameter]) -> str:
    """Return ``(a, /, b=1, *, c)`` for inspected parameters."""
    plain = []
    for parameter in parameters:
        default = parameter.default
        if default is not parameter.empty:
            text = default_text(default)
            try:
                ast.parse(text, mode="eval")
            except (SyntaxError, ValueError):
                text = "..."
            # str() of the signature writes the default by repr: hand it an object that prints as the source.
            default = type("Text", (), {"__repr__": lambda self, text=text: text})()
        plain.append(parameter.replace(annotation=parameter.empty, default=default))
    return str(inspect.Signature(plain))


def inspected(value: Any, *, drop_first: bool) -> str | None:
    """Return the signature Python itself knows, None when it knows nothing useful."""
    try:
        parameters = list(inspect.signature(value).parameters.values())
    except (ValueError, TypeError, RuntimeError):
        return None
    if drop_first and parameters and parameters[0].kind in (0, 1):
        parameters = parameters[1:]
    names = [parameter.name for parameter in parameters]
    if [int(parameter.kind) for parameter in parameters] in ([2], [2, 4]) and names[0] in ("args", "arg"):
        return None  # a wrapper that hides the real one
    try:
        return parameters_text(parameters)
    except ValueError:
        return None


def clean_signature(text: str) -> str | None:
    """Return a docstring's parameter list as Python without annotations, None when it is none."""
    text = re.sub(r"\s+", " ", text.replace("\\*", "*")).strip()
    text = re.sub(r"<[^<>]*>", "...", text)
    text = re.sub(r"\bfrom\b", "from_", text)  # torch's operators have an argument that Python cannot name
    text = re.sub(r"^(\*\w+), \*,", r"\1,", text)  # "*size, *, out=None": what follows *size is keyword-only anyway
    try:
        node = ast.parse(f"def f({text}): ...").body[0]
    except (SyntaxError, ValueError):
        return None
    assert isinstance(node, ast.FunctionDef)
    plain = [*node.args.posonlyargs, *node.args.args]
    missing = plain[: len(plain) - len(node.args.defaults)]
    while missing and is_optional(missing[-1]):
        node.args.defaults.insert(0, ast.Constant(None))
        missing.pop()
    for index, argument in enumerate(node.args.kwonlyargs):
        if node.args.kw_defaults[index] is None and is_optional(argument):
            node.args.kw_defaults[index] = ast.Constant(None)
    for argument in [*plain, *node.args.kwonlyargs]:
        argument.annotation = None
    for single in (node.args.vararg, node.args.kwarg):
        if single is not None:
            single.annotation = None
    return f"({ast.unparse(node.args)})"


def is_optional(argument: ast.arg) -> bool:
    """Whether an annotation allows None: torch's docstrings leave ``=None`` out beside it."""
    text = ast.unparse(argument.annotation) if argument.annotation else ""
    return text.startswith("Optional[") or (text.startswith("Union[") and "None" in text) or text.endswith("| None")


def documented(doc: str, name: str) -> list[str]:
    """Return the parameter lists that a docstring gives for ``name``, in order, as written."""
    found = []
    pattern = re.compile(
        rf"^[ \t]*(?:\.\. (?:method|function|py:method|py:function):: )?(?:[\w.]+\.)?{re.escape(name)}\(", re.MULTILINE
    )
    for match in pattern.finditer(doc):
        depth, end = 1, match.end()
        while end < len(doc) and depth and end - match.end() < 1500:
            depth += (doc[end] in "([{") - (doc[end] in ")]}")
            end += 1
        line = doc[end : doc.find("\n", end) if "\n" in doc[end:] else len(doc)].strip()
        if depth == 0 and (match.group().lstrip().startswith("..") or not line or line.startswith("->")):
            found.append(doc[match.end() : end - 1])
    return found


def constructor(value: type) -> str | None:
    """Return the signature that the source of the nearest constructor writes."""
    for base in value.__mro__:
        if "__init__" in vars(base):
            # A layer without a constructor of its own takes no arguments.
            return "()" if base.__name__ in ("Module", "Cell") and base is not value else from_source(base)
    return None


def from_source(value: Any, *, drop_first: bool = False) -> str | None:
    """Return the signature as the source writes it (a decorator may hide it); of a class, its constructor's."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(value))).body[0]
    except (OSError, TypeError, SyntaxError, IndexError):
        return None
    if isinstance(tree, ast.ClassDef):
        found = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "__init__"]
        if not found:
            return None
        tree, drop_first = found[0], True
    if not isinstance(tree, ast.FunctionDef):
        return None
    if drop_first:
        tree.args.args = tree.args.args[1:]
    return clean_signature(ast.unparse(tree.args))


def schemas(name: str) -> list[str]:
    """Return the argument lists of torch's operators of that name, ``self`` left as ``input``."""
    import torch

    found: list[str] = []
    known = torch._C._jit_get_schemas_for_operator(f"aten::{name}")
    takes_tensor = [schema for schema in known if schema.arguments and "Tensor" in str(schema.arguments[0].type)]
    for schema in takes_tensor or known:
        pieces, star = [], False
        for argument in schema.arguments:
            if argument.kwarg_only and not star:
                pieces.append("*")
                star = True
            default = "" if not argument.has_default_value() else f"={default_text(argument.default_value)}"
            pieces.append(("input" if argument.name == "self" else argument.name) + default)
        if any(str(argument.type) in ("Dimname", "Dimname[]") for argument in schema.arguments):
            continue
        if schema.overload_name.endswith("out"):
            continue
        text = clean_signature(", ".join(pieces))
        if text and text not in found and len(found) < 8:
            found.append(text)
    return found
