"""Effects, liveness, slices: what statements read, bind and change."""

from __future__ import annotations

import ast
import textwrap

import pytest

from torch2ms.translator.effects.dataflow import (
    Liveness,
    backward_slice,
    base_path,
    certain_binds,
    dotted_path,
    effects,
    live_in,
    names_in,
    overlap,
)


def statements(source: str) -> list[ast.stmt]:
    return ast.parse(textwrap.dedent(source)).body


def expression(source: str) -> ast.expr:
    return ast.parse(source, mode="eval").body


# source -> reads, binds, mutates, touches
EFFECTS = {
    "x = y": ("y", "x", "", ""),
    "x = y.a.b": ("y.a.b", "x", "", ""),
    "x, (y, *z) = w": ("w", "x y z", "", ""),
    "x += y": ("x y", "x", "", ""),
    "x: int = y": ("int y", "x", "", ""),
    "self.x = y": ("self y", "", "self.x", ""),
    "self.x += y": ("self self.x y", "", "self.x", ""),
    "x[i] = y": ("x i y", "", "x", ""),
    "x[i] += y": ("x i y", "", "x", ""),
    "self.x[i].y = z": ("self.x i z", "", "self.x", ""),
    "del x": ("x", "x", "", ""),
    "del x[0]": ("x", "", "x", ""),
    "x.add_(y)": ("x.add_ y", "", "x", "x y"),
    "y = x.add_(1)": ("x.add_", "y", "x", ""),
    "y = x.__len__()": ("x.__len__", "y", "", ""),
    "items.append(x)": ("items.append x", "", "items", "items x"),
    "y = f(x)": ("f x", "y", "", ""),
    "f(x)": ("f x", "", "", "x"),
    "print(x)": ("print x", "", "", ""),
    "x.item()": ("x.item", "", "", ""),
    "log.info(x)": ("log.info x", "", "", ""),
    "meter.record(x)": ("meter.record x", "", "", "meter x"),
    "f(x, out=y)": ("f x y", "", "y", "x y"),
    "z = next(it)": ("next it", "z", "it", ""),
    "y = [x for x in xs if x > t]": ("xs t", "y", "", ""),
    "y = {k: v for k, v in d.items() for w in v}": ("d.items", "y", "", ""),
    "y = [(z := x) for x in xs]": ("xs", "y z", "", ""),
    "f = lambda x, y=d: x + z": ("d z", "f", "", ""),
    "if (n := f(x)): y = n": ("f x n", "n y", "", ""),
    "for i, x in it: y = x": ("it x", "i x y", "", ""),
    "for self.i in it: pass": ("it self", "", "self.i", ""),
    "with a as b, c as d: e = b": ("a c b", "b d e", "", ""),
    "import a.b, c as d": ("", "a d", "", ""),
    "from m import n as o": ("", "o", "", ""),
    "def f(x, y=d): return x + z": ("d z", "f", "", ""),
    "def f():\n    global g\n    g = 1": ("", "f", "", "g"),
    "def f():\n    items.append(1)": ("items.append", "f", "", "items"),
    "class C(B):\n    x = y\n    z = x": ("B y", "C", "", ""),
    "try:\n    x = a\nexcept E as e:\n    y = e": ("a E e", "x e y", "", ""),
    "match v:\n    case [a, *b]: c = a\n    case {'k': d, **r}: pass": ("v a", "a b c d r", "", ""),
}


@pytest.mark.parametrize("source", EFFECTS)
def test_effects(source: str) -> None:
    found = effects(statements(source))
    reads, binds, mutates, touches = (set(words.split()) for words in EFFECTS[source])
    assert (found.reads, found.binds, found.mutates, found.touches) == (reads, binds, mutates, touches)


def test_imported_modules_are_not_changed_by_calls() -> None:
    [call] = statements("nn.init.normal_(w)")
    assert effects(call, ["nn"]).mutates == {"w"}
    [call] = statements("torch.cuda.empty_cache()")
    assert effects(call, ["torch"]).changes == frozenset()


