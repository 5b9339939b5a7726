"""Sizes of layers that may be lists: torch takes ``kernel_size=[3, 3]``, MindSpore's layers ints and tuples alone."""

from __future__ import annotations

import ast

from torch2ms.translator.context import Context
from torch2ms.translator.syntax.argument_binding import literal
from torch2ms.translator.syntax.ast_walk import walk
from torch2ms.translator.values.use_evidence import uses

__all__ = [
    "NUMBERS",
    "SIZES",
    "is_number",
    "may_be_list",
    "may_be_no_bool",
    "may_be_numpy",
    "may_be_word",
    "single_size",
]

# Parameters of layers that are one number, or may be: numpy's (np.prod(shape)) are no ints to MindSpore.
NUMBERS = frozenset(
    """in_features out_features in_channels out_channels num_features num_channels num_groups input_size hidden_size
    num_layers num_embeddings embedding_dim embed_dim num_heads d_model nhead dim_feedforward normalized_shape groups
    kernel_size stride padding dilation in1_features in2_features upscale_factor downscale_factor""".split()
)
SIZES = frozenset({"kernel_size", "stride", "padding", "dilation", "output_size"})

_WINDOWS = ("2d", "3d")


# Of these, the counts: what is handed over for one is a number, whatever else is known of it.
_COUNTS = NUMBERS - {"kernel_size", "stride", "padding", "dilation", "normalized_shape"}
_OF_NUMBERS = frozenset({ast.FloorDiv, ast.Sub, ast.Div, ast.Pow, ast.Mod})  # operators that lists have not


def is_number(tree: ast.expr, ctx: Context) -> bool:
    """Whether a size is one number: by its kind, or by what else its scope does with it, ``nn.Linear(size, 3)``."""
    kind = ctx.kind(tree).name
    if kind != "unknown":
        return kind in ("int", "ndarray") and not may_be_list(tree, ctx)
    if isinstance(tree, ast.BinOp):
        return type(tree.op) in _OF_NUMBERS or (is_number(tree.left, ctx) and is_number(tree.right, ctx))
    found = uses(ctx.analysis.tree).of(tree)
    if found.is_indexed or may_be_list(tree, ctx):
        return False
    return not _OF_NUMBERS.isdisjoint(found.operators) or any(_is_count(*given, ctx) for given in found.given)


def _is_count(call: ast.Call, place: str | int, ctx: Context) -> bool:
    """Whether an argument of a call is a count of a layer of torch's: ``in_features``."""
    name = ctx.kind(call.func).of
    signature = ctx.tables.signature(name) if name.startswith("torch.nn.") else None
    if signature is None:
        return False
    if isinstance(place, int):
        place = signature.parameters[place].name if place < len(signature.parameters) else ""
    return place in _COUNTS


def single_size(row: str, parameter: str, tree: ast.expr) -> bool:
    """Whether a size is ``(3,)`` or ``[3]``, which torch's convolutions and poolings take for the same on every axis.

    Not so for the kernel of a convolution, and for the size of an output: torch refuses them.
    """
    if not isinstance(tree, (ast.Tuple, ast.List)) or len(tree.elts) != 1 or isinstance(tree.elts[0], ast.Starred):
        return False
    name = row.rpartition(".")[2].lower()
    kernel = parameter == "kernel_size" and "pool" not in name
    return name.endswith(_WINDOWS) and parameter in SIZES - {"output_size"} and not kernel


def may_be_word(tree: ast.expr, ctx: Context) -> bool:
    """Whether a padding is a name that may hold ``"same"`` or ``"valid"``: by default, when bound, or when asked."""
    if not isinstance(tree, ast.Name) or not ctx.once(_names_paddings):
        return False
    function = ctx.functions[-1]
    if function is None or isinstance(function.node, ast.Lambda):
        return ctx.kind(tree).name == "str"
    if ctx.kind(tree).name == "str" or isinstance(literal(_default(function.node.args, tree.id)), str):
        return True
    return any(_binds_word(node, tree.id) for node in walk(function.node))


def _names_paddings(ctx: Context) -> bool:
    words = (node.value for node in ctx.analysis.all(ast.Constant) if isinstance(node.value, str))
    return any(word.lower() in ("same", "valid") for word in words)


def _binds_word(node: ast.AST, name: str) -> bool:
    """Whether a statement binds a name to a word, or a call asks whether it is one."""
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
        return any(isinstance(target, ast.Name) and target.id == name for target in node.targets)
    if not isinstance(node, ast.Call) or getattr(node.func, "id", "") != "isinstance" or len(node.args) != 2:
        return False
    return [ast.unparse(part) for part in node.args] == [name, "str"]


