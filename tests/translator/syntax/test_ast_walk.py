"""Walks over Python's trees, and the small questions that many rules ask of a node."""

from __future__ import annotations

import ast

import pytest

from torch2ms.translator.syntax.ast_walk import changed_in_place


@pytest.mark.parametrize(
    ("code", "changed"),
    [
        ("x.add_(1)", "x"),
        ("net.weight.data.fill_(0)", "net.weight.data"),
        ("x.add(1)", None),
        ("super().__init__()", None),
        ("add_(x, 1)", None),
        ("x.add_", None),
    ],
)
def test_methods_in_place_are_named_with_an_underscore(code: str, changed: str | None) -> None:
    found = changed_in_place(ast.parse(code, mode="eval").body)
    assert (None if found is None else ast.unparse(found)) == changed
