"""The join of libcst's tree and ``ast``'s: every name, attribute and call finds its twin, with the same text."""

from __future__ import annotations

import argparse
import ast
import dataclasses
import inspect
import sys
import textwrap
from types import ModuleType

import libcst as cst
import pytest

from torch2ms.errors import InternalError
from torch2ms.translator.syntax.alignment import align
from torch2ms.translator.syntax.cst_builders import code_of

SNIPPETS = {
    "boolean chains": "a and b and c or d and not e\n(a and b) and c\na and (b and c)\n",
    "comparisons": "a < b <= c is not d not in e\n",
    "subscripts": "x[0]; x[a:b:c]; x[a, b]; x[a,]; x[(a, b)]; x[..., None]; x[a:b, ::2]\n",
    "arguments": "f(a, *b, c, k=d, **e)\nf(*a, k=b, *c)\nf(x for x in y)\n",
    "strings": "f'{a!r:>{b}}' 'plain' f\"{c=}\"; rb'x'\nf'{a:{b}.{c}}{{}}'\n",
    "displays": "{**a, b: c}; {a, *b}; [*a, b]; (a,); ()\n",
    "comprehensions": "{a: b for a in c if d if e for f in g}; [(yield a) for a in b]; {a async for a in b}\n",
    "lambdas": "lambda a, /, b=c, *d, e=f, **g: h\n",
    "unary": "-1; - x; not -x ** -y; +1j; ~(a)\n",
    "walrus": "(a := b); f(a := b)\n",
    "assignments": "a = b = c, d = e\na: b = c\na: b\na += b\na[b] @= c\n*a, b = c\n",
    "del and assert": "del a, b\ndel (a, b)\ndel a[b], c.d\nassert a, b\nraise a from b\nglobal g\n",
    "one line": "if a: b; c\nelif d: e\nelse: f;\nwhile a: break\nfor x in y: pass\n",
    "with": "with a as b, c: d\nwith (a as b, c as d,): e\nwith (a): b\n",
    "try": "try: a\nexcept b as c: d\nexcept (e, f): g\nelse: h\nfinally: i\n",
    "match": "match a:\n    case b.c | [d, *_] if e: f\n    case {'k': g, **h}: i\n    case J(k=1): l\n",
    "async": "async def f():\n    async with a as b: await c\n    async for d in e: yield\n",
    "class": "@a.b(c)\nclass A(B, C, metaclass=D, **e):\n    x: int = f\n    @g\n    def h(self): ...\n",
    "function": "@a\n@b(c)\ndef f(a: b = c, /, d=e, *args: g, h: i = j, **kw: k) -> l: return a\n",
    "return": "def f():\n    return\ndef g():\n    yield from a\n    return a, *b\n",
    "generic function": "x = 3\n",
}
if sys.version_info >= (3, 11):
    SNIPPETS["starred subscripts"] = "x[*a]; x[*a, b]\n"
    SNIPPETS["groups"] = "try: a\nexcept* b: c\n"


def check(text: str) -> None:
    module, tree = cst.parse_module(text), ast.parse(text)
    alignment = align(module, tree)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Name, ast.Attribute, ast.Call)):
            code = alignment.code(node)
            assert code is not None, ast.dump(node)
            if isinstance(code, cst.BaseExpression):
                own = ast.parse(f"({code_of(code)}\n)", mode="eval").body
                assert ast.unparse(own) == ast.unparse(node)
                assert alignment.tree(code) is node
        elif isinstance(node, ast.stmt):
            assert alignment.code(node) is not None, ast.dump(node)


@pytest.mark.parametrize("name", SNIPPETS)
def test_every_form_of_syntax(name: str) -> None:
    check(SNIPPETS[name])


@pytest.mark.parametrize("module", [argparse, dataclasses, textwrap], ids=lambda module: module.__name__)
def test_real_modules(module: ModuleType) -> None:
    check(inspect.getsource(module))


def test_what_has_no_twin_is_none() -> None:
    module = cst.parse_module("x = 1\n")
    alignment = align(module, ast.parse("x = 1\n"))
    assert alignment.tree(module) is None
    assert alignment.code(ast.Pass()) is None


@pytest.mark.parametrize(
    ("code", "tree"), [("x\n", "x\ny\n"), ("f(a)\nx\n", "f(a)\n"), ("def f(a): pass\n", "def f(): pass\n")]
)
def test_trees_of_different_texts_are_refused(code: str, tree: str) -> None:
    with pytest.raises(InternalError, match="disagree"):
        align(cst.parse_module(code), ast.parse(tree))
