"""Receivers nobody knows the kind of: told by what is called on them, or reported where it would matter.

A name that only tensors have tells a tensor. A name that arrays or strings have as well tells nothing: then the call is
translated for a trial as a tensor's and as a network's. Where that would change it on a tensor, both forms are written
and the value decides; where that cannot be, T2M207 says so.
"""

from __future__ import annotations

import ast
from typing import Protocol

import libcst as cst

from torch2ms.diagnostics import Severity
from torch2ms.mapping_tables.catalogue import shared_members
from torch2ms.mapping_tables.schema import Row
from torch2ms.translator.context import Context
from torch2ms.translator.rules.dtype_names import floating_type
from torch2ms.translator.rules.recipes.devices import SETTINGS
from torch2ms.translator.rules.recorded_leaves import marked_untyped
from torch2ms.translator.syntax.argument_binding import literal
from torch2ms.translator.syntax.ast_walk import walk
from torch2ms.translator.syntax.cst_builders import build, code_of
from torch2ms.translator.values.dtypes import family as dtype_family
from torch2ms.translator.values.families import BASE_ROWS, MODULE_BARE
from torch2ms.translator.values.kinds import UNKNOWN, Kind, KindName, candidates
from torch2ms.translator.values.queries.device_arguments import describes_device, describes_dtype, is_used_as_device
from torch2ms.translator.values.queries.layer_members import is_settings
from torch2ms.translator.values.use_evidence import is_optimizer, is_schedule, uses

__all__ = ["RowCall", "told", "untyped_call"]

_FAMILIES: tuple[tuple[KindName, str], ...] = (("Tensor", "tensor"), ("Module", "network"))
# No value of a tensor, and hardly an argument of a tensor's method.
_NOT_TENSORS = ("str", "Module", "class", "function", "api", "module", "dict")
# What data frames have and tensors do not: the result is no tensor, though it has ``size()`` and ``sum()``.
_GROUPINGS = frozenset({"expanding", "ewm", "groupby", "resample", "rolling"})
# What strings and containers have as well, and tensors hardly ever: only the arguments can tell a tensor.
_BUILTIN = frozenset({"add", "index", "sort", "split", "sub", "subtract", "values"})


# What classes of the project may have as well; the runtime gives it as plain numbers, whoever is asked.
_OF_ANYTHING = frozenset({"param_groups"})


class RowCall(Protocol):
    """What translates a call by a row for a receiver of some kind (``rules.calls.torch_calls``)."""

    def __call__(
        self, row: Row, updated: cst.Call, tree: ast.Call, ctx: Context, receiver: Kind | None
    ) -> cst.BaseExpression:
        """Return what the call becomes."""


def told(func: ast.Attribute, ctx: Context) -> Kind:
    """Return the kind of ``x`` that ``x.name`` tells where it stands; UNKNOWN when it may be many things."""
    call = ctx.parent(func)
    if _is_grouped(func.value, ctx):
        return UNKNOWN
    if not isinstance(call, ast.Call) or call.func is not func:
        told_by_name = ctx.world.evidence.of_attribute(func.attr)
        if not told_by_name.known and func.attr in _OF_ANYTHING and isinstance(func.ctx, ast.Load):
            return Kind("Optimizer", evidence=f"the runtime gives the .{func.attr} of anything")
        return told_by_name
    if func.attr in MODULE_BARE:
        return _network_mode(func, call, ctx)
    if func.attr == "get_last_lr":
        return Kind("Scheduler", evidence="the runtime gives the rates of anything that has .get_last_lr")
    if func.attr == "requires_grad_" and ctx.small is not None and ctx.small in ctx.analysis.remade:
        return Kind("Tensor", evidence="its gradient is asked for")
    if func.attr == "flatten_parameters":
        return Kind("Module", "torch.nn.LSTM", evidence="only recurrent layers have .flatten_parameters")
    kind = ctx.world.evidence.of_call(func.attr)
    if not kind.known:
        kind = ctx.world.evidence.of_either(func.attr)
    if kind.name == "Tensor" and (is_settings(func.value, ctx) or not ctx.world.evidence.takes(func.attr, call)):
        return UNKNOWN
    if not kind.known and func.attr in _ALSO_NETWORKS and _is_used_as_network(func.value, ctx):
        return Kind("Module", evidence="the file uses it as a network elsewhere")
    if not kind.known and func.attr in _STATE:
        kind = _stepping(func.value, ctx)
    if not kind.known:
        kind = ctx.world.evidence.of_chain(_chain(func, ctx))
    if not kind.known and _is_tensor_call(func, call, ctx):
        return Kind("Tensor", evidence=f".{func.attr}(...) with such arguments is a tensor's")
    return kind


