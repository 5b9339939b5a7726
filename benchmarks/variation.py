"""Vary an example within its row's declared domain: other shapes, values, dtypes and arguments, drawn by hypothesis.

The domain of an argument is, in this order: what the row's ``domain`` says, what ``fuzz_domains.toml`` says of a
parameter of this name, or what the example's own value suggests (a number near it, the other truth value). Tensors keep
the kind of values that the example gives them (``positive`` stays positive), and axes that have one size in the example
keep having one size. What PyTorch rejects is outside the domain; nothing here has to know it.
"""

from __future__ import annotations

import ast
import fnmatch
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from torch2ms.mapping_tables.call_shapes import call_of, with_call
from torch2ms.mapping_tables.lookup import Tables
from torch2ms.mapping_tables.schema import Example, Row, Signature

if sys.version_info >= (3, 11):
    import tomllib
else:  # pragma: no cover - same code under its older name
    import tomli as tomllib

__all__ = ["DOMAINS", "SWEEPS", "Variant", "swept", "variants"]

DOMAINS = tomllib.loads(Path(__file__).with_name("fuzz_domains.toml").read_text(encoding="utf-8"))
SIZES = frozenset(DOMAINS["sizes"]["names"])
# Functions of the language of inputs whose arguments are sizes, and from which of them on
SHAPED = {
    "randn": 0, "rand": 0, "ones": 0, "zeros": 0, "bools": 0, "distinct": 0, "positive": 0, "probabilities": 0,
    "complex": 0, "randint": 2, "spd": 0, "eye": 0, "permutation": 0,
}  # fmt: skip
FLOATS = ("float32", "float64", "float16")
DTYPES = (*FLOATS, "int64", "int32", "bool")
FREE = ("randn",)  # any value goes
VALUES = ("specials", "zeros", "ties", "large")
_SHAPES = ("empty", "single", "deeper", "flatter")
SWEEPS = (*DTYPES, *VALUES, *_SHAPES, "arguments")


@dataclass(frozen=True, slots=True)
class Variant:
    """An example with other arguments; ``smooth`` when gradients are a question: floats without ties and infinities."""

    before: str
    args: Mapping[str, Any]
    inputs: tuple[Any, ...]
    smooth: bool


class _Draft:
    """A variant in the making."""

    def __init__(self, tables: Tables, row: Row, example: Example) -> None:
        self.row = row
        self.args = dict(example.run.get("args", {}))
        given = example.run.get("input")
        self.inputs: list[Any] = [] if given is None else list(given) if isinstance(given, list) else [given]
        self.before = example.before
        self.smooth = True
        tree = ast.parse(example.before)
        self.call = call_of(tables, row, tree)
        self.signature = _fitting(self.call, tables.overloads(row.name)) if self.call is not None else None

    def texts(self) -> list[tuple[Callable[[Any], None], Any, str]]:
        """Return every variable and input: how to set it, its text, its name."""
        found: list[tuple[Callable[[Any], None], Any, str]] = [
            (lambda value, name=name: self.args.__setitem__(name, value), text, name)  # type: ignore[misc]
            for name, text in self.args.items()
        ]
        for index, text in enumerate(self.inputs):
            found.append((lambda value, index=index: self.inputs.__setitem__(index, value), text, ""))  # type: ignore[misc]
        return found

    def parameter_of(self, name: str) -> str:
        """Return the parameter that gets a variable; what a layer is called with ("") is its input."""
        if self.call is None or self.signature is None:
            return ""
        for parameter, value in _arguments(self.call, self.signature):
            if isinstance(value, ast.Name) and value.id == name:
                return parameter
        return "input" if name in ("x", "") else ""


def variants(tables: Tables, row: Row, example: Example, sweep: str = "") -> st.SearchStrategy[Variant]:
    """Return the strategy that gives variants of an example; of the sweep "arguments", with one other argument each."""
    fixed_shapes = example.run.get("compare") == "distribution" or "reference" in example.run

    @st.composite
    def draw_variant(draw: st.DrawFn) -> Variant:
        draft = _Draft(tables, row, example)
        moves: list[Callable[[st.DrawFn, _Draft], None]] = [] if "reference" in example.run else [_vary_argument] * 3
        if not fixed_shapes and not sweep:
            moves += [_vary_sizes, _vary_dtype, _vary_values, _vary_rank]
        if draft.call is not None and draft.signature is not None and "reference" not in example.run:
            moves += [_add_argument, _add_argument]
        for move in draw(st.lists(st.sampled_from(moves), min_size=1, max_size=1 if sweep else 3)) if moves else ():
            move(draw, draft)
        return Variant(draft.before, dict(draft.args), tuple(draft.inputs), draft.smooth)

    return draw_variant()


