"""Calls: a torch call becomes the call its row describes.

Which row answers is decided by resolution (functions, classes) or by the receiver's kind (methods); arguments are bound
to torch's signature, then named, transformed, dropped and added as the row says.
"""

from __future__ import annotations

import ast

import libcst as cst

from torch2ms.diagnostics import CODES, Severity
from torch2ms.mapping_tables.proofs import failure_on
from torch2ms.mapping_tables.schema import DROP, RECEIVER, Row
from torch2ms.translator.context import Context
from torch2ms.translator.rules.call_site import DROPPED, NO_CLASS
from torch2ms.translator.rules.calls.dropped_gradients import step_that_adds
from torch2ms.translator.rules.calls.dynamic import BUILTINS, rewrite_dynamic
from torch2ms.translator.rules.calls.foreign_arguments import as_arrays
from torch2ms.translator.rules.calls.gradient_reads import clip_kept
from torch2ms.translator.rules.calls.inplace_layers import changed_arguments, inplace_layer
from torch2ms.translator.rules.calls.input_gradients import network_input
from torch2ms.translator.rules.calls.kept_features import report_kept
from torch2ms.translator.rules.calls.keyword_expansion import spread_options
from torch2ms.translator.rules.calls.layer_calls import is_chosen_recurrent, named_inputs
from torch2ms.translator.rules.calls.limits import passes_limits
from torch2ms.translator.rules.calls.network_gradients import asked_network, asks_for_networks, with_gradient
from torch2ms.translator.rules.calls.optimizers import (
    call_closure,
    name_apart,
    with_options,
    without_options,
    without_verbose,
)
from torch2ms.translator.rules.calls.optional_packages import asked_member
from torch2ms.translator.rules.calls.out_argument import rewrite_out
from torch2ms.translator.rules.calls.own_mode import has_own_mode
from torch2ms.translator.rules.calls.release_differences import older_call
from torch2ms.translator.rules.calls.replaced_parts import taken_part
from torch2ms.translator.rules.calls.reserved_names import rename_call
from torch2ms.translator.rules.calls.starred import through_function, unpacked
from torch2ms.translator.rules.calls.unbound_methods import as_bound, rewrite_unbound
from torch2ms.translator.rules.calls.untyped_receivers import state_call, told, untyped_call
from torch2ms.translator.rules.emission import STARRED, choose_row, emit_call, fits, with_numbers
from torch2ms.translator.rules.expressions.operators import doubled_arguments, promoted, rewrite_builtin, settled
from torch2ms.translator.rules.made_parameters import owning
from torch2ms.translator.rules.recipes import RECIPES, CallSite, Leave, Replace
from torch2ms.translator.rules.recorded_leaves import made_leaf
from torch2ms.translator.rules.training_units import is_left
from torch2ms.translator.syntax.argument_binding import bind
from torch2ms.translator.syntax.ast_walk import walk
from torch2ms.translator.syntax.cst_builders import build, itself
from torch2ms.translator.values.families import BASE_ROWS
from torch2ms.translator.values.foreign import OF_TENSORS, OF_TENSORS_AND_MORE
from torch2ms.translator.values.kinds import Kind, candidates
from torch2ms.translator.values.queries.edge_cases import by_edges
from torch2ms.translator.values.queries.layer_members import is_forward, of_foreign_class
from torch2ms.translator.values.use_evidence import uses

__all__ = ["is_wrapped_network", "member_row", "rewrite_call"]

_RESETS = frozenset({"torch.optim.Optimizer.zero_grad", "torch.nn.Module.zero_grad"})
_LEFT_OUT = (
    "torch adds the gradients of the weights to those of the step in {line}, which resets them before this call"
    " and not behind it: here they are left out"
)
_SECOND = (
    "PyNative since MindSpore 2.7 forgets parts of second derivatives where a shape changes (reshape, flatten, sums "
    "over an axis, cat); a compiled step, mindspore.jit(grad_fn), has them all: compare the weights that it trains"
)
_PLAIN_TYPES = {"bool": "bool_", "int": "int64", "float": "float64", "complex": "complex128"}


