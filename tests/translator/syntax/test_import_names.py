"""What a module may import: by statements, by shown strings, by names that it lists or computes."""

from __future__ import annotations

import ast

import pytest

from torch2ms.translator.syntax.import_names import import_names


@pytest.mark.parametrize(
    ("text", "modules"),
    [
        ("import a.b as c", {(0, "a.b")}),
        ("from ..a import b", {(2, "a"), (2, "a.b")}),
        ("def f():\n    from . import a", {(1, ""), (1, "a")}),
        ("import_module('.a.b', __name__)", {(1, "a.b")}),
        ("importlib.import_module('a.b')", {(0, "a.b")}),
        ("print('a')", set()),
    ],
)
def test_shown_names(text: str, modules: set[tuple[int, str]]) -> None:
    assert import_names(ast.parse(text)).modules == modules


@pytest.mark.parametrize(
    ("text", "searched"),
    [
        ("import_module(f'{__name__}.{x}')", {(1, "")}),
        ("import_module('.' + x, __name__)", {(1, "")}),
        ("import_module('a.b.' + x)", {(0, "a.b")}),
        ("import_module('a.b.{}'.format(x))", {(0, "a.b")}),
        ("import_module(x)", set()),
        ("for x in iter_modules(__path__): import_module(x.name)", {(1, "")}),
        ("open(__file__)", set()),
    ],
)
def test_computed_names(text: str, searched: set[tuple[int, str]]) -> None:
    assert import_names(ast.parse(text)).searched == searched


@pytest.mark.parametrize(
    ("text", "strings"),
    [
        ("__all__ = ['a']", {"a"}),
        ("def __getattr__(name):\n    return {'a': 1}[name]", {"a"}),
        ("x = Lazy(__name__, {'a': ['b']})", {"a", "b"}),
        ("x = 'a'", set()),
    ],
)
def test_listed_names(text: str, strings: set[str]) -> None:
    assert import_names(ast.parse(text)).strings == strings
