"""Numbers that a file shows: what a literal tensor holds, and what functions of it then are.

Positions do not count: a tensor is the set of its elements. What is not shown is None, and never guessed.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterable, Iterator

from torch2ms.mapping_tables.facts import load_facts
from torch2ms.translator.values.file_facts import FileFacts

__all__ = ["default_of", "holds_nan", "holds_negative", "is_void", "never_negative", "values_of"]

_DEPTH = 6  # how many steps an expression is followed
_MANY = 64  # elements of a tensor that are looked at
Values = frozenset[float]


def holds_nan(tree: ast.expr, ctx: FileFacts) -> bool:
    """Whether a file shows that a tensor holds NaN: ``torch.sqrt(torch.tensor([-1.0]))``, ``0 / 0``."""
    return any(value != value for value in _shown(tree, ctx, _DEPTH) or ())


def is_void(tree: ast.expr, ctx: FileFacts) -> bool:
    """Whether a file shows that a tensor is -infinity all over: ``torch.log(torch.zeros(3))``."""
    return _shown(tree, ctx, _DEPTH) == frozenset({-math.inf})


def holds_negative(tree: ast.expr, ctx: FileFacts) -> bool:
    """Whether a file shows that a tensor holds negative numbers: ``torch.tensor([0, -1])``."""
    return any(value < 0 for value in _shown(tree, ctx, _DEPTH) or ())


def never_negative(tree: ast.expr, ctx: FileFacts, depth: int = _DEPTH) -> bool:
    """Whether a file shows that a tensor of integers holds none below zero: ``x.argmax(1)``, ``torch.arange(n)``."""
    shown = _shown(tree, ctx, depth)
    if shown is not None or depth == 0:
        return shown is not None and all(value >= 0 for value in shown)
    if isinstance(tree, ast.Name):
        given = values_of(tree, ctx)
        moved = any(getattr(node.target, "id", "") == tree.id for node in ctx.analysis.all(ast.AugAssign))
        return bool(given) and not moved and all(never_negative(value, ctx, depth - 1) for value in given)
    if not isinstance(tree, ast.Call):
        return False
    if _name(tree) == "arange":
        return len(tree.args) == 1 or all(value >= 0 for value in _shown(tree.args[0], ctx, 1) or (-1,))
    if _counts(_name(tree)):
        return True
    receiver = tree.func.value if isinstance(tree.func, ast.Attribute) else None
    return receiver is not None and _name(tree) in _SHAPING and never_negative(receiver, ctx, depth - 1)


_SHAPING = frozenset({"long", "int", "view", "reshape", "flatten", "squeeze", "unsqueeze", "to", "contiguous", "clone"})


def values_of(name: ast.Name, ctx: FileFacts) -> list[ast.expr]:
    """Return what the file gives a name: by assignments, and as a parameter by the calls of its function.

    For the same name of a function it is the same list, as long as the context lives.
    """
    function = _function_around(name, ctx)
    known = ctx.once(_known)
    if (function, name.id) not in known:
        known[function, name.id] = _values(name, function, ctx)
    return known[function, name.id]


def default_of(name: ast.Name, ctx: FileFacts) -> list[ast.expr]:
    """Return the default of a parameter; nothing for another name, and where there is none."""
    function = _function_around(name, ctx)
    if function is None:
        return []
    given = function.args
    last = [*given.posonlyargs, *given.args][-len(given.defaults) :] if given.defaults else []
    pairs = [*zip(last, given.defaults, strict=True), *zip(given.kwonlyargs, given.kw_defaults, strict=True)]
    return [default for parameter, default in pairs if parameter.arg == name.id and default is not None]


def _function_around(node: ast.AST | None, ctx: FileFacts) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    """Return the function that a node stands in; None in the text of the module."""
    node = ctx.parent(node) if node is not None else None
    while node is not None and not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        node = ctx.parent(node)
    return node


def _counts(name: str) -> bool:
    """Whether a function gives places or numbers of things, which count from zero: ``argmax``, ``bincount``."""
    facts = load_facts()
    return name != "randint" and facts.gives(name, "torch.int64") and not facts.cast_of(name)


def _known(_: FileFacts) -> dict[tuple[ast.AST | None, str], list[ast.expr]]:
    """Return where the values of names are kept."""
    return {}


def _values(name: ast.Name, function: ast.FunctionDef | ast.AsyncFunctionDef | None, ctx: FileFacts) -> list[ast.expr]:
    found = ctx.once(_assigned).get((function, name.id), [])
    if function is None or found:
        return found
    parameters = [arg.arg for arg in [*function.args.posonlyargs, *function.args.args]]
    if name.id not in parameters:
        return ctx.once(_assigned).get((None, name.id), [])
    place = parameters.index(name.id) - (parameters[0] in ("self", "cls"))
    return [value for call in ctx.once(_calls).get(function.name, ()) for value in _given(call, place, name.id)]


def _given(call: ast.Call, place: int, name: str) -> Iterator[ast.expr]:
    if 0 <= place < len(call.args) and not any(isinstance(arg, ast.Starred) for arg in call.args[: place + 1]):
        yield call.args[place]
    yield from (keyword.value for keyword in call.keywords if keyword.arg == name)


def _assigned(ctx: FileFacts) -> dict[tuple[ast.AST | None, str], list[ast.expr]]:
    """Return what the file assigns to each name of a function, or of the module."""
    found: dict[tuple[ast.AST | None, str], list[ast.expr]] = {}
    for node in ctx.analysis.nodes:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            found.setdefault((_function_around(node, ctx), node.targets[0].id), []).append(node.value)
    return found


def _calls(ctx: FileFacts) -> dict[str, list[ast.Call]]:
    """Return the calls of each name in the file; those of an object are calls of its class's ``forward``, too."""
    found: dict[str, list[ast.Call]] = {}
    for node in ctx.analysis.nodes:
        if isinstance(node, ast.Call):
            found.setdefault(_name(node), []).append(node)
            if isinstance(node.func, (ast.Name, ast.Call)) and node.args:
                found.setdefault("forward", []).append(node)
    return found