def rewrite_call(node: cst.Call, updated: cst.Call, tree: ast.Call, ctx: Context) -> cst.BaseExpression:
    """Return what a call becomes; ``updated`` has its arguments and receiver translated already."""
    if tree in ctx.training.leaves.plain and isinstance(updated.func, cst.Attribute):
        ctx.account(tree.func, "torch.Tensor.requires_grad_", "removed")
        return updated.func.value
    if tree in ctx.training.formal:
        ctx.account(tree.func, "torch.is_grad_enabled", "removed")
        return updated
    if tree in ctx.training.closure_calls:
        return call_closure(updated, tree, ctx)
    if tree in ctx.training.handled:
        _look_at_gradient(tree, ctx)
        name = ctx.training.leaves.inner.get(tree)
        return updated if name is None else cst.Name(name)
    callee = ctx.kind(tree.func)
    updated = _with_dtype(rename_call(updated, tree, ctx), tree, callee, ctx)
    if callee.name == "api":
        if not ctx.is_import_root(tree.func):
            return updated
        if (asked := asked_network(tree, ctx)) is not None:
            return asked
        filled = rewrite_out(updated, tree, ctx, lambda new, plain: _api_call(node, new, plain, callee, ctx))
        return _api_call(node, updated, tree, callee, ctx) if filled is None else filled
    report_kept(tree, ctx)
    if (member := asked_member(tree, ctx)) is not None:
        return member
    if callee.name in ("Module", "function"):
        changed_arguments(tree, ctx)
    if callee.name == "function" and asks_for_networks(ctx):
        updated = with_gradient(updated, tree, ctx)
    if callee.name == "Module" or is_chosen_recurrent(tree, ctx):
        return named_inputs(inplace_layer(updated, tree, ctx), tree, callee, ctx)
    of_tensors = OF_TENSORS if len(tree.args) == 1 else OF_TENSORS_AND_MORE
    if callee.name == "module" and callee.of in of_tensors and not tree.keywords:
        row = ctx.tables.row(of_tensors[callee.of])
        if row is not None and ctx.kind(tree.args[0]).is_tensor and not _makes_number(tree, ctx):
            return _row_call(row, updated, tree, ctx, None)
    if isinstance(tree.func, ast.Name) and tree.func.id in ("isinstance", "issubclass") and len(updated.args) == 2:
        return _class_test(updated, tree, ctx)
    if _is_dynamic(tree.func):
        return rewrite_dynamic(updated, tree, ctx)
    if isinstance(tree.func, ast.Attribute):
        taken = updated if is_wrapped_network(tree.func, ctx) else taken_part(updated, tree, ctx)
        if taken is not None:
            return taken
        found = member_row(ctx, tree.func)
        if found is not None and not _is_own_method(*found, updated, tree, ctx):
            row, base = found
            return _row_call(row, updated, tree, ctx, base)
        own = _of_network(updated, tree.func, ctx)
        if own is not None:
            return own
        if not ctx.kind(tree.func.value).known:
            if tree.func.attr == "zero_grad" and is_left(tree, ctx):
                ctx.report("T2M402", tree, _STAYS)
            either = untyped_call(_row_call, updated, tree, ctx)
            if either is not None:
                return either
    return rewrite_builtin(as_arrays(older_call(updated, tree, callee, ctx), tree, callee, ctx), tree, ctx)


def _is_own_method(row: Row, base: Kind, updated: cst.Call, tree: ast.Call, ctx: Context) -> bool:
    """Whether a network of unknown class is asked for a method of the project: torch's takes no such arguments."""
    if base.name != "Module" or not ctx.world.symbols.definers(row.name.rpartition(".")[2]):
        return False
    return bool(getattr(bind(tree, updated, ctx.tables.signature(row.name)), "surplus", ()))


def _look_at_gradient(tree: ast.Call, ctx: Context) -> None:
    """Say where a gradient that is asked for by hand is not all that torch computes."""
    leaves = ctx.training.leaves
    lossy = leaves.lossy.get(tree)
    if lossy is not None and network_input(lossy, ctx) is None:
        ctx.report("T2M303", tree, _SECOND)
    line = step_that_adds(tree, ctx)
    if line:
        leaves.noted.add(tree)
        ctx.report("T2M303", tree, _LEFT_OUT.format(line=line), advice="reset the gradients behind the attack")


