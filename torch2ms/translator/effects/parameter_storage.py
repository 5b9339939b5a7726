"""``weight.data = value`` behind the first step: an optimizer of MindSpore trains no more what was replaced.

Functions that give weights their first values keep the statement, as MindSpore has it too.
"""

from __future__ import annotations

import ast
from typing import Any

from torch2ms.translator.effects.gradient_uses import lists_weights, looks_like_weight
from torch2ms.translator.effects.reads_and_writes import effects
from torch2ms.translator.effects.repeatability import draws
from torch2ms.translator.effects.step_reachability import runs_behind_step
from torch2ms.translator.syntax.ast_walk import walk
from torch2ms.translator.values.file_facts import FileFacts
from torch2ms.translator.values.scopes import root_of

__all__ = [
    "gives_first_values",
    "goes_over_weights",
    "has_memory",
    "holds_data",
    "is_held_elsewhere",
    "is_of_state",
    "is_parameter",
    "is_stored_data",
    "is_weight",
    "may_be_weight",
    "may_have_stepped",
    "names_parameter",
]

_COPIES_SINCE = (2, 7)


def gives_first_values(ctx: FileFacts) -> bool:
    """Whether a function gives weights their first values: ``__init__``, what it calls, what draws into tensors."""
    function = ctx.functions[-1]
    return function is not None and function.name in ctx.once(_initialising)


_INITIALISING = frozenset({"__init__", "reset_parameters"})  # of every layer of torch's


def _initialising(ctx: FileFacts) -> frozenset[str]:
    """Return the names of the functions of a file that give weights their first values.

    They call ``torch.nn.init``, draw into tensors in place or are applied to the layers of a network; and whatever is
    called from them alone does so, too.
    """
    functions = [*ctx.analysis.all(ast.FunctionDef)]
    called = {id(function): _called_in(function) for function in functions}
    found = {f.name for f in functions if f.name in _INITIALISING or _draws_into(f, ctx)} | _applied(ctx)
    found -= {name for function in functions if function.name == "forward" for name in called[id(function)]}
    while True:
        elsewhere = {name for f in functions if f.name not in found for name in called[id(f)]}
        inside = {name for f in functions if f.name in found for name in called[id(f)]}
        more = ({f.name for f in functions} & inside) - elsewhere - found
        if not more:
            return frozenset(found)
        found |= more


def _called_in(function: ast.AST) -> set[str]:
    calls = (node.func for node in walk(function) if isinstance(node, ast.Call))
    return {getattr(func, "attr", getattr(func, "id", "")) for func in calls}


def _draws_into(function: ast.AST, ctx: FileFacts) -> bool:
    """Whether a function, or one of the project that it calls, draws into tensors in place."""
    for node in walk(function):
        func = node.func if isinstance(node, ast.Call) else None
        if func is None:
            continue
        kind = ctx.kind(func)
        if kind.of.startswith("torch.nn.init.") or _draws_in_place(func, function):
            return True
        called = ctx.world.function(kind.of) if kind.name == "function" and "|" not in kind.of else None
        inner = (part.func for part in walk(called.node) if isinstance(part, ast.Call)) if called is not None else ()
        if called is not None and any(_draws_in_place(part, called.node) for part in inner):
            return True
    return False


def _draws_in_place(func: ast.expr, function: ast.AST) -> bool:
    """Whether ``x.weight.normal_`` draws into what a function is handed."""
    if not isinstance(func, ast.Attribute) or not func.attr.endswith("_") or not draws(func.attr):
        return False
    given = {node.arg for node in walk(function) if isinstance(node, ast.arg)} - {"self"}
    return root_of(func.value) in given


def _applied(ctx: FileFacts) -> set[str]:
    calls = (c for c in ctx.analysis.all(ast.Call) if getattr(c.func, "attr", "") == "apply" and len(c.args) == 1)
    return {getattr(call.args[0], "attr", getattr(call.args[0], "id", "")) for call in calls}


def goes_over_weights(tree: ast.Name, ctx: FileFacts) -> bool:
    """Whether a name of which only its use is known is that of a loop over weights: ``for p in group["params"]``."""
    function, kind = ctx.functions[-1], ctx.kind(tree)
    is_told = kind.name == "Tensor" and kind.evidence and not kind.evidence.startswith("only tensors")
    if function is None or is_told:
        return False
    loops = (node for node in walk(function.node) if isinstance(node, ast.For))
    named = (loop for loop in loops if any(isinstance(n, ast.Name) and n.id == tree.id for n in walk(loop.target)))
    return any(lists_weights(loop.iter) for loop in named)