@pytest.mark.parametrize(
    ("source", "jumps"),
    [
        ("if x: break", "break"),
        ("if x: continue", "continue"),
        ("for x in y: break", ""),
        ("for x in y:\n    pass\nelse:\n    break", "break"),
        ("if x: return 1", "return"),
        ("def f(): return 1", ""),
        ("x = yield y", "yield"),
        ("yield from y", "yield"),
        ("x = await y", "await"),
        ("f = lambda: (yield)", ""),
    ],
)
def test_jumps(source: str, jumps: str) -> None:
    assert effects(statements(source)).jumps == set(jumps.split())


def test_captures_of_nested_functions() -> None:
    assert effects(statements("def f():\n    return lambda: x + y")).captures == {"x", "y"}
    assert effects(statements("x = [y for y in z]")).captures == frozenset()


@pytest.mark.parametrize(
    ("source", "path"), [("a", "a"), ("a.b.c", "a.b.c"), ("a[0].b", None), ("f().x", None), ("1", None)]
)
def test_dotted_path(source: str, path: str | None) -> None:
    assert dotted_path(expression(source)) == path


@pytest.mark.parametrize(
    ("source", "path"), [("a.b[0].c", "a.b"), ("a.f(x).y", "a"), ("f(x)[0]", "f"), ("a.b", "a.b"), ("1 + x", None)]
)
def test_base_path(source: str, path: str | None) -> None:
    assert base_path(expression(source)) == path


def test_overlap() -> None:
    assert overlap("a.b", "a.b.c")
    assert overlap("a", "a.b")
    assert not overlap("a.b", "a.bc")


def after(source: str) -> dict[str, set[str]]:
    """Live single-letter names after each simple statement, by its text."""
    body = statements(source)
    flow = Liveness(body)
    nodes = [node for top in body for node in ast.walk(top) if isinstance(node, ast.stmt)]
    return {ast.unparse(node): {name for name in flow.after(node) if len(name) == 1} for node in nodes}


def test_liveness_kills_and_reads() -> None:
    live = after("x = 1\ny = x\nx = 2\nf(x, y)")
    assert live["x = 1"] == {"x", "f"}
    assert live["y = x"] == {"y", "f"}
    assert live["f(x, y)"] == set()


def test_liveness_joins_branches() -> None:
    assert after("x = 1\nif c:\n    x = 2\nf(x)")["x = 1"] == {"x", "c", "f"}
    assert "x" not in after("x = 1\nif c:\n    x = 2\nelse:\n    x = 3\nf(x)")["x = 1"]


def test_liveness_through_back_edges() -> None:
    live = after("for i in s:\n    f(h)\n    h = i\n    k = h")
    assert "h" in live["h = i"]
    assert "h" in live["k = h"]
    assert "k" not in live["k = h"]


def test_name_bound_first_in_the_next_round_is_dead() -> None:
    assert "x" not in after("for i in s:\n    x = i\n    f(x)\n    y = 1")["f(x)"]


def test_liveness_of_while_tests() -> None:
    assert "n" in after("while n > 0:\n    n = n - 1")["n = n - 1"]


def test_liveness_with_break_and_continue() -> None:
    live = after("for i in s:\n    x = i\n    if i:\n        break\n    x = 0\nf(x)")
    assert "x" in live["x = i"]
    live = after("for i in s:\n    f(x)\n    x = i\n    if i:\n        continue\n    x = 0")
    assert "x" in live["x = i"]


def test_liveness_of_handlers() -> None:
    live = after("x = 1\ntry:\n    x = f()\n    x = g()\nexcept E:\n    h(x)")
    assert "x" in live["x = 1"]
    assert "x" in live["x = f()"]


def test_liveness_of_finally() -> None:
    assert "x" in after("for i in s:\n    try:\n        x = i\n        break\n    finally:\n        f(x)")["x = i"]


def test_return_ends_life() -> None:
    body = statements("def f():\n    x = 1\n    if c:\n        return 0\n    return x")[0]
    assert isinstance(body, ast.FunctionDef)
    assert "x" in Liveness(body.body).after(body.body[0])


def test_captured_and_global_names_always_live() -> None:
    assert "x" in after("def g(): return x\nx = 1")["x = 1"]
    body = statements("def f():\n    global x\n    x = 1")[0]
    assert isinstance(body, ast.FunctionDef)
    assert "x" in Liveness(body.body).after(body.body[1])
    assert "x" in after("x = 1\ny = eval('x')")["x = 1"]