def swept(tables: Tables, row: Row, example: Example, kind: str) -> list[Variant]:
    """Return the variants of an example in one respect: every tensor, then each alone, or each size in turn."""
    if example.run.get("compare") == "distribution" or ("reference" in example.run and kind not in VALUES):
        return []  # the reference has sizes and dtypes in its text
    found: dict[str, Variant] = {}
    for number in range(4):
        draft = _Draft(tables, row, example)
        before = repr((draft.args, draft.inputs))
        draft.smooth = kind in ("float64", "large", "single", "deeper", "flatter")
        if kind in DTYPES or kind in VALUES:
            _sweep(draft, number, kind)
        elif kind in ("empty", "single"):
            sizes = sorted({size for _, text, _ in draft.texts() for size in _sizes_in(text)})
            if number < len(sizes):
                _resize(draft, sizes[number], 0 if kind == "empty" else 1)
        elif number == 0:
            _rank(draft, kind == "deeper")
        variant = Variant(draft.before, dict(draft.args), tuple(draft.inputs), draft.smooth)
        if repr((draft.args, draft.inputs)) != before:
            found.setdefault(repr(variant), variant)
    return list(found.values())


def _sweep(draft: _Draft, number: int, kind: str) -> None:
    """Change the dtype or the values of every tensor of a draft (number 0), or of one alone (from 1 on)."""
    is_dtype = kind in DTYPES
    tensors = []
    for put, text, name in draft.texts():
        domain = _domain(draft.row, draft.parameter_of(name))
        limits = domain if isinstance(domain, dict) else {}
        is_free = kind in limits.get("dtypes", DTYPES) if is_dtype else "values" not in limits
        if is_free and _function(text) in (SHAPED if is_dtype else FREE) and _function(text) != "complex":
            tensors.append((put, text))
    if number and (len(tensors) == 1 or (is_dtype and draft.row.name.endswith("_"))):
        return
    for put, text in tensors if number == 0 else tensors[number - 1 : number]:
        put(_cast_to(kind, text) if is_dtype else _of_values(kind, text))


def _fitting(call: ast.Call, signatures: tuple[Signature, ...]) -> Signature | None:
    """Return the first signature that the call binds to."""
    for signature in signatures:
        places = [item for item in signature.parameters if item.kind.startswith("positional")]
        known = all(keyword.arg and signature.get(keyword.arg) for keyword in call.keywords)
        free = any(item.kind == "var_positional" for item in signature.parameters)
        if known and (len(call.args) <= len(places) or free):
            return signature
    return None


def _arguments(call: ast.Call, signature: Signature) -> Iterator[tuple[str, ast.expr]]:
    """Give parameter and value of every argument of a call."""
    places = [item.name for item in signature.parameters if item.kind.startswith("positional")]
    rest = next((item.name for item in signature.parameters if item.kind == "var_positional"), "")
    for index, value in enumerate(call.args):
        yield (places[index] if index < len(places) else rest), value
    for keyword in call.keywords:
        yield keyword.arg or "", keyword.value


def _domain(row: Row, name: str) -> Any:
    known = row.domain.get(name, DOMAINS["values"].get(name))
    is_finite = any(
        name == finite and fnmatch.fnmatchcase(row.name, rows) for rows, finite in DOMAINS["finite"].items()
    )
    return {"values": "-3..3"} if known is None and is_finite else known


# Moves: each changes one thing of a draft, or nothing when it finds nothing to change.


def _vary_argument(draw: st.DrawFn, draft: _Draft) -> None:
    """Give one argument of the call another value; variables that are numbers count as arguments."""
    if draft.call is None or draft.signature is None:
        return
    places = [(name, value) for name, value in _arguments(draft.call, draft.signature) if _is_literal(value)]
    scalars = [(put, text, name) for put, text, name in draft.texts() if name and _is_number(text)]
    if scalars and (not places or draw(st.booleans())):
        put, text, name = draw(st.sampled_from(scalars))
        put(draw(_near(ast.parse(str(text), mode="eval").body, _domain(draft.row, draft.parameter_of(name)))))
        return
    if places:
        name, value = draw(st.sampled_from(places))
        if (domain := _domain(draft.row, name)) != "fixed":
            _rewrite(draft, value, draw(_near(value, domain)))