def may_have_stepped(tree: ast.AST, ctx: FileFacts) -> bool:
    """Whether a training step may have been taken when a place is reached: in its function, or by a caller before."""
    function = ctx.functions[-1]
    world, path = ctx.world, ctx.analysis.path
    if function is not None and runs_behind_step(function.name, path, world.symbols, world.tree):
        return True
    scope, around = _scope(tree, ctx)
    steps = [unit.backward for unit in ctx.training.units if unit.scope is scope]
    steps += [statement for statement in ctx.training.recorded if _scope(statement, ctx)[0] is scope]
    loops = [node for node in around if isinstance(node, (ast.For, ast.While, ast.AsyncFor))]
    line = getattr(tree, "lineno", 0)
    return any(step.lineno < line or any(step in walk(loop) for loop in loops) for step in steps)


def is_held_elsewhere(weight: ast.expr, ctx: FileFacts) -> bool:
    """Whether the scope of a weight gives its memory another name: ``before = w.detach()``.

    It must see what is written into the weight afterwards, and does not see what replaces that.
    """
    while (inner := _whose_memory(weight)) is not None:
        weight = inner
    held = [
        whose
        for node in walk(_scope(weight, ctx)[0])
        if (whose := _whose_memory(node)) is not None and _is_kept(node, ctx)
    ]
    return any(isinstance(w, ast.Name) or ast.unparse(w) == ast.unparse(weight) for w in held)


