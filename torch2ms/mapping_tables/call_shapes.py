"""The ways of writing an example's call: all arguments by position, all by keyword, keywords reordered, defaults only.

They are made from the example and PyTorch's signature, so that a row has them without a word. What PyTorch itself
rejects (a parameter without a name, a default it does not take) is no way of writing the call.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from torch2ms.mapping_tables.lookup import Tables
from torch2ms.mapping_tables.schema import Example, Parameter, Row, Signature

__all__ = ["LETTERS", "CallShape", "call_of", "call_shapes", "with_call"]

LETTERS = {"p": "all positional", "k": "all keyword", "r": "keywords reordered", "d": "defaults"}


@dataclass(frozen=True, slots=True)
class CallShape:
    """One way of writing a call: the letters of ``LETTERS`` that hold for it, and the code of the whole example."""

    letters: str
    before: str


def call_of(tables: Tables, row: Row, tree: ast.AST) -> ast.Call | None:
    """Return the first call of a row's API in the code of an example, None when there is none."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            text = ast.unparse(node.func)
            method = row.kind == "method" and text.rpartition(".")[2] == row.name.rpartition(".")[2]
            if method or tables.canonical(text) == row.name:
                return node
    return None


def call_shapes(tables: Tables, row: Row, example: Example) -> list[CallShape]:
    """Return every way of writing the example's call, each text once; its own text is among them."""
    tree = ast.parse(example.before)
    call = call_of(tables, row, tree)
    if call is None:
        return []
    found: dict[str, str] = {}
    for signature in tables.overloads(row.name):
        for letter, other in _shapes(call, signature):
            if letter == "d" and "reference" in example.run:
                continue  # the code of torch's side would say something else
            text = with_call(example.before, call, other)
            if letter not in found.get(text, ""):
                found[text] = found.get(text, "") + letter
    return [CallShape(letters, text) for text, letters in found.items()]


def with_call(before: str, call: ast.Call, other: ast.Call) -> str:
    """Return the code of an example with one call, which came from parsing this very text, written otherwise."""
    tree = ast.parse(before)
    place = (call.lineno, call.col_offset, call.end_col_offset)

    class Exchange(ast.NodeTransformer):
        def visit_Call(self, node: ast.Call) -> ast.AST:
            if (node.lineno, node.col_offset, node.end_col_offset) == place:
                return other
            return self.generic_visit(node)

    return ast.unparse(ast.fix_missing_locations(Exchange().visit(tree)))


def _shapes(call: ast.Call, signature: Signature) -> Iterator[tuple[str, ast.Call]]:
    places = [item for item in signature.parameters if item.kind in ("positional", "positional_only")]
    starred = any(isinstance(argument, ast.Starred) for argument in call.args)
    if starred or any(keyword.arg is None for keyword in call.keywords):
        return
    given: dict[str, ast.expr] = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
    rest = call.args[len(places) :]
    if rest and not any(item.kind == "var_positional" for item in signature.parameters):
        return
    given.update((place.name, argument) for place, argument in zip(places, call.args, strict=False))
    if any(signature.get(name) is None for name in given):
        return
    yield "p", _positional(call, places, given, rest)
    if not rest:
        named = [item for item in signature.parameters if item.name in given and item.kind != "positional_only"]
        first = [given[item.name] for item in places if item.name in given and item.kind == "positional_only"]
        keywords = [ast.keyword(item.name, given[item.name]) for item in named]
        yield "k", ast.Call(call.func, first, keywords)
        yield "r", ast.Call(call.func, first, keywords[::-1])
    elif len(call.keywords) > 1:
        yield "r", ast.Call(call.func, call.args, call.keywords[::-1])
    required = {item.name for item in signature.parameters if item.default is None}
    kept = [item for item in call.keywords if item.arg in required]
    yield (
        "d",
        ast.Call(call.func, [given[p.name] for p in places if p.name in given and p.name in required] + rest, kept),
    )


def _positional(call: ast.Call, places: list[Parameter], given: dict[str, ast.expr], rest: list[ast.expr]) -> ast.Call:
    """Return a call with every argument by position that can be; defaults fill the gaps between them."""
    last = max((index for index, place in enumerate(places) if place.name in given), default=-1)
    arguments: list[ast.expr] = []
    for place in places[: last + 1]:
        if place.name not in given and place.default is None:
            break
        arguments.append(given.get(place.name) or ast.parse(place.default or "None", mode="eval").body)
    taken = {place.name for place in places[: len(arguments)]}
    keywords = [ast.keyword(name, value) for name, value in given.items() if name not in taken]
    return ast.Call(call.func, arguments + rest, keywords)