def _is_grouped(tree: ast.expr, ctx: Context) -> bool:
    """Whether a value is the groups of a data frame, or made of them: ``frame.groupby("user")["item"]``."""
    return _starts_grouped(tree) or (isinstance(tree, ast.Name) and tree.id in ctx.once(_grouped_names))


def _starts_grouped(tree: ast.expr) -> bool:
    while isinstance(tree, (ast.Call, ast.Attribute, ast.Subscript)):
        tree = tree.func if isinstance(tree, ast.Call) else tree.value
        if isinstance(tree, ast.Attribute) and tree.attr in _GROUPINGS:
            return True
    return False


def _grouped_names(ctx: Context) -> frozenset[str]:
    """Return the names of a file that are bound to groups of data frames only."""
    grouped: set[str] = set()
    others: set[str] = set()
    if _GROUPINGS.isdisjoint(node.attr for node in ctx.analysis.all(ast.Attribute)):
        return frozenset()
    for node in ctx.analysis.all(ast.Assign):
        names = {target.id for target in node.targets if isinstance(target, ast.Name)}
        (grouped if _starts_grouped(node.value) else others).update(names)
    return frozenset(grouped - others - {node.arg for node in ctx.analysis.all(ast.arg)})


def _chain(func: ast.Attribute, ctx: Context) -> tuple[str, ...]:
    """Return the members that a chain goes through from here on: ``x.max(1)[1].cpu().numpy()``."""
    found: list[str] = []
    node: ast.AST | None = func
    child: ast.AST | None = None
    while node is not None:
        if isinstance(node, ast.Attribute):
            found.append(node.attr)
        elif not (isinstance(node, ast.Call) and node.func is child) and not (
            isinstance(node, ast.Subscript) and node.value is child
        ):
            break
        child, node = node, ctx.parent(node)
    return tuple(found)


def _network_mode(func: ast.Attribute, call: ast.Call, ctx: Context) -> Kind:
    """``x.eval()`` and ``x.train()`` are a network's, unless the project has them on something else.

    What ``x.train()`` gives may be anything, where it is used; what ``x.eval()`` gives is the network.
    """
    small = ctx.small
    if not (isinstance(small, ast.Expr) and small.value is call):
        plain = func.attr == "eval" and not call.args and not call.keywords
        known = plain and ctx.world.evidence.is_free("eval", "Module")
        return Kind("Module", evidence=".eval() is a network's") if known else UNKNOWN
    if call.args or call.keywords:
        used = func.attr == "train" and len(call.args) + len(call.keywords) == 1
        return (
            Kind("Module", evidence="used as a network") if used and _is_used_as_network(func.value, ctx) else UNKNOWN
        )
    known = ctx.world.evidence.is_free(func.attr, "Module") or _is_used_as_network(func.value, ctx)
    if not known and not (func.attr == "eval" and uses(ctx.analysis.tree).of(func.value).called):
        return UNKNOWN
    return Kind("Module", evidence=f".{func.attr}() is a network's")


_NETWORK_WORDS = frozenset({"parameters", "named_parameters", "named_modules", "modules", *MODULE_BARE})


# What optimizers, schedulers and tensors answer to as well
_ALSO_NETWORKS = frozenset(
    {"load_state_dict", "state_dict", "zero_grad", "apply", "requires_grad_", "to", "half", "float"}
)


