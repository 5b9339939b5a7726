"""The number of axes of a tensor, where the text of the program shows it: ``torch.ones(3, 7, 7)``, ``x.view(4, 2)``."""

from __future__ import annotations

import ast

from torch2ms.mapping_tables.facts import load_facts
from torch2ms.translator.syntax.ast_walk import bound_pairs, walk
from torch2ms.translator.values.file_facts import FileFacts
from torch2ms.translator.values.kinds import candidates

__all__ = ["OTHERS", "assigned", "binding_scope", "is_sized", "ranks"]

OTHERS = -1
# Constructors that take sizes, one by one, or data in a list
_LEGACY = frozenset(f"{kind}Tensor" for kind in ("", "Float", "Double", "Half", "Long", "Int", "Short", "Byte", "Bool"))
_WEIGHTS = {"Linear": 2, "Embedding": 2, "Conv1d": 3, "Conv2d": 4, "Conv3d": 5, "ConvTranspose1d": 3,
            "ConvTranspose2d": 4, "ConvTranspose3d": 5}  # fmt: skip
_DEPTH = 5

_Key = tuple[ast.AST | None, str]  # a name, and the function that binds it


def ranks(tree: ast.expr | None, ctx: FileFacts, depth: int = _DEPTH) -> frozenset[int]:
    """Return how many axes a tensor may have, as far as the text of the file shows; nothing where it does not.

    ``OTHERS`` among them says that a name is also bound to what shows nothing: it may have any number.
    """
    if tree is None or depth == 0:
        return frozenset()
    if isinstance(tree, ast.Name):
        return _of_name(tree, ctx, depth)
    if isinstance(tree, ast.BinOp):
        sides = [ranks(side, ctx, depth - 1) for side in (tree.left, tree.right) if not _is_number(side, ctx)]
        both = frozenset[int]().union(*sides)
        return frozenset({max(both), *(both & {OTHERS}), *(() if all(sides) else (OTHERS,))}) if both else both
    if isinstance(tree, ast.UnaryOp):
        return ranks(tree.operand, ctx, depth - 1)
    if isinstance(tree, ast.Subscript):
        return _of_part(tree, ctx, depth)
    if isinstance(tree, ast.Attribute):
        return ranks(tree.value, ctx, depth - 1) if tree.attr == "data" else _of_attribute(tree, ctx, depth)
    return _of_call(tree, ctx, depth) if isinstance(tree, ast.Call) else frozenset()


def _of_attribute(tree: ast.Attribute, ctx: FileFacts, depth: int) -> frozenset[int]:
    """Return the ranks of all that the file binds an attribute to, or of a layer's weight."""
    values = ctx.once(_kept).get(tree.attr, [])
    return _union(values, ctx, depth) if values and ctx.kind(tree).name != "Parameter" else _of_weight(tree, ctx)


def _kept(ctx: FileFacts) -> dict[str, list[ast.expr]]:
    """Return what the file assigns to attributes, or registers under their names, by their names."""
    found: dict[str, list[ast.expr]] = {}
    for call in ctx.analysis.all(ast.Call):
        is_registered = getattr(call.func, "attr", "") in ("register_buffer", "register_parameter")
        if is_registered and len(call.args) > 1 and isinstance(call.args[0], ast.Constant):
            found.setdefault(str(call.args[0].value), []).append(call.args[1])
    for node in ctx.analysis.all(ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Attribute):
                found.setdefault(target.attr, []).append(node.value)
    return found


def _of_weight(tree: ast.Attribute, ctx: FileFacts) -> frozenset[int]:
    """Return the rank of a layer's weight, or of its bias: ``conv.weight``."""
    layer = ctx.kind(tree.value) if tree.attr in ("weight", "bias") else None
    axes = _WEIGHTS.get(layer.of.removeprefix("torch.nn."), 0) if layer is not None and layer.name == "Module" else 0
    return frozenset({axes if tree.attr == "weight" else 1}) if axes else frozenset()


def _of_part(tree: ast.Subscript, ctx: FileFacts, depth: int) -> frozenset[int]:
    """Return the rank of ``x[0]``, one less, or of ``x[None]``, one more; what other things pick is not known."""
    place = tree.slice
    whole = ranks(tree.value, ctx, depth - 1)
    if isinstance(place, ast.Constant) and place.value is None:
        return frozenset(rank if rank == OTHERS else rank + 1 for rank in whole)
    number = place.operand if isinstance(place, ast.UnaryOp) else place
    is_number = isinstance(number, ast.Constant) and type(number.value) is int
    if is_number or (isinstance(number, ast.Name) and ctx.kind(number).name == "int"):
        return frozenset(rank - (rank > 0) for rank in whole if rank)
    return frozenset()