def test_dropped_statements_do_not_read() -> None:
    body = statements("x = 1\nf(x)")
    assert "x" in Liveness(body).after(body[0])
    assert "x" not in Liveness(body, dropped={id(body[1])}).after(body[0])


def test_augmented_assignment_keeps_the_name_live() -> None:
    assert "x" in after("x = 1\nx += 2\nf(x)")["x = 1"]


@pytest.mark.parametrize(
    ("source", "out", "names"),
    [
        ("y = x", "y", "x"),
        ("h = f(h)", "h", "f h"),
        ("if c:\n    y = 1", "y", "c y"),
        ("for i in s:\n    t = t + i", "t", "s t"),
        ("x = 1\ny = x", "y", ""),
        ("g = lambda: q", "g", "q"),
        ("y = [v for v in s]", "y", "s"),
    ],
)
def test_live_in(source: str, out: str, names: str) -> None:
    assert live_in(statements(source), out.split()) == set(names.split())


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("x = 1", "x"),
        ("if c:\n    x = 1", ""),
        ("if c:\n    x = 1\nelse:\n    x = y = 2", "x"),
        ("if c:\n    x = 1\nelse:\n    raise E", "x"),
        ("for i in s:\n    x = 1", ""),
        ("with a as b:\n    x = 1", "b x"),
        ("try:\n    x = 1\nexcept E:\n    pass", ""),
        ("try:\n    x = 1\nexcept E:\n    raise", "x"),
        ("return 1\nx = 1", ""),
    ],
)
def test_certain_binds(source: str, names: str) -> None:
    assert certain_binds(statements(source)) == set(names.split())


def test_certain_binds_when_loops_run() -> None:
    assert certain_binds(statements("for i in s:\n    x = 1"), loops_run=True) == {"i", "x"}


SLICES = {
    "straight line": ("a = 1\nb = a\nc = 2\nuse(b)", {0, 1}),
    "killed binding": ("a = 1\na = 2\nuse(a)", {1}),
    "maybe killed": ("a = 1\nif c: a = 2\nuse(a)", {0, 1}),
    "print is left out": ("a = 1\nprint(a)\nuse(a)", {0}),
    "metric that reads": ("a = 1\nmeter.update(a.item())\nuse(a)", {0}),
    "method that may change": ("a = make()\na.prepare()\nuse(a)", {0, 1}),
    "in-place method": ("a = make()\na.mul_(2)\nb = 1\nuse(a)", {0, 1}),
    "subscript store": ("a = make()\na[0] = b\nuse(a)", {0, 1}),
    "attribute store": ("self.a = 1\nself.b = 2\nuse(self.a)", {0}),
    "attribute of an object": ("x.a = 1\nuse(x)", {0}),
    "function that may change": ("a = make()\naugment(a)\nuse(a)", {0, 1}),
    "list append": ("l = []\nfor x in xs:\n    l.append(x)\nuse(l)", {0, 1}),
    "loop with total": ("t = 0\nfor x in xs:\n    t += x\nn = 1\nuse(t)", {0, 1}),
    "tuple": ("a, b = f()\nc = b\nuse(a)", {0}),
    "walrus": ("print(a := f())\nuse(a)", {0}),
    "with block": ("with ctx:\n    a = f()\nuse(a)", {0}),
    "nested function": ("def f(): return k\nk = 1\nuse(f)", {0, 1}),
    "no contribution": ("a = 1\nuse(b)", set()),
}


@pytest.mark.parametrize("name", SLICES)
def test_backward_slice(name: str) -> None:
    source, expected = SLICES[name]
    body = statements(source)
    assert backward_slice(body, len(body) - 1) == expected


def test_backward_slice_of_one_value() -> None:
    body = statements("a = 1\nb = 2\nuse(a, b)")
    assert backward_slice(body, 2, value=expression("a")) == {0}
    assert backward_slice(body, 2, ignored={0}) == {1}


def test_names() -> None:
    body = statements("import a.b\ndef f(x):\n    y = x\nz = [w for w in f]")
    assert names_in(body) == {"a", "f", "x", "y", "z", "w"}