_STATE = frozenset({"state_dict", "load_state_dict"})


def _stepping(receiver: ast.expr, ctx: Context) -> Kind:
    """An optimizer or a schedule by what else is done with it, where its state is asked for."""
    found = uses(ctx.analysis.tree).of(receiver)
    if _is_used_as_network(receiver, ctx):
        return UNKNOWN
    if is_schedule(found):
        return Kind("Scheduler", evidence="is asked for its learning rates")
    return Kind("Optimizer", evidence="steps, and resets gradients") if is_optimizer(found) else UNKNOWN


def _is_used_as_network(receiver: ast.expr, ctx: Context) -> bool:
    """Whether the file calls something on the same name that only networks have."""
    name = ast.unparse(receiver)
    for node in ctx.analysis.nodes:
        if not isinstance(node, ast.Attribute) or node.attr not in _NETWORK_WORDS or ast.unparse(node.value) != name:
            continue
        if isinstance(ctx.parent(node), ast.Call) and ctx.world.evidence.is_free(node.attr, "Module"):
            return True
    return name.startswith("self.") and _is_network_of_bases(name, ctx)


def _is_network_of_bases(name: str, ctx: Context) -> bool:
    """Whether a class above, of another file, calls something on the same attribute that only networks have."""
    function = ctx.functions[-1]
    owner = function.owner if function is not None else None
    for key in ctx.world.ancestry(owner.key)[1:] if owner is not None else ():
        info = ctx.world.class_info(key) if ":" in key else None
        for node in walk(info.node) if info is not None else ():
            func = node.func if isinstance(node, ast.Call) else None
            if not isinstance(func, ast.Attribute) or func.attr not in _NETWORK_WORDS:
                continue
            if ast.unparse(func.value) == name and ctx.world.evidence.is_free(func.attr, "Module"):
                return True
    return False


def _is_tensor_call(func: ast.Attribute, call: ast.Call, ctx: Context) -> bool:
    """Whether the arguments tell: ``x.size(0)``, ``x.max(dim=1)``, ``x.to(device)``, ``x.to(torch.float16)``."""
    if ctx.tables.row(f"torch.Tensor.{func.attr}") is None:
        return False
    if func.attr in _OF_NETWORKS_TOO and isinstance(func.value, (ast.Compare, ast.BinOp, ast.UnaryOp)):
        return True
    if func.attr == "type" and len(call.args) == 1 and _is_whole_type(ctx.kind(call.args[0])):
        return True
    names = {keyword.arg for keyword in call.keywords}
    if func.attr == "to" and not call.args and names and names <= {"device", *SETTINGS}:
        return ctx.world.evidence.is_free("to", "Tensor")
    if func.attr == "to" and call.args:
        kind = ctx.kind(call.args[0])
        told = not kind.known and (describes_device(call.args[0], ctx) or describes_dtype(call.args[0], ctx))
        told = told or (kind.name == "str" and is_used_as_device(call.args[0], ctx))  # "cuda" if ... else "cpu"
        return kind.name in ("device", "dtype") or told or (kind.name == "api" and ctx.is_import_root(call.args[0]))
    if func.attr == "size" and _is_axis(call, ctx):
        return True
    if not ctx.world.evidence.is_free(func.attr, "Tensor"):
        return False
    if func.attr == "size":
        return len(call.args) <= 1 and all(keyword.arg == "dim" for keyword in call.keywords)
    if func.attr == "split" and len(call.args) == 2:  # sizes and an axis: a text takes a text first
        return [ctx.kind(arg).name for arg in call.args] in (["int", "int"], ["list", "int"], ["tuple", "int"])
    return bool(names & {"dim", "keepdim"}) and ctx.world.evidence.takes(func.attr, call)


# Methods that tensors have in common with networks, which no operator gives
_OF_NETWORKS_TOO = frozenset({"float", "double", "half", "bfloat16", "type", "to", "cuda", "cpu"})