def _add_argument(draw: st.DrawFn, draft: _Draft) -> None:
    """Give an argument that the example leaves at its default."""
    if draft.call is None or draft.signature is None:
        return
    given = {name for name, _ in _arguments(draft.call, draft.signature)}
    free = [
        item
        for item in draft.signature.parameters
        if item.name not in given and item.default is not None and item.kind in ("positional", "keyword")
    ]
    free = [item for item in free if _domain(draft.row, item.name) != "fixed"]
    free = [item for item in free if item.default != "None" or _domain(draft.row, item.name) is not None]
    if not free:
        return
    item = draw(st.sampled_from(free))
    default = ast.parse(item.default or "None", mode="eval").body
    if not _is_literal(default) and _domain(draft.row, item.name) is None:
        return
    text = draw(_near(default, _domain(draft.row, item.name)))
    call = draft.call
    keyword = ast.keyword(item.name, ast.parse(text, mode="eval").body)
    _exchange(draft, ast.Call(call.func, list(call.args), [*call.keywords, keyword]))


def _vary_sizes(draw: st.DrawFn, draft: _Draft) -> None:
    """Give the axes of all tensors other sizes, and the arguments that name sizes with them."""
    sizes = sorted({size for _, text, _ in draft.texts() for size in _sizes_in(text)})
    if not sizes:
        return
    size = draw(st.sampled_from(sizes))
    other = draw(st.sampled_from([1, 2, 3, 4, 5, 6, 7, 0]))
    draft.smooth = draft.smooth and other > 0
    _resize(draft, size, other)


def _resize(draft: _Draft, size: int, other: int) -> None:
    """Give the axes of one size another one."""
    for put, text, _ in draft.texts():
        put(_resized(text, {size: other}))
    if draft.call is not None and draft.signature is not None:
        for name, value in _arguments(draft.call, draft.signature):
            if name in SIZES and _is_literal(value):
                text = ast.unparse(_Numbers({size: other}).visit(ast.parse(ast.unparse(value), mode="eval").body))
                _rewrite(draft, value, text)


def _vary_dtype(draw: st.DrawFn, draft: _Draft) -> None:
    """Give one tensor, or all of them, another dtype."""
    tensors = [(put, text, name) for put, text, name in draft.texts() if _function(text) in SHAPED]
    if not tensors:
        return
    # In-place operations keep the dtype of what they change where the text shows that the other one is wider; here
    # nothing shows it, so that all change together
    in_place = draft.row.name.endswith("_")
    if in_place and len(tensors) < sum(not _is_number(text) for _, text, _ in draft.texts()):
        return
    together = in_place or draw(st.booleans())
    chosen = tensors if together else [draw(st.sampled_from(tensors))]
    dtype = draw(st.sampled_from(DTYPES))
    for put, text, name in chosen:
        domain = _domain(draft.row, draft.parameter_of(name))
        if _function(text) == "complex" or (isinstance(domain, dict) and dtype not in domain.get("dtypes", DTYPES)):
            continue
        put(_cast_to(dtype, text))
        draft.smooth = draft.smooth and dtype == "float32"


def _cast_to(dtype: str, text: str) -> str:
    """Return the source of an input in another dtype; what is all different, in steps of a quarter, stays so."""
    function = _function(text)
    if (function, dtype) == ("distinct", "bool") or (function == "bools" and dtype in FLOATS):
        return text
    return (
        f"cast({text} * 4, '{dtype}')" if function == "distinct" and dtype not in FLOATS else f"cast({text}, '{dtype}')"
    )


def _vary_values(draw: st.DrawFn, draft: _Draft) -> None:
    """Give one tensor values of another size, with ties, or with infinities."""
    tensors = [(put, text, name) for put, text, name in draft.texts() if _function(text) in FREE]
    if not tensors:
        return
    put, text, name = draw(st.sampled_from(tensors))
    domain = _domain(draft.row, draft.parameter_of(name))
    kind = draw(st.sampled_from(["large", "ties", "specials", "zeros"]))  # in this order: a seed is a seed
    if isinstance(domain, dict) and "values" in domain:
        low, high = domain["values"].split("..")
        put(f"rand{text[text.index('(') :]} * {float(high) - float(low)} + {float(low)}")
    else:
        draft.smooth = draft.smooth and kind == "large"
        put(_of_values(kind, text))


def _of_values(kind: str, text: str) -> str:
    """Return the source of a tensor with values of another kind."""
    shape = text[text.index("(") :]
    inner = shape[1:-1]
    return {
        "large": f"{text} * 10",
        "ties": f"cast(randint(-2, 3{', ' + inner if inner else ''}), 'float32')",
        "specials": f"specials{shape}",
        "zeros": f"zeros{shape}",
    }[kind]


def _vary_rank(draw: st.DrawFn, draft: _Draft) -> None:
    """Give every tensor one axis more in front, or take the first away."""
    _rank(draft, draw(st.booleans()))