def _with_dtype(updated: cst.Call, tree: ast.Call, callee: Kind, ctx: Context) -> cst.Call:
    """Return a call with ``dtype=bool``, one of Python's types, as MindSpore's: torch takes either."""
    given = next((word.value for word in tree.keywords if word.arg == "dtype"), None)
    name = _PLAIN_TYPES.get(given.id) if isinstance(given, ast.Name) and not ctx.kind(given).known else None
    is_method = isinstance(tree.func, ast.Attribute) and ctx.kind(tree.func.value).is_tensor
    if name is None or not (is_method or (callee.name == "api" and callee.of.startswith("torch."))):
        return updated
    made = ctx.reference(f"mindspore.{name}")
    args = [
        arg.with_changes(value=made) if arg.keyword is not None and arg.keyword.value == "dtype" else arg
        for arg in updated.args
    ]
    return updated.with_changes(args=args)


def _of_network(updated: cst.Call, func: ast.Attribute, ctx: Context) -> cst.BaseExpression | None:
    """Return a call of a method that networks of the program have of their own, or some of them."""
    if is_forward(func, ctx) and isinstance(updated.func, cst.Attribute):
        return updated.with_changes(func=updated.func.with_changes(attr=cst.Name("construct")))
    if ctx.kind(func.value).name != "Module" or not isinstance(updated.func, cst.Attribute):
        return None
    if func.attr == "extra_repr":
        return updated.with_changes(func=updated.func.with_changes(attr=cst.Name("extend_repr")))
    return state_call(updated, func, ctx)


def _makes_number(tree: ast.Call, ctx: Context) -> bool:
    """Whether numpy's result only becomes a number, which it does of MindSpore's tensors as well: ``int(np.ceil(n))``.

    What a network is given besides its first input may be a number that nothing tells from a tensor.
    """
    parent = ctx.parent(tree)
    return isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) and parent.func.id in ("int", "float")


def is_wrapped_network(func: ast.expr, ctx: Context) -> bool:
    """Whether the callee is what a wrapper for several devices holds, ``model.module(x)``: a value, and no method."""
    return isinstance(func, ast.Attribute) and func.attr == "module" and ctx.kind(func).name in ("Module", "unknown")


_DECIDING = (ast.If, ast.IfExp, ast.While, ast.BoolOp, ast.UnaryOp, ast.Assert, ast.comprehension)


def _class_test(updated: cst.Call, tree: ast.Call, ctx: Context) -> cst.BaseExpression:
    """Return an isinstance test without the classes that nothing is an instance of.

    A test that only decides what is done says by its False how the unwrapped network is treated; one that is shown or
    kept says something else than in PyTorch.
    """
    classes = updated.args[1].value
    if classes is NO_CLASS:
        if not isinstance(ctx.parent(tree), _DECIDING):
            ctx.report(
                "T2M303", tree, "a wrapped network is the network itself in MindSpore: the answer is always False"
            )
        return cst.Name("False")
    if not isinstance(classes, cst.Tuple):
        return updated
    left = [element for element in classes.elements if element.value is not NO_CLASS]
    if len(left) == len(classes.elements):
        return updated
    if not left:
        return cst.Name("False")
    new = left[0].value if len(left) == 1 else classes.with_changes(elements=left)
    return updated.with_changes(args=[updated.args[0], updated.args[1].with_changes(value=new)])


# What stays together with a training step that stays: the T2M402 at its backward call speaks for all of it.
_STEP_PARTS = frozenset(
    f"torch.{name}"
    for name in ("Tensor.backward", "optim.Optimizer.zero_grad", "nn.Module.zero_grad", "optim.Optimizer.step")
)


_STAYS = "part of a training step that stays as it is"


def _is_dynamic(func: ast.expr) -> bool:
    name = func.id if isinstance(func, ast.Name) else getattr(func, "attr", "")
    return name in BUILTINS and (isinstance(func, ast.Name) or name == "import_module")


def _api_call(node: cst.Call, updated: cst.Call, tree: ast.Call, callee: Kind, ctx: Context) -> cst.BaseExpression:
    if tree in ctx.training.kept_clips:
        return clip_kept(updated, tree, ctx)
    names = candidates(callee)
    made = rewrite_unbound(updated, tree, names[0], ctx) if len(names) == 1 else None
    if made is not None:
        return made
    row = choose_row(ctx, tree.func, names)
    if row is None:
        return ctx.left_call(updated, tree, names[0]) if len(names) == 1 else updated
    if row.kind != "method":
        return _row_call(row, *without_verbose(updated, tree, row.name, ctx), ctx, None)
    bound = as_bound(updated, tree, row.name, ctx)
    if bound is None:
        return _left(row, updated, tree, ctx, ["it is called through its class"], None)
    ctx.account(tree.func, row.name, "mapped")
    code, plain, receiver = bound
    return _row_call(row, code, plain, ctx, receiver)