def may_be_list(tree: ast.expr, ctx: Context) -> bool:
    """Whether a size is a parameter that may be a list as well as an int: a caller hands one over, or it is asked."""
    function = ctx.functions[-1]
    if function is None or not isinstance(tree, ast.Name) or isinstance(function.node, ast.Lambda):
        return False
    arguments = function.node.args
    if tree.id not in {arg.arg for arg in [*arguments.args, *arguments.kwonlyargs]}:
        return False
    if ctx.kind(tree).name == "list":  # a caller hands over a list, and who hands over nothing has the default
        return isinstance(literal(_default(arguments, tree.id)), int)
    if any(_asks_for_int(node, tree.id) for node in walk(function.node)):
        return True
    return any(kind.name == "list" for kind in ctx.world.handed_over(function, tree.id))


def may_be_numpy(tree: ast.expr, ctx: Context) -> bool:
    """Whether a size is a number of numpy's: ``np.prod(shape)``, or a parameter that a caller hands one over for.

    So is a tensor without axes, which torch takes as well: ``labels.max() + 1``.
    """
    if ctx.kind(tree).name == "ndarray" or ctx.kind(tree).is_tensor:
        return True
    function = ctx.functions[-1]
    if function is None or not isinstance(tree, ast.Name) or isinstance(function.node, ast.Lambda):
        return False
    arguments = function.node.args
    if ctx.kind(tree).name not in ("unknown", "int") or tree.id not in {a.arg for a in arguments.args}:
        return False
    handed = ctx.world.handed_over(function, tree.id, beyond=True)  # a script that reads a table makes the network
    return any(kind.name == "ndarray" or kind.is_tensor for kind in handed)


def may_be_no_bool(tree: ast.expr, ctx: Context) -> bool:
    """Whether a switch may be None, which torch takes for False, or a text: by its default, or from a caller's."""
    if ctx.kind(tree).name in ("none", "str"):
        return True
    function = ctx.functions[-1]
    if function is None or not isinstance(tree, ast.Name):
        return False
    if _starts_as_no_bool(tree.id, function.node):
        return True
    names = [arg.arg for arg in function.node.args.args]
    if tree.id not in names:
        return False
    is_layer = function.owner is not None and function.name == "__init__"
    called = function.owner.node.name if is_layer and function.owner is not None else function.name
    place = names.index(tree.id) - (function.owner is not None)
    return any(_hands_no_bool(call, tree.id, place, ctx) for call in ctx.analysis.all(ast.Call) if _calls(call, called))


def _calls(call: ast.Call, name: str) -> bool:
    return name in (getattr(call.func, "id", ""), getattr(call.func, "attr", ""))


def _hands_no_bool(call: ast.Call, name: str, place: int, ctx: Context) -> bool:
    """Whether a call hands no bool over for a parameter, or what is none by its default where the call stands."""
    given = next((keyword.value for keyword in call.keywords if keyword.arg == name), None)
    if given is None and 0 <= place < len(call.args):
        given = call.args[place]
    if not isinstance(given, ast.Name):
        return isinstance(given, ast.Constant) and not isinstance(given.value, bool)
    around = ctx.parent(call)
    while around is not None and not isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef)):
        around = ctx.parent(around)
    return around is not None and _starts_as_no_bool(given.id, around)


def _starts_as_no_bool(name: str, function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> bool:
    """Whether a parameter's default is a constant but no bool, and it is never bound to anything else."""
    arguments = function.args
    if name not in {arg.arg for arg in [*arguments.args, *arguments.kwonlyargs]}:
        return False
    default = _default(arguments, name)
    if not isinstance(default, ast.Constant) or isinstance(default.value, bool) or default.value is ...:
        return False
    stored = (node for node in walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    return not any(node.id == name for node in stored)


def _asks_for_int(node: ast.AST, name: str) -> bool:
    """Whether a node is ``isinstance(name, int)``, or asks so of ``self.name``: it may then be something else."""
    if not isinstance(node, ast.Call) or getattr(node.func, "id", "") != "isinstance" or len(node.args) != 2:
        return False
    asked, wanted = node.args
    named = getattr(asked, "attr", "") or getattr(asked, "id", "")
    return named == name and getattr(wanted, "id", "") == "int"


def _default(arguments: ast.arguments, name: str) -> ast.expr:
    """Return the default of a parameter; Ellipsis where it has none."""
    placed = [*arguments.posonlyargs, *arguments.args]
    pairs = [*zip(reversed(placed), reversed(arguments.defaults), strict=False)]
    pairs += [(arg, value) for arg, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if value]
    return next((value for arg, value in pairs if arg.arg == name), ast.Constant(...))