def _is_whole_type(kind: Kind) -> bool:
    """Whether a value is a dtype or type of integers or booleans, which no network computes in."""
    name = kind.of.rpartition(".")[2]
    return kind.name in ("api", "dtype") and (
        dtype_family(kind.of) in ("int", "bool") or name in ("LongTensor", "IntTensor", "ByteTensor", "BoolTensor")
    )


def _is_axis(call: ast.Call, ctx: Context) -> bool:
    """Whether ``x.size(0)`` or ``n, c = x.size()`` asks for lengths of axes: a data set's ``size`` wants an index."""
    if call.keywords or not ctx.world.evidence.is_free("size", "Tensor"):
        return False  # ``rows, columns = memory.size()`` of a class of the project
    if not call.args:
        parent = ctx.parent(call)
        targets = parent.targets if isinstance(parent, ast.Assign) else []
        return any(isinstance(target, ast.Tuple) and len(target.elts) > 1 for target in targets)
    text = ast.unparse(call.args[0])
    return len(call.args) == 1 and text in ("0", "1", "2", "3", "-1", "-2", "-3")


def untyped_call(row_call: RowCall, updated: cst.Call, tree: ast.Call, ctx: Context) -> cst.BaseExpression | None:
    """Return a method call in both of its forms where the receiver could not be typed, or report it; None: it stays."""
    func = tree.func
    if not isinstance(func, ast.Attribute) or func.attr.startswith("__"):
        return None
    made = state_call(updated, func, ctx)
    if made is not None:
        return made
    if _may_be_step(tree, func, ctx):
        message = f"{ast.unparse(func.value)} could not be typed; .step changes if it is an optimizer"
        ctx.report("T2M207", func, message, symbol="torch.optim.Optimizer.step")
        return None
    if (leaf := marked_untyped(updated, tree, ctx)) is not None:
        return leaf
    made = _of_type(updated, tree, ctx) or _cast(updated, tree, ctx) or _of_tensor_or_size(updated, tree, ctx)
    if made is not None:
        return made
    for family, word in _FAMILIES:
        name = f"{BASE_ROWS[family]}.{func.attr}"
        row = ctx.tables.row(name)
        if row is None or row.kind not in ("method", "function") or name not in ctx.tables.catalogue.names:
            continue  # ``save`` is one of scripted networks alone
        if family == "Tensor" and _is_none_of_tensors(func, tree, ctx):
            continue
        if not ctx.world.evidence.takes(func.attr, tree, family):
            continue  # frame.apply(lambda row: row.month, 1) is no network's
        changes, alone = _changes(row_call, row, updated, tree, ctx, Kind(family))
        message = f"{ast.unparse(func.value)} could not be typed; .{func.attr} changes if it is a {word}"
        if changes and alone and family == "Tensor" and _is_same_of_networks(row_call, row, updated, tree, ctx):
            return row_call(row, updated, tree, ctx, Kind(family))
        if changes and alone and family == "Tensor" and _has_two_forms(func, ctx):
            ctx.report("T2M207", func, f"{message}: both forms were written", symbol=name, severity=Severity.NOTE)
            return _either(row_call(row, updated, tree, ctx, Kind(family)), updated, tree, ctx)
        if changes:
            ctx.report("T2M207", func, message, symbol=name)
            return None
        if family == "Tensor":
            return None  # right as it stands on a tensor; that it is a network is far less likely
    return None


def _may_be_step(tree: ast.Call, func: ast.Attribute, ctx: Context) -> bool:
    """Whether ``x.step()`` stands alone in a function without a backward call, and nothing tells what ``x`` is."""
    alone = isinstance(ctx.parent(tree), ast.Expr) and func.attr == "step" and not tree.args and not tree.keywords
    function = ctx.functions[-1] if alone else None
    if function is None or ctx.kind(func.value).known or not ctx.world.evidence.is_free("step", "Optimizer"):
        return False
    calls = {n.func.attr for n in walk(function.node) if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)}
    return "backward" not in calls and not is_schedule(uses(ctx.analysis.tree).of(func.value))