def _name(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _shown(tree: ast.expr, ctx: FileFacts, depth: int) -> Values | None:
    """Return the elements of a number or tensor, None where they are not shown."""
    if depth == 0:
        return None
    if isinstance(tree, ast.Constant):
        return frozenset({float(tree.value)}) if isinstance(tree.value, (int, float)) else None
    if isinstance(tree, ast.Name):
        given = [value for value in values_of(tree, ctx) if value.lineno < tree.lineno] or values_of(tree, ctx)[:1]
        return _shown(given[-1], ctx, depth - 1) if given else None
    if isinstance(tree, ast.Attribute):
        return frozenset({math.inf}) if tree.attr in ("inf", "Inf") else None
    if isinstance(tree, (ast.List, ast.Tuple)):
        return _all_of([_shown(item, ctx, depth) for item in tree.elts[:_MANY]])
    if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.USub):
        operand = _shown(tree.operand, ctx, depth)
        return frozenset(-value for value in operand) if operand is not None else None
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.Div):
        return _quotients(_shown(tree.left, ctx, depth - 1), _shown(tree.right, ctx, depth - 1))
    return _of_call(tree, ctx, depth) if isinstance(tree, ast.Call) else None


def _all_of(parts: Iterable[Values | None]) -> Values | None:
    found: set[float] = set()
    for part in parts:
        if part is None:
            return None
        found |= part
    return frozenset(found)


def _quotients(above: Values | None, below: Values | None) -> Values | None:
    """Return what one tensor over another shows: NaN where both hold a zero, which may meet, or the other may."""
    if above is None or 0.0 not in above:
        return None
    return frozenset({math.nan}) if below is None or 0.0 in below else None


def _of_call(tree: ast.Call, ctx: FileFacts, depth: int) -> Values | None:
    name = _name(tree)
    if name in ("zeros", "ones") and tree.args:
        return frozenset({float(name == "ones")})
    if name == "full" and len(tree.args) > 1:
        return _shown(tree.args[1], ctx, depth - 1)
    if name == "float" and isinstance(tree.func, ast.Name) and tree.args and isinstance(tree.args[0], ast.Constant):
        text = str(tree.args[0].value).strip().lower()
        return frozenset({float(text)}) if text.lstrip("+-") in ("inf", "infinity") else None
    if name in ("tensor", "Tensor", "as_tensor", "FloatTensor") and tree.args:
        return _shown(tree.args[0], ctx, depth - 1)
    if name not in _PARTIAL and name not in _PASSING:
        return None
    is_method = isinstance(tree.func, ast.Attribute) and ctx.kind(tree.func.value).is_tensor
    given = (
        tree.func.value if is_method and isinstance(tree.func, ast.Attribute) else tree.args[0] if tree.args else None
    )
    values = _shown(given, ctx, depth - 1) if given is not None else None
    if values is None or name in _PASSING:
        return values
    return frozenset(_PARTIAL[name](value) for value in values)


def _logarithm(value: float) -> float:
    return -math.inf if value == 0 else math.log(value) if value > 0 else math.nan


def _inside(low: float, high: float) -> Callable[[float], float]:
    """Return a function that is NaN outside of an interval, and 1 inside: what it is there does not matter."""
    return lambda value: 1.0 if low <= value <= high else math.nan


_PARTIAL: dict[str, Callable[[float], float]] = {
    "sqrt": _inside(0, math.inf),
    "rsqrt": _inside(0, math.inf),
    "log": _logarithm,
    "log2": _logarithm,
    "log10": _logarithm,
    "log1p": lambda value: _logarithm(1 + value),
    "acos": _inside(-1, 1),
    "arccos": _inside(-1, 1),
    "asin": _inside(-1, 1),
    "arcsin": _inside(-1, 1),
    "atanh": _inside(-1, 1),
    "acosh": _inside(1, math.inf),
}
_PASSING = frozenset("float double clone detach reshape view unsqueeze squeeze flatten to contiguous t".split())
