"""Signatures as text: parse them, print them, read them from source files."""

from __future__ import annotations

import ast
from functools import lru_cache

from torch2ms.mapping_tables.schema import Parameter, Signature

__all__ = ["format_signature", "parse_signature", "signature_of_node"]


@lru_cache(maxsize=8192)
def parse_signature(text: str) -> Signature | None:
    """Return the signature that ``"(a, /, b=1, *args, c, **kw)"`` writes; None when it is no Python."""
    try:
        module = ast.parse(f"def f{text}: ...")
    except (SyntaxError, ValueError):
        return None
    node = module.body[0]
    if len(module.body) != 1 or not isinstance(node, ast.FunctionDef):
        return None
    return signature_of_node(node.args)


def signature_of_node(arguments: ast.arguments, *, skip_first: bool = False) -> Signature:
    """Return the signature of a function's ``args``; ``skip_first`` drops ``self``."""
    plain = [*arguments.posonlyargs, *arguments.args]
    defaults: list[ast.expr | None] = [None] * (len(plain) - len(arguments.defaults))
    defaults += arguments.defaults
    parameters = []
    for index, (argument, default) in enumerate(zip(plain, defaults, strict=True)):
        if skip_first and index == 0:
            continue
        text = None if default is None else ast.unparse(default)
        only = index < len(arguments.posonlyargs)
        parameters.append(Parameter(argument.arg, "positional_only" if only else "positional", text))
    if arguments.vararg is not None:
        parameters.append(Parameter(arguments.vararg.arg, "var_positional"))
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        text = None if default is None else ast.unparse(default)
        parameters.append(Parameter(argument.arg, "keyword", text))
    if arguments.kwarg is not None:
        parameters.append(Parameter(arguments.kwarg.arg, "var_keyword"))
    return Signature(tuple(parameters))


def format_signature(signature: Signature) -> str:
    """Return the text of a signature; the inverse of ``parse_signature``."""
    pieces: list[str] = []
    open_positional_only = star = False
    for parameter in signature.parameters:
        if parameter.kind == "positional_only":
            open_positional_only = True
        elif open_positional_only:
            pieces.append("/")
            open_positional_only = False
        if parameter.kind == "var_positional":
            star = True
        if parameter.kind == "keyword" and not star:
            pieces.append("*")
            star = True
        prefix = {"var_positional": "*", "var_keyword": "**"}.get(parameter.kind, "")
        default = "" if parameter.default is None else f"={parameter.default}"
        pieces.append(f"{prefix}{parameter.name}{default}")
    if open_positional_only:
        pieces.append("/")
    return f"({', '.join(pieces)})"