def _whose_memory(node: ast.AST) -> ast.expr | None:
    """Return ``w`` of ``w.detach()`` and of ``w.data``, which share its memory."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "detach":
        return node.func.value
    if isinstance(node, ast.Attribute) and node.attr == "data" and isinstance(node.ctx, ast.Load):
        return node.value
    return None


def _is_kept(node: ast.AST, ctx: FileFacts) -> bool:
    """Whether a name or a list holds the very value of an expression."""
    holder = ctx.parent(node)
    if isinstance(holder, ast.Call):
        return isinstance(holder.func, ast.Attribute) and holder.func.attr == "append"
    kinds = (ast.Assign, ast.AnnAssign, ast.NamedExpr, ast.List, ast.Tuple, ast.Dict, ast.ListComp, ast.DictComp)
    return isinstance(holder, kinds)


def _scope(tree: ast.AST, ctx: FileFacts) -> tuple[ast.AST, list[ast.AST]]:
    """Return the function that a node stands in, or the script, and what is around it in there."""
    around: list[ast.AST] = []
    node = ctx.parent(tree)
    while node is not None and not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        around.append(node)
        node = ctx.parent(node)
    return (node if node is not None else ctx.analysis.tree), around


def is_stored_data(tree: ast.Attribute, ctx: FileFacts) -> bool:
    """Whether ``weight.data`` is kept, ``backup[name] = weight.data``, in a file that gives weights other data.

    In PyTorch what is kept stays as it was then; values that are copied into the weight would reach it.
    """
    parent = ctx.parent(tree)
    is_kept = (isinstance(parent, (ast.Assign, ast.AnnAssign, ast.DictComp)) and parent.value is tree) or (
        isinstance(parent, ast.ListComp) and parent.elt is tree
    )
    is_appended = isinstance(parent, ast.Call) and getattr(parent.func, "attr", "") == "append" and tree in parent.args
    if isinstance(parent, ast.Assign) and _is_written_into(parent, ctx):
        return False  # ``w = layer.weight.data; w[w < 0] = 0``: another name for the weight
    return (is_kept or is_appended) and may_be_weight(tree.value, ctx) and ctx.once(_puts_data)


def _is_written_into(node: ast.Assign, ctx: FileFacts) -> bool:
    """Whether a name that an assignment binds is changed in place in its function."""
    names = {target.id for target in node.targets if isinstance(target, ast.Name)}
    scope = _scope(node, ctx)[0]
    added = {getattr(part.target, "id", "") for part in walk(scope) if isinstance(part, ast.AugAssign)}
    return not names.isdisjoint(effects(list(ast.iter_child_nodes(scope))).mutates | added)


def _puts_data(ctx: FileFacts) -> bool:
    stored = (n for n in ctx.analysis.all(ast.Attribute) if n.attr == "data" and isinstance(n.ctx, ast.Store))
    return any(may_be_weight(node.value, ctx) for node in stored)


def is_weight(target: ast.expr, ctx: FileFacts) -> bool:
    """Whether a target is the ``data`` of a weight."""
    is_data = isinstance(target, ast.Attribute) and target.attr == "data"
    return is_data and isinstance(target, ast.Attribute) and may_be_weight(target.value, ctx)


def may_be_weight(tree: ast.expr, ctx: FileFacts) -> bool:
    """Whether an expression is a weight; one that nothing is known of, by its name or by the loop it comes from."""
    kind = ctx.kind(tree)
    if kind.name == "Parameter":
        return True
    by_use = kind.name == "unknown" or (kind.name == "Tensor" and kind.evidence.startswith("only tensors"))
    function = ctx.functions[-1]
    return by_use and looks_like_weight(tree, function.node if function is not None else ctx.analysis.tree)


def is_of_state(tree: ast.expr, ctx: FileFacts) -> bool:
    """Whether a tensor is one of a ``state_dict()``: the network's own, which an optimizer may have begun with.

    ``v.copy_(value)`` keeps the memory that it has, and leaves it one that ``ops.assign`` takes.
    """
    return ctx.kind(tree).evidence.endswith(".state_dict") and ctx.target.mindspore >= _COPIES_SINCE


def is_parameter(tree: ast.expr, ctx: FileFacts) -> bool:
    """Whether an expression is a parameter: it is known to be one, or has its name in a layer that is not known."""
    if ctx.kind(tree).name == "Parameter":
        return True
    if not isinstance(tree, ast.Attribute) or tree.attr not in ("weight", "bias"):
        return False
    return ctx.kind(tree.value).name in ("unknown", "Module")


def has_memory(tree: ast.expr, ctx: FileFacts) -> bool:
    """Whether an expression is a tensor, a weight, or ``weight.data``."""
    if isinstance(tree, ast.Attribute) and tree.attr == "data":
        return has_memory(tree.value, ctx)
    return ctx.kind(tree).is_tensor or is_parameter(tree, ctx)


def holds_data(tree: ast.expr, ctx: FileFacts) -> bool:
    """Whether a name is another one for a weight, ``w = layer.weight.data``: ``w.copy_(value)`` changes both.

    Filled whole, ``w[()] = value``, the weight refuses ``ops.assign`` in MindSpore 2.8, and does not see it in 2.7.
    """
    if ctx.target.mindspore < _COPIES_SINCE:
        return False
    given = _given_to(tree, ctx)
    return bool(given) and all((w := _whose_memory(value)) is not None and is_parameter(w, ctx) for value in given)


def holds_gradient(tree: ast.expr, ctx: FileFacts) -> bool:
    """Whether a name is another one for a gradient, ``d_p = p.grad.data``, where it is read.

    ``d_p.add_(p.data, alpha=decay)``, as optimizers do, changes the gradient that is kept with the weight. A step has
    gradients of its own besides, which others may read behind it: where somebody does, this is no such name.
    """
    if ctx.target.mindspore < _COPIES_SINCE or not isinstance(tree, ast.Name):
        return False
    given = _bound_before(tree, ctx)
    whose = given if given is None else _whose_memory(given) or given
    if not isinstance(whose, ast.Attribute) or whose.attr != "grad":
        return False
    steps = (node for node in ctx.analysis.all(ast.FunctionDef) if node.name == "step")
    inside = {node for scope in (_scope(tree, ctx)[0], *steps) for node in walk(scope)}
    reads = (node for node in ctx.analysis.all(ast.Attribute) if node.attr == "grad" and node not in inside)
    return next(reads, None) is None and not ctx.world.symbols.is_near("asks_for_gradients", ctx.path, besides=True)


def _bound_before(name: ast.Name, ctx: FileFacts) -> ast.expr | None:
    """Return the value that a name always has where it is read; None where several may reach it."""

    def binds(tree: ast.AST) -> bool:
        return any(isinstance(n, ast.Name) and n.id == name.id and isinstance(n.ctx, ast.Store) for n in walk(tree))

    child: ast.AST = name
    while not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        parent = ctx.parent(child)
        if parent is None:
            return None
        block: list[ast.stmt] = next((b for f in ("body", "orelse") if child in (b := _block(parent, f))), [])
        for before in reversed(block[: block.index(child)] if isinstance(child, ast.stmt) and block else []):
            if binds(before):
                single = isinstance(before, ast.Assign) and len(before.targets) == 1
                return before.value if single and isinstance(before, ast.Assign) else None
        if isinstance(parent, (ast.For, ast.While)) and binds(parent):
            return None  # in an earlier round
        child = parent
    return None


def _block(tree: ast.AST, field: str) -> list[Any]:
    found = getattr(tree, field, None)
    return found if isinstance(found, list) else []


def names_parameter(tree: ast.expr, ctx: FileFacts) -> bool:
    """Whether a name is bound to parameters alone: ``w = layer.weight``."""
    given = _given_to(tree, ctx)
    return bool(given) and all(is_parameter(value, ctx) for value in given)


def _given_to(tree: ast.expr, ctx: FileFacts) -> list[ast.expr]:
    """Return the values that a function assigns to a name; none where it is bound in another way as well."""
    if not isinstance(tree, ast.Name):
        return []
    scope = _scope(tree, ctx)[0]
    if isinstance(scope, ast.Lambda) or tree.id in _parameters_of(scope):
        return []
    bound = [node for node in walk(scope) if isinstance(node, ast.Name) and node.id == tree.id and _binds(node, ctx)]
    given = [parent.value for node in bound if isinstance(parent := ctx.parent(node), ast.Assign)]
    return given if len(given) == len(bound) else []


def _binds(name: ast.Name, ctx: FileFacts) -> bool:
    return isinstance(name.ctx, ast.Store) and not isinstance(ctx.parent(name), ast.AugAssign)


def _parameters_of(scope: ast.AST) -> set[str]:
    arguments = getattr(scope, "args", None)
    return {part.arg for part in walk(arguments) if isinstance(part, ast.arg)} if arguments is not None else set()
