"""How a tensor lies in memory: ``contiguous()``, ``stride()``, ``is_contiguous()``."""

from __future__ import annotations

import ast

import libcst as cst

from torch2ms.mapping_tables.facts import load_facts
from torch2ms.translator.context import Context
from torch2ms.translator.effects.aliases import shared_memory
from torch2ms.translator.effects.reads_and_writes import effects, root
from torch2ms.translator.effects.sharing import owner_of, what_index_gives
from torch2ms.translator.rules.call_site import CallSite, Leave, Outcome, Replace, recipe
from torch2ms.translator.rules.emission import emit_call
from torch2ms.translator.syntax.argument_binding import literal
from torch2ms.translator.syntax.cst_builders import build

__all__: list[str] = []

_ASKED = frozenset({"is_contiguous", "stride", "storage_offset", "data_ptr"})
# What makes tensors that MindSpore lays out in another way.
_UNLIKE = frozenset(
    """expand expand_as broadcast_to broadcast_tensors as_strided memory_format unfold real imag empty_strided
    empty_permuted new_empty_strided""".split()
)
_NUMBERS = ("int", "float", "bool", "Size", "list", "tuple", "dtype", "device")
_MAX_DEPTH = 20  # of names that stand for other names
# A clone of these keeps their order of axes in memory; MindSpore's copies are laid out anew.
_TURNING = frozenset({"t", "T", "mT", "transpose", "permute", "swapaxes", "swapdims", "movedim", "moveaxis"})


@recipe("contiguous")
def contiguous(site: CallSite, ctx: Context) -> Outcome:
    """``x.contiguous()`` -> ``x``: MindSpore's views need no copy; but where that copy is written into or asked for."""
    assert site.receiver is not None
    if not (_is_changed(site.tree, ctx) or ctx.once(_is_asked)):
        return Replace(site.receiver)
    return Replace(build("{x}.contiguous()", x=site.receiver))


def _is_changed(tree: ast.Call, ctx: Context) -> bool:
    """Whether the name that holds the copy is written into: a view would hand that on."""
    small = ctx.small
    if not isinstance(small, ast.Assign) or small.value is not tree:
        return False
    names = {target.id for target in small.targets if isinstance(target, ast.Name)}
    return bool(names & ctx.once(_written))


def _written(ctx: Context) -> set[str]:
    """Return the names of the file whose tensors may be written into."""
    scopes = [ctx.analysis.tree.body, *(function.body for function in ctx.analysis.all(ast.FunctionDef))]
    found = {root(path) for body in scopes for path in effects(body).mutates}
    return found | {node.target.id for node in ctx.analysis.all(ast.AugAssign) if isinstance(node.target, ast.Name)}


def _is_asked(ctx: Context) -> bool:
    return any(isinstance(node, ast.Attribute) and node.attr in _ASKED for node in ctx.analysis.nodes)


def _is_unlike(ctx: Context) -> bool:
    names = {node.attr for node in ctx.analysis.nodes if isinstance(node, ast.Attribute)}
    names |= {node.arg for node in ctx.analysis.nodes if isinstance(node, ast.keyword) and node.arg}
    return bool(names & _UNLIKE) or ("clone" in names and bool(names & _TURNING))


def _turns(ctx: Context) -> bool:
    return any(isinstance(node, ast.Attribute) and node.attr in _TURNING for node in ctx.analysis.nodes)


def _is_laid_alike(tree: ast.expr, ctx: Context, depth: int = 0) -> bool:
    """Whether both lay a tensor out alike: what is made here and its views, but not what is computed of a view."""
    if isinstance(tree, ast.Name):
        value = ctx.once(_given_once).get(tree.id)
        return value is not None and depth < _MAX_DEPTH and _is_laid_alike(value, ctx, depth + 1)
    if isinstance(tree, ast.Subscript):
        return what_index_gives(tree.slice, ctx) == "part" and _is_laid_alike(tree.value, ctx, depth)
    if isinstance(tree, ast.Attribute):
        return tree.attr in _TURNING and _is_laid_alike(tree.value, ctx, depth)
    if not isinstance(tree, ast.Call) or not isinstance(tree.func, ast.Attribute):
        return False
    viewed = [*([tree.func.value] if ctx.kind(tree.func.value).is_tensor else []), *tree.args][:1]
    if tree.func.attr == "contiguous":
        return True
    shared = shared_memory(tree, ctx)
    if shared is not None and shared.fact.shares_since(ctx.target.mindspore):
        return bool(viewed) and _is_laid_alike(viewed[0], ctx, depth)
    given = [*viewed, *tree.args, *(keyword.value for keyword in tree.keywords)]
    return ctx.kind(tree.func).name == "api" and all(ctx.kind(value).name in _NUMBERS for value in given)