def _of_type(updated: cst.Call, tree: ast.Call, ctx: Context) -> cst.BaseExpression | None:
    """Return ``states.of_type(x, ms.float32)`` for ``x.type(torch.FloatTensor)`` of a tensor or a network."""
    if getattr(tree.func, "attr", "") != "type" or len(tree.args) != 1 or tree.keywords or len(updated.args) != 1:
        return None
    dtype = floating_type(tree.args[0], updated.args[0].value, ctx)
    if dtype is None or not isinstance(updated.func, cst.Attribute):
        return None
    of_type = ctx.reference("torch2ms.runtime.states.of_type")
    return build("{of}({x}, {dtype})", of=of_type, x=updated.func.value, dtype=dtype)


def _cast(updated: cst.Call, tree: ast.Call, ctx: Context) -> cst.BaseExpression | None:
    """Return ``states.of_type(x, dtype)`` for ``x.to(device=device, dtype=dtype)`` of a tensor or a network."""
    words = {keyword.arg for keyword in tree.keywords}
    if getattr(tree.func, "attr", "") != "to" or not words <= {"dtype", "device", *(SETTINGS - {"copy"})}:
        return None
    trees = [*tree.args, *(keyword.value for keyword in tree.keywords)]
    if any(arg.star for arg in updated.args) or not isinstance(updated.func, cst.Attribute):
        return None
    dtypes = [
        arg.value
        for value, arg in zip(trees, updated.args, strict=True)
        if (arg.keyword is not None and arg.keyword.value == "dtype")
        or (arg.keyword is None and describes_dtype(value, ctx))
    ]
    if len(dtypes) != 1:
        return None
    of_type = ctx.reference("torch2ms.runtime.states.of_type")
    return build("{of}({x}, {dtype})", of=of_type, x=updated.func.value, dtype=dtypes[0])


def _of_tensor_or_size(updated: cst.Call, tree: ast.Call, ctx: Context) -> cst.BaseExpression | None:
    """Return ``functional.numel(x)`` for ``x.numel()``, which sizes have too: what torch.numel becomes takes both."""
    name = getattr(tree.func, "attr", "")
    row = ctx.tables.row(f"torch.{name}") if ctx.tables.row(f"{BASE_ROWS['Size']}.{name}") is not None else None
    options = ctx.tables.select(row, ctx.target) if row is not None else ()
    is_own = not ctx.world.evidence.is_free(name, "Tensor")
    if is_own or not options or updated.args or not isinstance(updated.func, cst.Attribute):
        return None
    return cst.Call(ctx.reference(options[0].target), [cst.Arg(updated.func.value)])


def state_call(updated: cst.Call, func: ast.Attribute, ctx: Context) -> cst.BaseExpression | None:
    """Return ``states.load_state_dict(x, state)`` where only the object tells whether it has one of its own."""
    keys = candidates(ctx.kind(func.value))
    own = [":" in key and ctx.world.sets(key, func.attr) for key in keys]
    is_told = bool(own) and (all(own) or not any(own))
    if func.attr not in _STATE or is_told or not isinstance(updated.func, cst.Attribute):
        return None
    function = ctx.reference(f"torch2ms.runtime.states.{func.attr}")
    comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(" ")) if updated.args else cst.MaybeSentinel.DEFAULT
    return updated.with_changes(func=function, args=[cst.Arg(updated.func.value, comma=comma), *updated.args])


def _has_two_forms(func: ast.Attribute, ctx: Context) -> bool:
    """Whether a call can be written for a tensor and for anything else: it is no network's, and changes nothing."""
    return (
        ctx.tables.row(f"{BASE_ROWS['Module']}.{func.attr}") is None
        and not func.attr.endswith("_")
        and _is_place(func.value)
    )