def _rank(draft: _Draft, more: bool) -> None:
    for put, text, _ in draft.texts():
        if isinstance(text, str):
            tree = ast.parse(text, mode="eval")
            for call in _shape_calls(tree):
                name = call.func.id  # type: ignore[attr-defined]
                if name not in ("spd", "eye", "permutation"):
                    front, shape = call.args[: SHAPED[name]], call.args[SHAPED[name] :]
                    if name == "distinct" and len(shape) == 1 and not more:
                        continue  # beside others, one number would be many equal ones
                    call.args = [*front, ast.Constant(2), *shape] if more else [*front, *shape[1:]]
            put(ast.unparse(tree))


# The parts


def _near(value: ast.expr, domain: Any) -> st.SearchStrategy[str]:
    """Return the strategy of the source of values: of the domain, or near a literal."""
    if isinstance(domain, list):
        return st.sampled_from(domain)
    if isinstance(domain, str) and ".." in domain:
        low, high = domain.split("..")
        if "." in low.replace("..", "") or "." in high:
            return st.integers(0, 8).map(lambda n: repr(float(low) + (float(high) - float(low)) * n / 8))
        return st.integers(int(low), int(high)).map(repr)
    literal = ast.literal_eval(value)
    if isinstance(literal, bool):
        return st.sampled_from(["True", "False"])
    if isinstance(literal, int):
        return st.sampled_from([0, 1, 2, 3, -1, -2, literal + 1, literal - 1]).map(repr)
    if isinstance(literal, float):
        return st.sampled_from([0.0, 1.0, 0.5, 2.0, -literal, literal * 2, literal / 10]).map(repr)
    if isinstance(literal, (tuple, list)) and literal and all(type(item) is int for item in literal):
        item = st.sampled_from([0, 1, 2, 3, -1])
        return st.tuples(*(st.one_of(st.just(old), item) for old in literal)).map(
            lambda items: repr(type(literal)(items))
        )
    return st.just(ast.unparse(value))


def _is_literal(value: ast.expr) -> bool:
    try:
        ast.literal_eval(value)
    except (ValueError, TypeError):
        return False
    return True


def _is_number(text: Any) -> bool:
    try:
        return isinstance(ast.literal_eval(str(text)), (int, float))
    except (ValueError, SyntaxError):
        return False


def _function(text: Any) -> str:
    """Return the function that makes an input, empty when it is made otherwise."""
    try:
        tree = ast.parse(str(text), mode="eval").body
    except SyntaxError:
        return ""
    return tree.func.id if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) else ""


def _shape_calls(tree: ast.AST) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in SHAPED:
            yield node


def _sizes_in(text: Any) -> Iterator[int]:
    if isinstance(text, str):
        for call in _shape_calls(ast.parse(text, mode="eval")):
            for item in call.args[SHAPED[call.func.id] :]:  # type: ignore[attr-defined]
                if isinstance(item, ast.Constant) and isinstance(item.value, int):
                    yield item.value


def _resized(text: Any, sizes: Mapping[int, int]) -> Any:
    if not isinstance(text, str):
        return text
    tree = ast.parse(text, mode="eval")
    for call in _shape_calls(tree):
        name = call.func.id  # type: ignore[attr-defined]
        # Labels below a number of classes stay below it: PyTorch reads behind the memory for others
        for item in call.args[1 if name == "randint" else SHAPED[name] :]:
            if isinstance(item, ast.Constant) and item.value in sizes:
                item.value = sizes[item.value]
    return ast.unparse(tree)


class _Numbers(ast.NodeTransformer):
    """Exchange whole numbers."""

    def __init__(self, numbers: Mapping[int, int]) -> None:
        self.numbers = numbers

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        """Exchange one number."""
        return (
            ast.Constant(self.numbers[node.value]) if type(node.value) is int and node.value in self.numbers else node
        )


def _rewrite(draft: _Draft, value: ast.expr, text: str) -> None:
    """Put the source of another value in the place of an argument of the call."""
    call = draft.call
    assert call is not None
    new = ast.parse(text, mode="eval").body
    arguments = [new if item is value else item for item in call.args]
    keywords = [ast.keyword(k.arg, new if k.value is value else k.value) for k in call.keywords]
    _exchange(draft, ast.Call(call.func, arguments, keywords))


def _exchange(draft: _Draft, other: ast.Call) -> None:
    call = draft.call
    assert call is not None
    draft.before = with_call(draft.before, call, other)
    tree = ast.parse(draft.before)
    wanted = ast.dump(other)
    draft.call = next((n for n in ast.walk(tree) if isinstance(n, ast.Call) and ast.dump(n) == wanted), None)