def _given_once(ctx: Context) -> dict[str, ast.expr]:
    """Return what each name is given that stands on the left once in the file, and is no argument."""
    given: dict[str, ast.expr] = {}
    bound: set[str] = set()
    for node in ctx.analysis.nodes:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(target := node.targets[0], ast.Name):
            given[target.id] = node.value
    for node in ctx.analysis.nodes:
        name = node.arg if isinstance(node, ast.arg) else node.id if isinstance(node, ast.Name) else ""
        if name in given and (isinstance(node, ast.arg) or isinstance(getattr(node, "ctx", None), ast.Store)):
            if name in bound or isinstance(node, ast.arg):
                given.pop(name)
            bound.add(name)
    return given


@recipe("layout")
def layout(site: CallSite, ctx: Context) -> Outcome:
    """``x.stride()`` -> ``tuple(x.stride())``; where the layouts differ, it says so."""
    made: Outcome = _stride(site) if site.row.name.endswith("stride") else emit_call(site, ctx)
    assert isinstance(site.tree.func, ast.Attribute)
    if isinstance(made, Leave) or not (ctx.once(_is_unlike) or ctx.once(_turns)):
        return made
    if not ctx.once(_is_unlike) and _is_laid_alike(site.tree.func.value, ctx):
        return made
    message = "MindSpore may lay the tensor out in another way than torch, which repeats or skips memory here"
    if not ctx.once(_is_unlike):
        message = "what torch computes of a transposed tensor keeps its order in memory, MindSpore's result does not"
    return Replace(made.code, (*made.codes, ("T2M303", message)))


def _stride(site: CallSite) -> Outcome:
    assert site.receiver is not None
    strides: cst.BaseExpression = build("{x}.stride()", x=site.receiver)
    if not site.updated.args:
        return Replace(build("tuple({x})", x=strides))
    return Replace(build("{x}[{dim}]", x=strides, dim=site.updated.args[0].value))


@recipe("clone")
def clone(site: CallSite, ctx: Context) -> Outcome:
    """``x.clone()`` -> ``x.copy()``, or ``ops.deepcopy(x)`` of what may be a parameter.

    The copy of a parameter is another parameter: no gradient gets through it to the first.
    """
    argument = site.argument("input") if site.receiver is None else None
    code = site.receiver if argument is None else argument.code
    tree = site.tree.func.value if argument is None and isinstance(site.tree.func, ast.Attribute) else None
    tree = argument.tree if argument is not None else tree
    if code is None or tree is None or not _may_be_parameter(tree, ctx):
        return emit_call(site, ctx)
    return Replace(build("{f}({x})", f=ctx.reference("mindspore.ops.deepcopy"), x=code))


def _may_be_parameter(tree: ast.expr, ctx: Context) -> bool:
    """Whether a tensor may be a parameter, and is not what was computed just here."""
    if isinstance(tree, ast.Name):
        return owner_of(tree.id, tree, ctx) != "fresh" or tree.id in ctx.once(_leaves)
    if isinstance(tree, ast.Attribute):
        return tree.attr not in _COMPUTED
    if isinstance(tree, ast.Subscript):
        index = tree.slice
        is_key = isinstance(index, (ast.Name, ast.Attribute, ast.JoinedStr)) or isinstance(literal(index), str)
        return is_key or not ctx.kind(tree.value).is_tensor
    if isinstance(tree, ast.IfExp):
        return _may_be_parameter(tree.body, ctx) or _may_be_parameter(tree.orelse, ctx)
    if isinstance(tree, ast.Call):
        function = tree.func
        if (
            isinstance(function, ast.Attribute)
            and load_facts().may_be_itself(function.attr)
            and ctx.kind(function).name != "api"
        ):
            return _may_be_parameter(function.value, ctx)
        of_torch = ctx.kind(function).name == "api" or ctx.kind(function).name == "Module"
        return not (of_torch or (isinstance(function, ast.Attribute) and ctx.kind(function.value).is_tensor))
    return not isinstance(tree, (ast.BinOp, ast.UnaryOp, ast.Compare))


def _leaves(ctx: Context) -> frozenset[str]:
    """Return the names of a file that a parameter is bound to, or a tensor whose gradient is asked for."""
    bound = [(target, node.value) for node in ctx.analysis.all(ast.Assign) for target in node.targets]
    bound += [(node.target, node.value) for node in ctx.analysis.all(ast.AnnAssign) if node.value is not None]
    names = {t.id for t, value in bound if isinstance(t, ast.Name) and isinstance(value, ast.Call) and _is_leaf(value)}
    asked = (node for node in ctx.analysis.all(ast.Attribute) if node.attr in ("requires_grad", "requires_grad_"))
    return frozenset(names | {node.value.id for node in asked if isinstance(node.value, ast.Name)})


def _is_leaf(call: ast.Call) -> bool:
    name = getattr(call.func, "attr", getattr(call.func, "id", ""))
    return name in ("Parameter", "requires_grad_") or any(word.arg == "requires_grad" for word in call.keywords)


_COMPUTED = frozenset({"data", "grad", "T", "mT", "H", "mH", "real", "imag"})