def _of_name(tree: ast.Name, ctx: FileFacts, depth: int) -> frozenset[int]:
    """Return the ranks of all that its scope binds a name to; ``total = total + loss`` adds to those of the others."""
    known, key = ctx.once(_known), (binding_scope(tree.id, tree, ctx), tree.id)
    if (key, depth) in known:  # a file may assign to the same few names some hundred times
        return known[key, depth]
    values = ctx.once(_assigned_in).get(key, ())
    again = [value for value in values if any(isinstance(n, ast.Name) and n.id == tree.id for n in walk(value))]
    found = _union([value for value in values if value not in again], ctx, depth)
    if key in ctx.once(_bound_otherwise):
        found |= {OTHERS}
    known.update(((key, less), found) for less in range(1, depth + 1))
    found |= _union(again, ctx, depth)
    known.update(((key, less), found) for less in range(1, depth + 1))
    return found


def binding_scope(name: str, tree: ast.AST, ctx: FileFacts) -> ast.AST | None:
    """Return the innermost function around a place that binds a name; None for the module."""
    scope = _function(tree, ctx)
    while scope is not None and (scope, name) not in ctx.once(_bound):
        scope = _function(scope, ctx)
    return scope


def _function(tree: ast.AST, ctx: FileFacts) -> ast.AST | None:
    parent = ctx.parent(tree)
    while parent is not None and not isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        parent = ctx.parent(parent)
    return parent


def _bound(ctx: FileFacts) -> set[_Key]:
    """Return what each function binds: parameters, and what it assigns to without saying ``global``."""
    said = [node.names for node in ctx.analysis.all(ast.Global)] + [
        node.names for node in ctx.analysis.all(ast.Nonlocal)
    ]
    outer = {name for names in said for name in names}
    found: set[_Key] = {(_function(arg, ctx), arg.arg) for arg in ctx.analysis.all(ast.arg)}
    names = (node for node in ctx.analysis.all(ast.Name) if isinstance(node.ctx, ast.Store) and node.id not in outer)
    return found | {(_function(node, ctx), node.id) for node in names}


def _assigned_in(ctx: FileFacts) -> dict[_Key, list[ast.expr]]:
    """Return what each scope assigns to its names, alone or among others."""
    found: dict[_Key, list[ast.expr]] = {}
    for node in ctx.analysis.all(ast.Assign):
        for name, value in bound_pairs(node):
            if isinstance(name, ast.Name):
                found.setdefault((binding_scope(name.id, name, ctx), name.id), []).append(value)
    return found


def _union(values: list[ast.expr], ctx: FileFacts, depth: int) -> frozenset[int]:
    return frozenset(rank for value in values for rank in ranks(value, ctx, depth - 1) or (OTHERS,))


def _of_call(call: ast.Call, ctx: FileFacts, depth: int) -> frozenset[int]:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    facts = load_facts()
    is_alone = not call.keywords and len(call.args) == (1 if ctx.is_import_root(call.func) else 0)
    if is_alone and facts.has_axes(name, "none"):
        return frozenset({0})
    if name == "eye" or facts.has_axes(name, "one"):
        return frozenset({2 if name == "eye" else 1})
    if name in ("tensor", "as_tensor", "array"):
        return _of_data(call.args[0], ctx, depth) if call.args else frozenset()
    if name in _LEGACY and ctx.is_import_root(call.func):
        is_data = call.args and isinstance(call.args[0], (ast.List, ast.Tuple))
        sized = len(call.args) > 1 or (call.args and isinstance(call.args[0], ast.Constant))
        return _of_data(call.args[0], ctx, depth) if is_data else _of_sizes(call.args if sized else [], call)
    if name in ("full", "new_full"):
        return _of_sizes(call.args[:1], call)
    if is_sized(name) or (name == "new" and len(call.args) > 1):
        return _of_sizes(call.args, call)
    if name == "randint":
        return _of_sizes([arg for arg in call.args[-1:] if isinstance(arg, (ast.Tuple, ast.List))], call)
    inner = ranks(_subject(call, ctx), ctx, depth - 1)
    if facts.has_axes(name, "common"):
        return _of_both(call, inner, ctx, depth)
    if facts.has_axes(name, "same") and (isinstance(call.func, ast.Attribute) or not facts.cast_of(name)):
        return inner
    if name in ("Variable", "Parameter", "astype"):
        return inner
    step = {"unsqueeze": 1, "squeeze": -1, "select": -1}.get(name)
    if step is None or not (call.args or step > 0):
        return _of_function(call, ctx, depth)
    return frozenset(rank if rank == OTHERS else rank + step for rank in inner)