def member_row(ctx: Context, func: ast.Attribute) -> tuple[Row, Kind] | None:
    """Return the row that answers for ``receiver.name``, with the receiver's kind; None when it is none of torch's."""
    base = ctx.kind(func.value)
    if (row := of_foreign_class(ctx, func, base)) is not None:
        return row, Kind("Module", evidence=f"only networks have .{func.attr}")
    if base.evidence in ("self", "super") and base.name != "Module" and func.attr not in _LACKING:
        return None
    if base.name in ("unknown", "none"):  # None has no members: another function of the file binds the name anew
        base = told(func, ctx)
        if not base.known:
            return None
    elif base.is_tensor and func.attr == "values" and not _is_sparse(func.value, ctx):
        return None  # of a dictionary that a network returned, or was given
    elif base.is_tensor and ctx.tables.kind_of_name(f"torch.Tensor.{func.attr}") is None:
        likely = told(func, ctx)  # what was moved to a device is taken for a tensor: ``self.build().to(device)``
        base = likely if likely.name in ("Module", "Optimizer") else base
    for key in candidates(base) if base.name not in ("Tensor", "dtype") else ():
        if ":" in key and ctx.world.sets(key, func.attr):
            if func.attr == "train" and has_own_mode(key, ctx.world):
                continue  # torch's, overridden
            return None  # the project's own method or attribute
    for owner in ctx.world_owners(base):
        row = ctx.tables.row(f"{owner}.{func.attr}")
        if row is not None:
            return row, base
    if func.attr in _ONLY_OF and base.name == "Module":
        row = ctx.tables.row(f"{_ONLY_OF[func.attr]}.{func.attr}")
        if row is not None:
            return row, base
    _unknown_member(ctx, func, base)
    return None


# Members that classes of the project find in torch's base, and not in MindSpore's
_LACKING = frozenset({"_step_count"})

# Members that one family of torch's layers has, where all that is known is that a list holds layers
_ONLY_OF = {"flatten_parameters": "torch.nn.RNNBase"}

_OF_SPARSE = frozenset({"indices", "_indices", "_values", "coalesce", "is_coalesced", "_nnz", "to_dense"})


def _is_sparse(tree: ast.expr, ctx: Context) -> bool:
    """Whether a tensor is sparse: by the call that makes it, or by what it is asked."""
    found = uses(ctx.analysis.tree).of(tree)
    if not _OF_SPARSE.isdisjoint(found.read):
        return True
    return any(_makes_sparse(part, ctx) for value in (tree, *found.values) for part in walk(value))


def _makes_sparse(node: ast.AST, ctx: Context) -> bool:
    if not isinstance(node, ast.Call):
        return False
    callee = ctx.kind(node.func)
    if callee.name == "api":
        return "sparse" in callee.of
    name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    return name == "coalesce" or (name.startswith("to_sparse") and not ctx.world.symbols.definers(name))


def _unknown_member(ctx: Context, func: ast.Attribute, base: Kind) -> None:
    """Report a member that torch's class has and the tables do not name."""
    owner = BASE_ROWS.get(base.name)
    if owner is None or func.attr.startswith("__"):
        return
    if base.evidence.startswith("result of a") and func.attr in ("values", "keys", "items"):
        return  # of a network nothing is known of, which returns a dictionary
    name = f"{owner}.{func.attr}"
    if ctx.tables.kind_of_name(name) is not None:
        ctx.account(func, name, "unknown")
        ctx.report("T2M202", func, f"{name} is not in the mapping tables", symbol=name)


