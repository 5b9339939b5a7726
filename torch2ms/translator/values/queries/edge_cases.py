"""Programs at the edge of what MindSpore's own functions do: a row names another target for them (``edge``).

- ``nan``: the file writes NaN down, or shows that the input holds it; MindSpore's comparisons pass it by;
- ``void``: the same, or the file writes infinity down: where a row is -infinity alone, MindSpore's softmax computes
  nothing at all;
- ``empty``: a tensor may hold nothing at all, of which a sum is whatever the memory held;
- ``selections``: the file hands a tensor to a call that may hold nothing, for layers that are called later;
- ``leaf``: the same, or the file asks for the gradient of a tensor of its own, whose numbers may lie where a function
  has a kink;
- ``single``: the file shows that an image has no batch around it;
- ``scalar``: the file shows that a tensor may have no axes, of which MindSpore's function has no answer;
- ``short``, ``double``, ``half``, ``complex``: the input is of bools or of ints shorter than int32, of float64, of
  float16 or bfloat16, of complex numbers, or of a dtype that nothing shows, in a file that names such dtypes (bools are
  everywhere: they must be seen);
- ``bool``, ``whole``, ``real``: the input is seen to be of bools, of bools or ints, of anything but complex numbers;
- ``tensors``: what the call is given beside its input, where others give a number, is seen to be a tensor;
- ``long``: the input is of int64, or of a dtype that nothing shows, in a file that writes such large whole numbers down
  that products of them pass 2**53;
- ``twice``: gradients of this file, or of one near it, are differentiated again (``create_graph``);
- ``counted``: the file reads ``num_batches_tracked``, which MindSpore's batch normalisations do not keep.

Everywhere else the plain function is emitted. A plain target that says ``unless`` is passed over at those edges.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from torch2ms.mapping_tables.schema import MappedTo
from torch2ms.translator.values.dtypes import family
from torch2ms.translator.values.file_facts import FileFacts
from torch2ms.translator.values.kinds import UNKNOWN
from torch2ms.translator.values.queries.complex_values import OF_COMPLEX
from torch2ms.translator.values.queries.emptiness import input_of, may_be_empty
from torch2ms.translator.values.queries.known_values import holds_nan, is_void
from torch2ms.translator.values.queries.ranks import ranks

__all__ = ["by_edges", "may_be_long", "names_bytes", "names_infinity"]


def by_edges(options: Sequence[MappedTo], tree: ast.Call, ctx: FileFacts) -> Iterator[MappedTo]:
    """Yield the targets that may answer for a call, those for the edge it is at first; ``unless`` it is at theirs."""
    edges = [option for option in options if option.edge]
    yield from (option for option in edges if _is_at(option.edge, tree, ctx))
    plain = [option for option in options if not option.edge]
    yield from (option for option in plain if not any(_is_at(edge, tree, ctx) for edge in option.unless))


def _is_at(edge: str, tree: ast.Call, ctx: FileFacts) -> bool:
    """Whether a call is at an edge: its input is seen to be, or its file has what leads there."""
    if edge == "single":
        return 3 in ranks(input_of(tree, ctx), ctx)
    if edge == "scalar":
        return 0 in ranks(input_of(tree, ctx), ctx)
    if edge == "empty":
        return may_be_empty(input_of(tree, ctx), ctx)
    if edge == "long":
        return may_be_long(input_of(tree, ctx), ctx)
    if edge == "tensors":
        return _gives_tensors(tree, input_of(tree, ctx), ctx)
    if edge in _SEEN:
        given = input_of(tree, ctx)
        return given is not None and family(ctx.kind(given).of) in _SEEN[edge]
    if edge in _NAMED:
        return _is_of(input_of(tree, ctx), edge, ctx)
    if ctx.once(_OF_FILE[edge]):
        return True
    given = input_of(tree, ctx) if edge in ("nan", "void") else None
    return given is not None and (holds_nan(given, ctx) or (edge == "void" and is_void(given, ctx)))


_SEEN = {"bool": ("bool",), "whole": ("bool", "int"), "real": ("bool", "int", "float")}


def _gives_tensors(tree: ast.Call, given: ast.expr | None, ctx: FileFacts) -> bool:
    """Whether a call is given a tensor beside the one that it is called for."""
    others = (*tree.args, *(keyword.value for keyword in tree.keywords))
    return any(value is not given and ctx.kind(value).is_tensor for value in others)


_BYTES = frozenset({"uint8", "int8", "int16", "short", "byte", "ByteTensor", "CharTensor", "ShortTensor"})
_HALVES = frozenset({"float16", "bfloat16", "half", "HalfTensor", "BFloat16Tensor"})
# The dtypes of an edge, and the names by which a file shows that it has tensors of one
_NAMED: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    "short": (frozenset({"bool", "uint8", "int8", "int16", "short"}), _BYTES),
    "double": (frozenset({"float64", "double"}), frozenset({"float64", "double", "DoubleTensor"})),
    "half": (frozenset({"float16", "bfloat16", "half"}), _HALVES),
    "complex": (frozenset({"complex64", "complex128", "cfloat", "cdouble"}), OF_COMPLEX),
}


def _is_of(given: ast.expr | None, edge: str, ctx: FileFacts) -> bool:
    """Whether a tensor is of a dtype of an edge, or of an unknown one in a file that names those."""
    kind = UNKNOWN if given is None else ctx.kind(given)
    dtypes, names = _NAMED[edge]
    if kind.of:
        return kind.of.removeprefix("torch.") in dtypes
    if any(node.attr in names for node in ctx.analysis.all(ast.Attribute)):
        return True
    return edge == "complex" and any(isinstance(c.value, complex) for c in ctx.analysis.all(ast.Constant))


def may_be_long(given: ast.expr | None, ctx: FileFacts) -> bool:
    """Whether a tensor may hold whole numbers beyond 2**53: of hashes, of numbers drawn by congruence."""
    kind = UNKNOWN if given is None else ctx.kind(given)
    return kind.is_tensor and family(kind.of) in ("", "int") and ctx.once(_writes_large)


_LARGE = 1 << 27  # of two such numbers, the product is beyond 2**53


def _writes_large(ctx: FileFacts) -> bool:
    """Whether the file writes down a large whole number: ``2654435761``, ``2**32``, ``1 << 31``."""
    if any(type(node.value) is int and node.value >= _LARGE for node in ctx.analysis.all(ast.Constant)):
        return True
    return any(_is_large_power(node) for node in ctx.analysis.all(ast.BinOp))


def _is_large_power(node: ast.BinOp) -> bool:
    base, exponent = (x.value if isinstance(x, ast.Constant) else None for x in (node.left, node.right))
    if type(exponent) is not int:
        return False
    if isinstance(node.op, ast.LShift):
        return 1 << min(exponent, 64) >= _LARGE if exponent > 0 else False
    return isinstance(node.op, ast.Pow) and type(base) is int and 0 < exponent < 64 and base**exponent >= _LARGE


def names_bytes(ctx: FileFacts) -> bool:
    """Whether the file names a dtype of ints shorter than int32."""
    return any(node.attr in _BYTES for node in ctx.analysis.all(ast.Attribute))


def _names_nan(ctx: FileFacts) -> bool:
    """Whether the file writes NaN down, ``float("nan")`` or ``torch.nan``, or asks for it where it has infinities."""
    attributes = ctx.analysis.all(ast.Attribute)
    if _writes(_NAN, ctx) or any(_text(node) == "nan" for node in ctx.analysis.all(ast.Constant)):
        return True
    asks = any(node.attr in _ASKING for node in attributes)
    return asks and ctx.once(_writes_infinity)


_ASKING = frozenset({"isnan", "nan_to_num", "isfinite"})


_NAN = frozenset({"nan", "NaN", "NAN"})
_INFINITY = frozenset({"inf", "Inf", "infty"})


def _writes(names: frozenset[str], ctx: FileFacts) -> bool:
    """Whether the file takes one of these constants from a module: ``math.inf``, ``from numpy import inf``."""
    if any(alias.name in names for node in ctx.analysis.all(ast.ImportFrom) for alias in node.names):
        return True
    taken = (node for node in ctx.analysis.all(ast.Attribute) if node.attr in names)
    if any(ctx.kind(node.value).name in ("module", "api", "unknown") and _is_imported(node, ctx) for node in taken):
        return True
    bare = {node.id for node in ctx.analysis.all(ast.Name) if node.id in names}  # of ``from math import *``
    return bool(bare - _bound(ctx)) if bare else False


def _bound(ctx: FileFacts) -> set[str]:
    """Return the names that the file binds itself."""
    found = {node.id for node in ctx.analysis.all(ast.Name) if not isinstance(node.ctx, ast.Load)}
    found |= {node.name for node in ctx.analysis.all(ast.FunctionDef)}
    found |= {node.name for node in ctx.analysis.all(ast.ClassDef)}
    return found | {node.arg for node in ctx.analysis.all(ast.arg)}


def _is_imported(node: ast.Attribute, ctx: FileFacts) -> bool:
    tree: ast.expr = node
    while isinstance(tree, ast.Attribute):
        tree = tree.value
    return isinstance(tree, ast.Name) and ctx.imports.is_import(tree.id)


def _text(node: ast.AST) -> str:
    value = node.value if isinstance(node, ast.Constant) else None
    return value.strip().lower().lstrip("+-") if isinstance(value, str) else ""


def _has_leaf(ctx: FileFacts) -> bool:
    """Whether the file wants the gradient of a tensor (``requires_grad=True``, ``x.requires_grad_()``), or has NaN."""
    return ctx.once(_names_nan) or any(_makes_leaf(call, ctx) for call in ctx.analysis.all(ast.Call))


def _makes_leaf(node: ast.Call, ctx: FileFacts) -> bool:
    if isinstance(node.func, ast.Attribute) and node.func.attr == "requires_grad_":
        return ctx.kind(node.func.value).is_tensor
    return any(word.arg == "requires_grad" and getattr(word.value, "value", None) is True for word in node.keywords)


def _counts_batches(ctx: FileFacts) -> bool:
    """Whether the file reads ``num_batches_tracked``, or takes it out of a state."""
    kinds = (ast.Attribute, ast.Call, ast.Subscript)
    return any(_is_counter(node, ctx) for kind in kinds for node in ctx.analysis.all(kind))


def _is_counter(node: ast.AST, ctx: FileFacts) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr == "num_batches_tracked" and isinstance(node.ctx, ast.Load)
    if isinstance(node, ast.Call):
        return _is_state(node, ctx)
    key = node.slice if isinstance(node, ast.Subscript) else None
    return isinstance(key, ast.Constant) and isinstance(key.value, str) and key.value.endswith("num_batches_tracked")


def _is_state(call: ast.Call, ctx: FileFacts) -> bool:
    """Whether a call is the state of a network that goes to a name which nothing in the file reads, but others may."""
    parent = ctx.parent(call)
    if not isinstance(call.func, ast.Attribute) or call.func.attr != "state_dict" or not isinstance(parent, ast.Assign):
        return False
    names = {target.id for target in parent.targets if isinstance(target, ast.Name)}
    is_script = ctx.parent(parent) is ctx.analysis.tree
    reads = (n for n in ctx.analysis.nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))
    unseen = (read.id for read in reads if not (is_script and _goes_over(read, ctx)))
    return len(names) == len(parent.targets) and names.isdisjoint(unseen)


def _goes_over(read: ast.Name, ctx: FileFacts) -> bool:
    """Whether all values of a dictionary are asked for, whatever their names: ``state.items()``."""
    member = ctx.parent(read)
    return isinstance(member, ast.Attribute) and member.attr in ("items", "values")


def names_infinity(ctx: FileFacts) -> bool:
    """Whether the file writes NaN or infinity down, of either sign."""
    return ctx.once(_names_nan) or ctx.once(_writes_infinity)


def _writes_infinity(ctx: FileFacts) -> bool:
    return _writes(_INFINITY, ctx) or any(_text(n) in ("inf", "infinity") for n in ctx.analysis.all(ast.Constant))


def _hands_over_nothing(ctx: FileFacts) -> bool:
    """Whether a call in the file is given what a mask selects, or another tensor that may have no elements."""
    return any(may_be_empty(given, ctx) for call in ctx.analysis.all(ast.Call) for given in call.args)


def _differentiates_again(ctx: FileFacts) -> bool:
    """Whether gradients near the file have gradients: ``torch.autograd.grad(score, x, create_graph=True)``."""
    return ctx.world.symbols.is_used_beside("asks_for_graphs", ctx.path)


_OF_FILE = {
    "nan": _names_nan,
    "void": names_infinity,
    "infinite": names_infinity,
    "leaf": _has_leaf,
    "counted": _counts_batches,
    "selections": _hands_over_nothing,
    "twice": _differentiates_again,
}
