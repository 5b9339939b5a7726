"""Who else may see a tensor: fresh values, views, aliases; what in-place operations must know to rebind a name."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any, Literal

from torch2ms.mapping_tables.facts import load_facts
from torch2ms.translator.effects.activation_aliases import activated_by
from torch2ms.translator.effects.aliases import shared_memory
from torch2ms.translator.effects.definite_assignment import binds, element_of, is_certain
from torch2ms.translator.effects.differentiation import are_differentiated
from torch2ms.translator.effects.fresh_results import makes_its_result
from torch2ms.translator.effects.liveness import is_done_with
from torch2ms.translator.effects.loop_iterations import is_anew_each_round, outermost_loop
from torch2ms.translator.effects.must_alias import is_given_up
from torch2ms.translator.effects.parameter_storage import has_memory, is_parameter
from torch2ms.translator.effects.pass_through import is_itself, is_moved, passed_on, passes_on
from torch2ms.translator.syntax.ast_walk import walk
from torch2ms.translator.values.file_facts import FileFacts
from torch2ms.translator.values.kinds import candidates

__all__ = [
    "PARAMETERS",
    "Owner",
    "fills_whole",
    "has_steps",
    "held_elsewhere",
    "is_fresh",
    "is_shared_view",
    "is_view_of_memory",
    "owner_of",
    "reaches_views",
    "seen_elsewhere",
    "shares_memory",
    "what_index_gives",
    "writes_through",
]

Owner = Literal["fresh", "object", "shared", "view"]
# fresh: made here, nothing else refers to it; object: something else may hold the very object (an argument, a list's
# element); shared: a view whose memory MindSpore shares too, so that ``x[()] = value`` reaches both (not in gradients);
# view: it shares its memory with another tensor, which MindSpore does not do.

PARAMETERS = frozenset({"torch.nn.Parameter", "torch.nn.parameter.Parameter"})
_VIEWS_SINCE, _ARRAYS_SINCE = (2, 7), (2, 10)
_CONTAINERS = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)


def what_index_gives(tree: ast.expr, ctx: FileFacts) -> str:
    """Say what an index gives: a ``part`` of the tensor, a ``copy``, or empty when that is not known."""
    parts = tree.elts if isinstance(tree, ast.Tuple) else [tree]
    known = True
    for part in parts:
        if isinstance(part, ast.Slice) or (isinstance(part, ast.Constant) and part.value in (None, ...)):
            continue
        kind = ctx.kind(part)
        if kind.is_tensor or kind.name in ("list", "ndarray", "bool"):
            return "copy"
        known = known and kind.name == "int"
    return "part" if known else ""


def is_fresh(tree: ast.expr, ctx: FileFacts) -> bool:
    """Whether an expression makes a tensor that nothing else refers to."""
    if ctx.kind(tree).name in ("int", "float", "bool", "none"):
        return True  # ``total = 0``: nobody holds the tensor that the first ``total += loss`` makes
    if (shared := shared_memory(tree, ctx)) is not None:
        return all(is_fresh(source, ctx) for source in shared.sources)
    if isinstance(tree, (ast.BinOp, ast.UnaryOp, ast.Compare)):
        return True
    if isinstance(tree, ast.IfExp):
        return is_fresh(tree.body, ctx) and is_fresh(tree.orelse, ctx)
    if isinstance(tree, ast.Subscript) and ctx.kind(tree.value).is_tensor:
        return what_index_gives(tree.slice, ctx) == "copy" or is_fresh(tree.value, ctx)
    if isinstance(tree, (ast.Subscript, ast.Attribute)):
        return isinstance(tree, ast.Subscript) and is_fresh(tree.value, ctx)
    if not isinstance(tree, ast.Call):
        return False
    callee = ctx.kind(tree.func)
    if ctx.kind(tree).name == "ndarray" and isinstance(tree.func, ast.Attribute) and callee.name != "function":
        return _is_fresh_array(tree, tree.func, ctx)
    if callee.name == "api":
        return not any(name.endswith("_") for name in candidates(callee))
    if callee.name == "function":
        return makes_its_result(tree, ctx)
    if callee.name == "Module":
        return True
    if isinstance(tree.func, ast.Attribute) and ctx.kind(tree.func.value).is_tensor:
        return is_fresh(tree.func.value, ctx) if tree.func.attr.endswith("_") else True
    if not isinstance(tree.func, ast.Attribute):
        return False
    fact = load_facts().of(f"torch.Tensor.{tree.func.attr}")
    is_own = fact is not None and fact.memory == "fresh" and ctx.kind(tree).is_tensor
    return is_own or ctx.kind(tree.func.value).name == "Distribution"  # log_prob


# What of numpy gives an array that shares another one's memory, or that array itself.
_ARRAY_VIEWS = frozenset(
    """asarray asanyarray ascontiguousarray reshape ravel view squeeze transpose swapaxes moveaxis rollaxis broadcast_to
    expand_dims atleast_1d atleast_2d atleast_3d flip flipud fliplr rot90 diagonal real imag nan_to_num load memmap
    frombuffer require sliding_window_view as_strided numpy asnumpy detach item newbyteorder getfield""".split()
)


def _is_fresh_array(tree: ast.Call, func: ast.Attribute, ctx: FileFacts) -> bool:
    """Whether a call of numpy makes an array of its own: ``np.sin(x)``, ``a.astype(np.float32)``."""
    if any(keyword.arg in ("copy", "out") for keyword in tree.keywords):
        return False
    of_array = ctx.kind(func.value).name == "ndarray"
    if not of_array and not ast.unparse(func.value).startswith(("np", "numpy")):
        return False
    if func.attr not in _ARRAY_VIEWS:
        return True
    source = func.value if of_array else tree.args[0] if tree.args else None
    return source is not None and is_fresh(source, ctx)


def owner_of(name: str, use: ast.AST, ctx: FileFacts) -> Owner:
    """Say who may see the tensor that ``name`` holds where it is used, from all the assignments that may reach it."""
    worst: Owner = "fresh"
    for found in _reaching(name, use, ctx):
        if found == "view":
            return "view"
        if found == "shared" or (found == "object" and worst == "fresh"):
            worst = found
    return worst


def writes_through(name: str, use: ast.AST, ctx: FileFacts) -> bool:
    """Whether ``name[()] = value`` changes in MindSpore all that torch changes where it works in place on the name."""
    owner = owner_of(name, use, ctx)
    if owner in ("fresh", "object"):
        owner = seen_elsewhere(name, use, ctx)
    return owner == "shared" and not are_differentiated(ctx)


def reaches_views(name: str, ctx: FileFacts) -> bool:
    """Whether a tensor that others may hold is to be filled with ``x[()] = value``, which views of it see.

    ``x[...] = value`` gives the tensor memory of its own, but gradients see it, and it takes one without elements: it
    is right where a file has no views, and callers hand over none. ``name``: empty for what is no name.
    """
    if _is_handed_view(name, ctx):
        return True
    return fills_whole(ctx) and ctx.once(_makes_views)


def _is_handed_view(name: str, ctx: FileFacts) -> bool:
    """Whether a name is a parameter of the function around that a caller gives a view: ``move(weight.data, other)``.

    What is handed on as a value, ``self.move = partial(move, 0.9)``, may be given anything.
    """
    info = ctx.functions[-1] if ctx.target.mindspore >= _VIEWS_SINCE else None
    if info is None or name not in info.locals:
        return False
    symbols = ctx.world.symbols
    is_value = any(info.name in symbols.files[path].passed for path in symbols.likely_callers(info.name, ctx.path))
    return (is_value and name in info.filled) or ctx.world.is_handed_view(info, name)


def fills_whole(ctx: FileFacts) -> bool:
    """Whether ``x[()] = value`` can be written: since MindSpore 2.7, and where no gradient is asked for."""
    return ctx.target.mindspore >= _VIEWS_SINCE and not are_differentiated(ctx)


def _makes_views(ctx: FileFacts) -> bool:
    """Whether a name or a container is given a part of a tensor, or the tensor in another shape.

    Not where one is given what a mask selects, ``y = x[mask]``: in MindSpore ``y[()] = value`` then changes ``x`` too.
    """
    holders = (node for node in ctx.analysis.nodes if isinstance(node, (ast.Assign, ast.For, ast.List, ast.Dict)))
    given = [part for node in holders for part in _given_to(node)]
    selected = (part for part in given if isinstance(part, ast.Subscript) and ctx.kind(part.value).is_tensor)
    copies = any(what_index_gives(part.slice, ctx) == "copy" for part in selected)
    return not copies and any(is_shared_view(part, ctx) for part in given)


def _given_to(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, ast.Assign):
        return [*node.value.elts] if isinstance(node.value, (ast.Tuple, ast.List)) else [node.value]
    if isinstance(node, ast.For):
        return [node.iter]
    return [*node.elts] if isinstance(node, ast.List) else [*getattr(node, "values", ())]


def is_shared_view(tree: ast.expr, ctx: FileFacts) -> bool:
    """Whether an expression gives a view of a tensor that shares its memory in MindSpore as well."""
    function = tree.func if isinstance(tree, ast.Call) else tree
    if isinstance(function, ast.Attribute):
        shares = load_facts().may_share_since(function.attr, ctx.target.mindspore)
        return shares and function.attr != "numpy" and ctx.kind(tree).name not in ("int", "float")
    part = isinstance(tree, ast.Subscript) and (
        ctx.kind(tree.value).is_tensor or (isinstance(tree.value, ast.Call) and is_shared_view(tree.value, ctx))
    )
    return isinstance(tree, ast.Subscript) and part and what_index_gives(tree.slice, ctx) == "part"


def shares_memory(tree: ast.expr, ctx: FileFacts) -> bool:
    """Whether an expression gives a view that ``tree[()] = value`` writes through in MindSpore, as torch does."""
    return _views(tree, ctx) and _shares(tree, ctx) and not are_differentiated(ctx)


def is_view_of_memory(tree: ast.expr, ctx: FileFacts) -> bool:
    """Whether what is written into a view, ``tree[()] = value``, reaches the tensor that it is a view of.

    It does so in MindSpore as in torch; only gradients do not see it.
    """
    return _shares(tree, ctx) if not isinstance(tree, ast.Name) else owner_of(tree.id, tree, ctx) == "shared"


def has_steps(index: ast.expr) -> bool:
    """Whether an index has steps behind the first axis, which are read as a copy for the sake of the gradient."""
    parts = index.elts[1:] if isinstance(index, ast.Tuple) else []
    return any(isinstance(part, ast.Slice) and part.step is not None for part in parts)


def _asked(ctx: FileFacts) -> set[ast.Name]:
    return set()  # the names that are being asked about, each where it is read


def _owner_once(tree: ast.Name, ctx: FileFacts) -> Owner:
    """Say who may see what a name holds; round a loop, where the question came from, the other assignments decide."""
    asked = ctx.once(_asked)
    if tree in asked:
        return "fresh"
    asked.add(tree)
    try:
        return owner_of(tree.id, tree, ctx)
    finally:
        asked.discard(tree)


def _shares(tree: ast.expr, ctx: FileFacts) -> bool:
    """Whether a view is one in MindSpore too: by an index, or by methods that do not copy, of a tensor that is one."""
    if ctx.target.mindspore < _VIEWS_SINCE:
        return False
    if isinstance(tree, ast.Name):
        return _owner_once(tree, ctx) != "view"
    if isinstance(tree, ast.Subscript):
        of_tensor = ctx.kind(tree.value).is_tensor or (isinstance(tree.value, ast.Call) and _views(tree.value, ctx))
        part = what_index_gives(tree.slice, ctx) == "part" and not has_steps(tree.slice)
        return of_tensor and part and _shares(tree.value, ctx)
    function = tree.func if isinstance(tree, ast.Call) else tree
    if not isinstance(function, ast.Attribute):
        return False
    shared = shared_memory(tree, ctx)
    if shared is None:
        return function is tree and is_parameter(function, ctx)  # its memory is its own
    of_api = isinstance(tree, ast.Call) and ctx.kind(function).name == "api"
    if of_api and _of_array(tree, ctx):
        return True
    source = shared.sources[0]
    if isinstance(source, ast.Name) and ctx.kind(source).name == "ndarray":
        return False
    is_shared = is_itself(tree, ctx) or shared.fact.shares_since(ctx.target.mindspore)
    return is_shared and (of_api or has_memory(source, ctx)) and _shares(source, ctx)


def _of_array(tree: ast.expr, ctx: FileFacts) -> bool:
    """Whether a call makes a tensor of a named array, whose memory it shares."""
    assert isinstance(tree, ast.Call)
    makes = set(candidates(ctx.kind(tree.func))) <= {"torch.from_numpy"}
    return makes and ctx.target.mindspore >= _ARRAYS_SINCE and bool(tree.args) and isinstance(tree.args[0], ast.Name)


def _reaching(name: str, use: ast.AST, ctx: FileFacts) -> Iterator[Owner]:
    """Yield what each assignment of ``name`` makes of it, backwards from ``use`` to one that is certain."""
    node: ast.AST = use
    while (parent := ctx.parent(node)) is not None:
        if isinstance(parent, (ast.For, ast.AsyncFor, ast.While)):
            for statement in [*parent.body, *parent.orelse]:
                yield from _bindings(name, statement, use, ctx)
            if isinstance(parent, (ast.For, ast.AsyncFor)) and binds(parent.target, name):
                yield _given(parent.iter, ctx)
                return
        for block in _blocks_before(parent, node):
            for statement in reversed(block):
                found = list(_bindings(name, statement, use, ctx))
                yield from found
                if found and is_certain(name, statement):
                    return
        if isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            break
        node = parent
    yield "object"  # an argument, a name of an enclosing function or of the module


def _given(tree: ast.expr, ctx: FileFacts) -> Owner:
    """Say what iterating gives: parts of a tensor, over the tensor itself or over ``x.chunk(2)``, or other objects."""
    if ctx.kind(tree).is_tensor or (isinstance(tree, ast.Call) and _views(tree, ctx)):
        return "shared" if _shares(tree, ctx) else "view"
    return "object"


def _blocks_before(parent: ast.AST, child: ast.AST) -> Iterator[list[ast.stmt]]:
    """Yield the statements of the parent that ran before the child."""
    for field in ("body", "orelse", "finalbody"):
        block = getattr(parent, field, None)
        if isinstance(block, list) and child in block:
            yield block[: block.index(child)]
    if isinstance(parent, ast.Try) and child in [*parent.handlers, *parent.finalbody, *parent.orelse]:
        yield parent.body


def _bindings(name: str, statement: ast.stmt, use: ast.AST, ctx: FileFacts) -> Iterator[Owner]:
    """Yield what the assignments of a name in a statement, nested ones too, make of it."""
    for node in walk(statement):
        if isinstance(node, ast.Assign) and not is_moved(name, node.value, ctx):
            for target in node.targets:
                if binds(target, name):
                    is_container = isinstance(target, ast.Name) and isinstance(node.value, _CONTAINERS)
                    yield "fresh" if is_container else _made(element_of(target, node.value, name), use, ctx)
        elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)) and node.value is not None and binds(node.target, name):
            yield _made(node.value, use, ctx)
        elif isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)) and binds(node.target, name):
            yield _given(node.iter, ctx)
        elif isinstance(node, ast.withitem) and node.optional_vars is not None and binds(node.optional_vars, name):
            yield "object"


def _made(value: ast.expr, use: ast.AST, ctx: FileFacts) -> Owner:
    if is_fresh(value, ctx):
        return "fresh"
    if isinstance(value, ast.Name) and is_given_up(value.id, use, ctx):
        return _owner_once(value, ctx) if held_elsewhere(value.id, use, ctx, but=value) <= {"fresh"} else "object"
    part = False
    if isinstance(value, ast.Subscript):
        base = value.value
        part = ctx.kind(base).is_tensor or (isinstance(base, ast.Call) and _views(base, ctx))
        if isinstance(base, ast.Name) and ctx.kind(base).name in ("list", "tuple"):
            holder = _owner_once(base, ctx)
            return holder if holder in ("shared", "view") else "object"
    if not is_itself(value, ctx) and (part or _views(value, ctx)):
        return "shared" if _shares(value, ctx) else "view"
    return passes_on(value, ctx) or "object"


def _views(value: ast.expr, ctx: FileFacts) -> bool:
    return shared_memory(value, ctx) is not None


def seen_elsewhere(name: str, use: ast.AST, ctx: FileFacts, but: ast.AST | None = None) -> Owner:
    """Say whether another name or container holds the tensor (``object``) or a view of it, bound before the use.

    ``but``: a place where the name is read that does not count.
    """
    found = held_elsewhere(name, use, ctx, but)
    if "object" in found:
        return "shared" if "shared" in found else "object"
    return "view" if "view" in found else "shared" if "shared" in found else "fresh"


def held_elsewhere(
    name: str, use: ast.AST, ctx: FileFacts, but: ast.AST | None = None, asked: frozenset[str] = frozenset()
) -> set[Owner]:
    """Return in what ways other names and containers hold the tensor, each as :func:`seen_elsewhere` says it.

    Those that nothing reads any more do not count; ``asked`` are the names whose question this one answers.
    """
    function = ctx.functions[-1]
    body: ast.AST = function.node if function is not None else ctx.analysis.tree
    loop = outermost_loop(use, ctx)
    last = max(getattr(use, "lineno", 0), getattr(loop, "end_lineno", 0) or 0 if loop is not None else 0)
    found: set[Owner] = set()
    for node in walk(body):
        if not isinstance(node, ast.Name) or node.id != name or not isinstance(node.ctx, ast.Load) or node is but:
            continue
        is_told = _is_of_an_older(node, name, use, ctx) or activated_by(ctx.parent(node), ctx)
        if node.lineno <= last and not is_told:
            found.add(_held(node, use, ctx, asked | {name}))
    return found


def _is_dropped(target: ast.expr, use: ast.AST, ctx: FileFacts, asked: frozenset[str]) -> bool:
    """Whether the names that a target binds, and all that they are handed on to, are done with at a use."""
    if isinstance(target, (ast.Tuple, ast.List)):
        return all(_is_dropped(part, use, ctx, asked) for part in target.elts)
    if not isinstance(target, ast.Name) or not is_done_with(target.id, use, ctx):
        return False
    return target.id in asked or held_elsewhere(target.id, use, ctx, asked=asked) <= {"fresh"}


def _is_of_an_older(node: ast.AST, name: str, use: ast.AST, ctx: FileFacts) -> bool:
    """Whether a name is always bound to another tensor behind a place and before the use: the old one may be seen."""
    child, parent = node, ctx.parent(node)
    while parent is not None and not isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        parts: list[Any] = [getattr(parent, field, ()) for field in ("body", "orelse")]
        block: list[Any] = next((part for part in parts if isinstance(part, list) and child in part), [child])
        for later in block[block.index(child) + 1 :]:
            if any(isinstance(part, (ast.Break, ast.Continue)) for part in walk(later)):
                return False
            bound = later.targets if isinstance(later, ast.Assign) else []
            if [ast.unparse(target) for target in bound] == [name] and is_fresh(later.value, ctx):
                return not getattr(node, "lineno", 0) <= getattr(use, "lineno", 0) <= (later.end_lineno or 0)
        child, parent = parent, ctx.parent(parent)
    return getattr(node, "lineno", 0) > getattr(use, "end_lineno", 0) and is_anew_each_round(
        name, node, use, ctx, is_fresh
    )


def _is_called_in_place(tree: ast.Attribute, ctx: FileFacts) -> bool:
    call = ctx.parent(tree)
    in_place = tree.attr.endswith("_") and not tree.attr.endswith("__") and tree.attr != "requires_grad_"
    return in_place and isinstance(call, ast.Call) and call.func is tree


def _is_shared(name: str, ctx: FileFacts) -> bool:
    """Whether what a method or attribute gives shares its memory in MindSpore, too."""
    return load_facts().may_share_since(name, ctx.target.mindspore)


def _passed(call: ast.Call, child: ast.AST, ctx: FileFacts) -> Owner | Literal[""]:
    """Say what a call gives of an argument: ``torch.transpose(x, 0, 1)`` is a view, ``same(x)`` may be ``x`` itself."""
    if set(candidates(ctx.kind(call.func))) & PARAMETERS and child in call.args[:1]:
        return "object"  # self.w = w = Parameter(w)
    if ctx.kind(call.func).name in ("api", "Module"):
        return _shared_with(call, child, ctx)
    return passed_on(call, child, ctx)


_HOLDING = (ast.Tuple, ast.List, ast.Dict, ast.Set, ast.IfExp, ast.BoolOp, ast.Starred)


def _shared_with(value: ast.expr, child: ast.AST, ctx: FileFacts) -> Owner | Literal[""]:
    """Say what an expression gives of one that it is made of: the object, a view, or nothing."""
    shared = shared_memory(value, ctx)
    if shared is None or child not in shared.sources:
        return ""
    if is_itself(value, ctx):
        return "object"
    return "shared" if shared.fact.shares_since(ctx.target.mindspore) else "view"


def _held(node: ast.Name, use: ast.AST, ctx: FileFacts, asked: frozenset[str]) -> Owner:
    """Say what one use of a name does with its tensor: stores the object, stores a view of it, or neither."""
    child: ast.AST = node
    parent = ctx.parent(node)
    view: Owner = "object"
    while parent is not None:
        if parent is use:
            return "fresh"
        if isinstance(parent, ast.Attribute) and _is_called_in_place(parent, ctx):  # gives the tensor itself
            call = ctx.parent(parent)
            assert call is not None
            if call is use:
                return "fresh"
            child, parent = call, ctx.parent(call)
        elif isinstance(parent, ast.Attribute) and load_facts().may_share(parent.attr):
            view = "shared" if _is_shared(parent.attr, ctx) and view != "view" else "view"
            grand = ctx.parent(parent)
            called = isinstance(grand, ast.Call) and grand.func is parent
            child, parent = (grand, ctx.parent(grand)) if called and grand is not None else (parent, grand)
        elif isinstance(parent, ast.Subscript) and parent.value is child:
            if what_index_gives(parent.slice, ctx) == "copy":
                return "fresh"
            since = ctx.target.mindspore >= _VIEWS_SINCE and not has_steps(parent.slice)
            view = "shared" if since and view != "view" else "view"
            child, parent = parent, ctx.parent(parent)
        elif isinstance(parent, _HOLDING) or (isinstance(parent, ast.UnaryOp) and _shared_with(parent, child, ctx)):
            child, parent = parent, ctx.parent(parent)
        elif isinstance(parent, ast.Call) and child in parent.args and (passed := _passed(parent, child, ctx)):
            view = passed if view == "object" or passed == "view" else view
            child, parent = parent, ctx.parent(parent)
            if isinstance(parent, ast.Attribute) and ctx.kind(child).name == "instance":
                child, parent = parent, ctx.parent(parent)  # Box(x).t
        else:
            break
    if isinstance(parent, ast.Assign) and child is node and isinstance(parent.targets[0], (ast.Tuple, ast.List)):
        view = "shared" if ctx.kind(node).is_tensor and ctx.target.mindspore >= _VIEWS_SINCE else view
    if isinstance(parent, (ast.Assign, ast.AnnAssign, ast.NamedExpr)) and parent.value is child:
        targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
        if isinstance(parent, ast.Assign) and any(isinstance(t, ast.Subscript) for t in targets):
            return "fresh" if ctx.kind(targets[0].value).is_tensor else view  # type: ignore[attr-defined]
        is_own = any(binds(t, node.id) for t in targets)
        return "fresh" if is_own or all(_is_dropped(t, use, ctx, asked) for t in targets) else view
    if isinstance(parent, (ast.Yield, ast.Lambda)):
        return view
    if isinstance(parent, ast.Call) and child in parent.args and isinstance(parent.func, ast.Attribute):
        stores = parent.func.attr in ("append", "extend", "insert", "add", "setdefault", "put", "appendleft")
        return view if stores and not ctx.kind(parent.func.value).is_tensor else "fresh"
    return "fresh"