def _row_call(row: Row, updated: cst.Call, tree: ast.Call, ctx: Context, receiver: Kind | None) -> cst.BaseExpression:
    if row.name in _STEP_PARTS and is_left(tree, ctx):
        ctx.account(tree.func, row.name, "unsupported", advice="part of a training step that stays as it is")
        if row.name.endswith(".zero_grad"):  # runs before the backward call, and fails
            ctx.report("T2M402", tree, _STAYS, symbol=row.name)
        return updated
    if row.keep:
        ctx.account(tree.func, row.name, "kept", advice=row.keep)
        if ctx.is_import_root(tree.func):
            message = f"{row.name} stays torch's"
            ctx.report("T2M307", tree, message, symbol=row.name, advice=row.keep, severity=Severity.ERROR)
        return ctx.left_call(updated, tree, row.name)
    if row.unsupported:
        ctx.account(tree.func, row.name, "unsupported", advice=row.unsupported)
        ctx.report("T2M201", tree, f"{row.name} has no MindSpore equivalent", symbol=row.name, advice=row.unsupported)
        return ctx.left_call(updated, tree, row.name)
    plain = without_options(updated, tree, row.name)
    if plain is not None:
        return with_options(_row_call(row, *plain, ctx, receiver), updated, ctx)
    whole = settled(row, updated, tree, ctx)
    if whole is not None:
        return whole
    updated = promoted(row, updated, tree, ctx, is_method=receiver is not None) or updated
    updated = doubled_arguments(row, updated, tree, ctx, is_method=receiver is not None)
    if row.name == "torch.nn.Parameter" and tree.args:
        first = updated.args[0].with_changes(value=owning(updated.args[0].value, tree.args[0], ctx))
        updated = updated.with_changes(args=[first, *updated.args[1:]])
    if row.name in _OF_DATA and updated.args and _is_range(tree):
        first = updated.args[0].with_changes(value=build("list({x})", x=updated.args[0].value))
        updated = updated.with_changes(args=[first, *updated.args[1:]])
    options = ctx.tables.select(row, ctx.target)
    if not options:
        code = "T2M204" if row.to and ctx.tables.select(row, ctx.newest_portable) else "T2M205"
        where = str(ctx.target)
        ctx.account(tree.func, row.name, "unsupported", advice=f"not available for {where}")
        ctx.report(code, tree, f"{row.name} has no equivalent for {where}", symbol=row.name)
        return ctx.left_call(updated, tree, row.name)
    _tell_failure(row, tree, ctx)
    bound = with_numbers(bind(tree, updated, ctx.tables.signature(row.name)), row, tree, ctx)
    obstacles: list[str] = []
    for option in by_edges(options, tree, ctx):
        obstacle = fits(option, bound, row, ctx)
        if obstacle is not None:
            obstacles.append(obstacle)
            continue
        site = CallSite(row, option, tree, updated, bound, _receiver(updated, tree, receiver), receiver)
        try:
            made = made_leaf(_apply(site, ctx), site, ctx)
        except Exception as error:  # a fault of ours costs this call, not the file
            ctx.account(tree.func, row.name, "unsupported", advice="torch2ms failed here")
            ctx.report("T2M900", tree, f"{row.name}: {type(error).__name__}: {error}", symbol=row.name)
            return ctx.left_call(updated, tree, row.name)
        if isinstance(made, Replace):
            _note(made, site, ctx)
            if made.code is DROPPED and site.receiver is not None and _does_more(tree.func):
                return site.receiver  # only this call goes: ``net.eval().cpu()`` still sets the mode
            return name_apart(made.code, site, ctx)
        obstacles.append(made.message)
    return _left(row, updated, tree, ctx, obstacles, receiver)


_OF_DATA = frozenset({"torch.tensor", "torch.as_tensor"})


def _tell_failure(row: Row, tree: ast.Call, ctx: Context) -> None:
    """Say at the call when the examples of its row were executed on the device that was chosen, and failed there."""
    target = ctx.target
    if target.device != "gpu":
        return
    failure = failure_on(row.name, target.device.upper(), f"{target.mindspore[0]}.{target.mindspore[1]}")
    if failure:
        message = f"{row.name} failed on {target.device.upper()} when its examples were executed: {failure}"
        ctx.report("T2M204", tree, message, symbol=row.name, severity=Severity.WARNING)


def _is_range(tree: ast.Call) -> bool:
    """Whether data is a range, which MindSpore does not take: ``torch.tensor(range(n))``."""
    data = tree.args[0] if tree.args else None
    return isinstance(data, ast.Call) and isinstance(data.func, ast.Name) and data.func.id == "range"


def _does_more(func: ast.expr) -> bool:
    """Whether something else is called on the way to a method."""
    return any(isinstance(node, ast.Call) for node in walk(func))


def _does_more_than_itself(tree: ast.Call) -> bool:
    """Whether something happens besides a call: another one within it, or a name that it binds."""
    return any(node is not tree and isinstance(node, (ast.Call, ast.NamedExpr, ast.Await)) for node in walk(tree))