def is_sized(name: str) -> bool:
    """Whether a method or function is given the sizes of what it makes: ``zeros(2, 3)``, ``x.view(2, 3)``."""
    return name == "Tensor" or load_facts().has_axes(name, "sizes")


def _of_function(call: ast.Call, ctx: FileFacts, depth: int) -> frozenset[int]:
    """Return the ranks of what a function of the file returns."""
    keys = candidates(ctx.kind(call.func))
    infos = [ctx.world.function(key) for key in keys if key.rpartition(":")[0] == ctx.path]
    nodes = [info.node for info in infos if info is not None and isinstance(info.node, ast.FunctionDef)]
    if not nodes or len(nodes) < len(keys) or any(node.decorator_list for node in nodes):
        return frozenset()
    found = (part for node in nodes for part in walk(node) if _function(part, ctx) is node)
    returned = [part.value for part in found if isinstance(part, ast.Return)]
    return _union([value for value in returned if value is not None], ctx, depth)


def _of_both(call: ast.Call, inner: frozenset[int], ctx: FileFacts, depth: int) -> frozenset[int]:
    """Return the rank of ``torch.pow(x, y)`` and ``x.mul(y)``: that of the tensor with more axes."""
    other = call.args[1:2] if ctx.is_import_root(call.func) else call.args[:1]
    more = _of_data(other[0], ctx, depth) if other else frozenset()
    both = inner | (more or {OTHERS})
    return frozenset({max(both), *(both & {OTHERS})}) if inner else frozenset()


def _of_sizes(args: list[ast.expr], call: ast.Call) -> frozenset[int]:
    """Return the rank that sizes say, one by one or in one tuple."""
    given = args or [word.value for word in call.keywords if word.arg == "size"]
    if len(given) == 1 and isinstance(given[0], (ast.Tuple, ast.List)):
        given = given[0].elts
    if not given or any(isinstance(size, ast.Starred) for size in given):
        return frozenset()
    return frozenset({len(given)})


def _of_data(tree: ast.expr, ctx: FileFacts, depth: int) -> frozenset[int]:
    """Return the rank of a tensor made of lists, of a number, or of another tensor; a name may hold either."""
    if isinstance(tree, (ast.List, ast.Tuple)):
        inner = _of_data(tree.elts[0], ctx, depth) if tree.elts else frozenset({0})
        return frozenset(rank if rank == OTHERS else rank + 1 for rank in inner)
    if _is_number(tree, ctx):
        return frozenset({0})
    kind = ctx.kind(tree)
    return ranks(tree, ctx, depth - 1) if kind.is_tensor or kind.name == "ndarray" else frozenset()


def _is_number(tree: ast.expr, ctx: FileFacts) -> bool:
    value = tree.operand if isinstance(tree, ast.UnaryOp) else tree
    return isinstance(value, ast.Constant) or ctx.kind(tree).is_number


def _subject(call: ast.Call, ctx: FileFacts) -> ast.expr | None:
    """Return the tensor that a method or a function of torch is called for."""
    if isinstance(call.func, ast.Attribute) and not ctx.is_import_root(call.func):
        return call.func.value
    return call.args[0] if call.args else None


def _known(_: FileFacts) -> dict[tuple[_Key, int], frozenset[int]]:
    """Return where the ranks of names are kept, by the depth that they were asked at."""
    return {}


def assigned(ctx: FileFacts) -> dict[str, list[ast.expr]]:
    """Return what the file assigns to each name, alone or among others."""
    found: dict[str, list[ast.expr]] = {}
    for node in ctx.analysis.all(ast.Assign):
        for name, value in bound_pairs(node):
            if isinstance(name, ast.Name):
                found.setdefault(name.id, []).append(value)
    return found


def _bound_otherwise(ctx: FileFacts) -> set[_Key]:
    """Return the names that are bound in other ways than to a value of their own: parameters, loops, parts."""
    found: set[_Key] = {(_function(arg, ctx), arg.arg) for arg in ctx.analysis.all(ast.arg)}
    for node in ctx.analysis.nodes:
        targets: list[ast.expr] = []
        if isinstance(node, (ast.For, ast.comprehension, ast.NamedExpr)):
            targets = [node.target]
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            targets = [node.optional_vars]
        elif isinstance(node, ast.Assign):
            taken = [target for target in node.targets if not isinstance(target, ast.Name)]
            targets = [t for t in taken if not (isinstance(t, ast.Tuple) and isinstance(node.value, ast.Tuple))]
        names = (part for target in targets for part in walk(target) if isinstance(part, ast.Name))
        found |= {(binding_scope(name.id, name, ctx), name.id) for name in names if isinstance(name.ctx, ast.Store)}
    return found