def _is_place(tree: ast.expr) -> bool:
    """Whether reading an expression twice gives the same, at no cost: a name, its attributes and constant places."""
    while isinstance(tree, (ast.Attribute, ast.Subscript)):
        if isinstance(tree, ast.Subscript) and not isinstance(literal(tree.slice), (int, str)):
            return False
        tree = tree.value
    return isinstance(tree, ast.Name)


def _either(new: cst.BaseExpression, old: cst.Call, tree: ast.Call, ctx: Context) -> cst.BaseExpression:
    """``x.repeat(2, 1)`` -> ``x.tile((2, 1)) if isinstance(x, ms.Tensor) else x.repeat(2, 1)``."""
    receiver = cst.ensure_type(old.func, cst.Attribute).value
    text = "{new} if isinstance({x}, {tensor}) else {old}"
    text = text if isinstance(ctx.parent(tree), (ast.Assign, ast.Return)) else f"({text})"
    return build(text, new=new, x=receiver, tensor=ctx.reference("mindspore.Tensor"), old=old)


def _is_none_of_tensors(func: ast.Attribute, call: ast.Call, ctx: Context) -> bool:
    """Whether the form of a call shows that it is no tensor's: an unused result, arguments that tensors do not take."""
    if _is_grouped(func.value, ctx):
        return True
    shared = func.attr in shared_members()[0]
    kinds = [ctx.kind(argument).name for argument in call.args]
    if not ctx.world.evidence.takes(func.attr, call):
        return True
    if shared and isinstance(ctx.small, ast.Expr) and ctx.small.value is call:
        return True  # list.sort(), set.add(x), queue.put(x)
    if func.attr in _BUILTIN:
        return not any(kind in ("int", "list", "tuple", "Tensor", "Parameter") for kind in kinds)
    if any(keyword.arg == "axis" for keyword in call.keywords):
        return not _is_pair(call, ctx)  # numpy's word; but only torch gives values and indices
    return bool(kinds) and kinds[0] in _NOT_TENSORS


def _is_pair(call: ast.Call, ctx: Context) -> bool:
    """Whether a result is taken apart into two: ``values, indices = x.max(axis=1)``, ``x.max(axis=1)[0]``."""
    parent = ctx.parent(call)
    if isinstance(parent, ast.Subscript):
        return isinstance(parent.slice, ast.Constant) and parent.slice.value in (0, 1)
    if not isinstance(parent, ast.Assign):
        return False
    return any(isinstance(target, (ast.Tuple, ast.List)) and len(target.elts) == 2 for target in parent.targets)


def _is_same_of_networks(row_call: RowCall, row: Row, updated: cst.Call, tree: ast.Call, ctx: Context) -> bool:
    """Whether a call becomes the same on a tensor and on a network, and no class of the project has the method.

    Of ``length.to(3)`` that is no evidence: lengths and frames have the name as well, for other arguments.
    """
    method = row.name.rpartition(".")[2]
    other = ctx.tables.row(f"{BASE_ROWS['Module']}.{method}")
    if other is None or tree.keywords or not all(is_used_as_device(argument, ctx) for argument in tree.args):
        return False
    if not ctx.world.evidence.is_free(method, "Tensor"):
        return False
    texts = []
    for each, family in ((row, "Tensor"), (other, "Module")):
        with ctx.trial() as trial:
            texts.append(code_of(row_call(each, updated, tree, ctx, Kind(family))))  # type: ignore[arg-type]
            if trial.has_statements or any(found.severity > Severity.NOTE for found in trial.diagnostics):
                return False
    return texts[0] == texts[1]


def _changes(
    row_call: RowCall, row: Row, updated: cst.Call, tree: ast.Call, ctx: Context, kind: Kind
) -> tuple[bool, bool]:
    """Whether a call would become something else, or be reported, on such a receiver; and nothing but an expression."""
    with ctx.trial() as trial:
        new = row_call(row, updated, tree, ctx, kind)
        said = any(diagnostic.severity > Severity.NOTE for diagnostic in trial.diagnostics)
        alone = not (said or trial.has_statements)
        return not alone or code_of(new) != code_of(updated), alone