def _apply(site: CallSite, ctx: Context) -> Replace | Leave:
    option = site.option
    if option.recipe is not None:
        recipe = RECIPES.get(option.recipe)
        return recipe(site, ctx) if recipe is not None else Leave(f"the recipe {option.recipe} is not there yet")
    if option.target == DROP and site.row.name in _RESETS and ctx.training.is_keeping and site.receiver is not None:
        return Replace(cst.Call(ctx.reference("torch2ms.runtime.gradients.reset"), [cst.Arg(site.receiver)]))
    if option.target == DROP:
        if isinstance(ctx.small, ast.Expr) and ctx.small.value is site.tree:
            return Replace(DROPPED, codes=(("T2M304", f"{site.row.name} has no effect in MindSpore; dropped"),))
        if site.row.returns == "none" and site.row.name not in _RESETS and not _does_more_than_itself(site.tree):
            return Replace(cst.Name("None"), codes=(("T2M304", f"{site.row.name} has no effect in MindSpore"),))
        return Leave("its value is used, and MindSpore has none")
    if option.target == RECEIVER:
        if site.receiver is not None:
            return Replace(itself(site.receiver))
        first = next(iter(site.bound), None) if site.bound is not None else None
        return Replace(first.code) if first is not None else Leave("there is nothing to stand for the call")
    return emit_call(site, ctx)


def _receiver(updated: cst.Call, tree: ast.Call, kind: Kind | None) -> cst.BaseExpression | None:
    if kind is None or not isinstance(updated.func, cst.Attribute):
        return None
    return updated.func.value


def _note(made: Replace, site: CallSite, ctx: Context) -> None:
    option, row = site.option, site.row
    status = "removed" if option.target in (DROP, RECEIVER) else "mapped"
    ctx.account(site.tree.func, row.name, status, "" if status == "removed" else option.target, option.fidelity)
    for code in option.codes:
        ctx.report(code, site.tree, f"{row.name}: {option.notes or CODES[code].meaning}", symbol=row.name)
    for code, message in made.codes:
        ctx.report(code, site.tree, message, symbol=row.name)
    if option.fidelity != "exact" and not option.codes:
        level = Severity.WARNING if passes_limits(option, site.tree, ctx) else Severity.NOTE
        ctx.report("T2M303", site.tree, f"{row.name}: {option.notes}", symbol=row.name, severity=level)


def _left(
    row: Row, updated: cst.Call, tree: ast.Call, ctx: Context, obstacles: list[str], receiver: Kind | None
) -> cst.BaseExpression:
    bound = bind(tree, updated, ctx.tables.signature(row.name))
    splat = bound is not None and bound.splat
    shown = unpacked(updated, tree, ctx) if splat and row.kind != "class" else None
    if shown is not None:
        return _row_call(row, *shown, ctx, receiver)
    adapter = _adapted(row, updated, tree, ctx) if row.kind == "class" or splat else None
    if adapter is not None:
        return adapter
    spread = spread_options(updated, tree, ctx) if splat else None
    if spread is not None:
        return _row_call(row, *spread, ctx, receiver)
    if bound is not None and STARRED in obstacles:
        function = through_function(
            updated, tree, bound.signature, lambda code, inner: _row_call(row, code, inner, ctx, receiver), ctx
        )
        if function is not None:
            return function
    reason = obstacles[-1] if obstacles else "no alternative fits"
    ctx.account(tree.func, row.name, "unsupported", advice=reason)
    ctx.report("T2M203", tree, f"{row.name}: {reason}", symbol=row.name)
    return ctx.left_call(updated, tree, row.name)


def _adapted(row: Row, updated: cst.Call, tree: ast.Call, ctx: Context) -> cst.BaseExpression | None:
    """Fall back to the runtime's class or function with torch's own signature: no argument needs rewriting.

    That of a method takes the receiver first.
    """
    if not row.adapter or row.kind not in ("class", "function", "method"):
        return None
    if row.kind == "method":
        if not isinstance(updated.func, cst.Attribute):
            return None
        receiver = cst.Arg(updated.func.value, comma=cst.Comma(whitespace_after=cst.SimpleWhitespace(" ")))
        updated = updated.with_changes(args=[receiver, *updated.args])
    ctx.account(tree.func, row.name, "mapped", row.adapter, "exact")
    return updated.with_changes(func=ctx.reference(row.adapter, tree.func))
