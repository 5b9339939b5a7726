"""The text of a rewritten module is libcst's own, with the text of the source where nothing was touched."""

from __future__ import annotations

import ast
from collections.abc import Callable

import libcst as cst
import pytest

from torch2ms.translator.syntax.alignment import align
from torch2ms.translator.syntax.code_generation import generate
from torch2ms.translator.syntax.cst_parsing import parse_concrete

LAYOUTS = [
    "",
    "# only a comment\n",
    "x = 1",
    "#!/usr/bin/env python\n\n# header\nx = 1  # trailing\n\n\n# footer\n",
    "a = 1; b = (2,\n  3); c = 4;  # three\nif a: b = 2; c = 3\nelse: c = 4\n",
    "class A:\n\n    # first\n    x = 1\n\n    # of f\n    @property\n\n    # between\n    def f(self):\n        pass\n"
    "        # footer of f\n    # footer of A\n\n# leading\ndef g(): pass\n\n\nx = '''\n  text\n'''\n",
    "def f():\n\tif a:\n\t\treturn [\n 1,\n\t]\n\telif b:\n\t    return 2\n\telse:\n\t\tpass\n\t\t# end\nf()\n",
    "try:\n    a()\nexcept E as e:\n    b()\n# odd\nelse:\n    c()\nfinally:\n    d()\nwhile 1:\n  y = 2",
    "x = 1 + \\\n    2\n\\\n\ny = 3\nif x:\n    z = 1; \\\n    w = 2\nprint(x)\n",
    "@(\n    wrap\n)\ndef f():\n    a = 1\n\n@wrap\nasync def g():\n    await f()\n\nx = 1\n",
    "match x:\n    # one\n    case 1:\n        a = 1\n        # end of one\n    case _:\n        b = 2\n\nx = 1\n",
]


def same(line: cst.SimpleStatementLine) -> list[cst.BaseStatement]:
    return [line]


def marked(line: cst.SimpleStatementLine) -> list[cst.BaseStatement]:
    mark = cst.EmptyLine(comment=cst.Comment("# mark"))
    return [line.with_changes(leading_lines=[*line.leading_lines, mark])]


def followed(line: cst.SimpleStatementLine) -> list[cst.BaseStatement]:
    return [line, cst.SimpleStatementLine([cst.Pass()])]


def nested(line: cst.SimpleStatementLine) -> list[cst.BaseStatement]:
    return [cst.If(cst.Name("moved"), cst.IndentedBlock([line]))]


def rebuilt(node: cst.CSTNode, last: list[int], change: Callable[..., list[cst.BaseStatement]]) -> cst.CSTNode:
    """Return a tree in which the statement line that ``last`` counts down to is changed; other nodes stay."""
    changes: dict[str, object] = {}
    for name in ("body", "handlers", "cases", "orelse", "finalbody"):
        value = getattr(node, name, None)
        if isinstance(value, cst.CSTNode):
            new = rebuilt(value, last, change)
            if new is not value:
                changes[name] = new
        elif isinstance(value, (list, tuple)) and not isinstance(node, cst.SimpleStatementSuite):
            items: list[cst.CSTNode] = []
            for item in value:
                if isinstance(item, cst.SimpleStatementLine):
                    last[0] -= 1
                    items += change(item) if last[0] == 0 else [item]
                else:
                    items.append(rebuilt(item, last, change))
            if items != list(value):
                changes[name] = items
    return node.with_changes(**changes) if changes else node


@pytest.mark.parametrize("change", [same, marked, followed, nested])
@pytest.mark.parametrize("text", LAYOUTS)
def test_text_is_what_libcst_generates(text: str, change: Callable[..., list[cst.BaseStatement]]) -> None:
    tree = ast.parse(text)
    module = parse_concrete(text, tree)
    alignment = align(module, tree)
    for last in range(1, 9):
        new = cst.ensure_type(rebuilt(module, [last], change), cst.Module)
        assert generate(new, alignment, text).text == new.code


def test_untouched_statements_are_not_generated(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "def f():\n    return 1\n\n\nx = f()\n"
    module = parse_concrete(text, ast.parse(text))
    alignment = align(module, ast.parse(text))
    monkeypatch.setattr(cst.Name, "_codegen_impl", lambda *_: pytest.fail("generated"))
    made = generate(module, alignment, text)
    assert made.text == text
    assert not made.anew


def test_new_statements_are_known_whole() -> None:
    text = "x = 1\nif x:\n    y = 1\nelif z:\n    y = 2\nelse:\n    y = 3\ny = x\n"
    module = parse_concrete(text, ast.parse(text))
    alignment = align(module, ast.parse(text))
    new = cst.ensure_type(rebuilt(module, [3], marked), cst.Module)
    made = generate(new, alignment, text)
    assert made.text == new.code
    assert made.anew.startswith("if x:")
    assert made.anew.endswith("    y = 3\n")
    ast.parse(made.anew)
