"""Optimizers over the weights of several networks: MindSpore tells parameters apart by name, PyTorch by identity."""

from __future__ import annotations

import ast

import libcst as cst

from torch2ms.diagnostics import Severity
from torch2ms.translator.context import Context
from torch2ms.translator.effects.aliases import shared_memory
from torch2ms.translator.effects.gradient_marks import is_marked, marks
from torch2ms.translator.effects.trained_tensors import listed_weights, trained_tensors, weights_in
from torch2ms.translator.rules.call_site import CallSite
from torch2ms.translator.rules.calls.replaced_parts import puts_parts_below
from torch2ms.translator.syntax.ast_walk import walk
from torch2ms.translator.syntax.cst_builders import build, code_of, parenthesised
from torch2ms.translator.values.families import WEIGHTS

__all__ = [
    "as_parameter",
    "call_closure",
    "name_apart",
    "trained_calls",
    "with_options",
    "without_options",
    "without_verbose",
]


def name_apart(code: cst.BaseExpression, site: CallSite, ctx: Context) -> cst.BaseExpression:
    """Return the call of an optimizer; its parameters are renamed where those of two networks may bear one name."""
    argument = site.argument("params")
    if not site.row.name.startswith("torch.optim.") or argument is None or not isinstance(code, cst.Call):
        return code
    if not code.args or not _several(argument.tree, ctx):
        return code
    first = code.args[0]
    if first.star or (first.keyword is not None and first.keyword.value != "params"):
        return code
    value = cst.Call(ctx.reference("torch2ms.runtime.modules.distinct"), [cst.Arg(first.value)])
    return code.with_changes(args=[first.with_changes(value=value), *code.args[1:]])


def call_closure(updated: cst.Call, tree: ast.Call, ctx: Context) -> cst.BaseExpression:
    """Return ``optimizer.step(closure)``, or ``closure()``, whose closure gives the gradients back beside the loss."""
    if not tree.args and not tree.keywords:
        return cst.ensure_type(cst.parse_expression(f"{code_of(updated)}[0]"), cst.Subscript)
    assert isinstance(tree.func, ast.Attribute)
    assert isinstance(updated.func, cst.Attribute)
    known = ctx.kind(tree.func.value).of
    closure = updated.args[0].with_changes(keyword=None, equal=cst.MaybeSentinel.DEFAULT)
    if known == "torch.optim.LBFGS":
        ctx.account(tree.func, "torch.optim.Optimizer.step", "mapped", "torch2ms.runtime.lbfgs.LBFGS.step")
        return updated.with_changes(args=[closure])
    ctx.account(tree.func, "torch.optim.Optimizer.step", "mapped", "torch2ms.runtime.optim.step")
    optimizer = cst.Arg(updated.func.value, comma=cst.Comma(whitespace_after=cst.SimpleWhitespace(" ")))
    return cst.Call(ctx.reference("torch2ms.runtime.optim.step"), [optimizer, closure])


def as_parameter(code: cst.BaseExpression, tree: ast.expr, ctx: Context) -> cst.BaseExpression:
    """Return what makes a tensor that an optimizer trains as a parameter: ``w = ms.Parameter(ops.zeros(3))``."""
    if tree not in ctx.once(trained_calls):
        return code
    if _is_view(tree):  # a Parameter on the memory of a view refuses what is assigned to it, or loses it (2.10)
        code = cst.Call(cst.Attribute(parenthesised(code), cst.Name("copy")))
    parameter = ctx.reference("mindspore.Parameter")
    if _is_marked_late(tree, ctx):
        return build("{parameter}({value}, requires_grad=False)", parameter=parameter, value=code)
    return cst.Call(parameter, [cst.Arg(code)])


def _is_marked_late(tree: ast.expr, ctx: Context) -> bool:
    """Whether a statement behind a backward call says first that the gradient of a variable is wanted."""
    parent = ctx.parent(tree)
    names = {t.id for t in parent.targets if isinstance(t, ast.Name)} if isinstance(parent, ast.Assign) else set()
    if not names or is_marked(tree):
        return False
    lines = marks(ctx.analysis.nodes)
    first = min((lines[name] for name in names if name in lines), default=0)
    calls = (node for node in ctx.analysis.all(ast.Call) if getattr(node.func, "attr", "") == "backward")
    return any(tree.lineno < call.lineno < first for call in calls)


def _is_view(tree: ast.expr) -> bool:
    """Whether an expression shows the memory of another tensor: ``x.view(2, 2).requires_grad_()``, ``x[0]``."""
    if isinstance(tree, ast.Call) and getattr(tree.func, "attr", "") in ("requires_grad_", "detach"):
        assert isinstance(tree.func, ast.Attribute)
        return _is_view(tree.func.value)
    return isinstance(tree, ast.Subscript) or shared_memory(tree) is not None


def trained_calls(ctx: Context) -> frozenset[ast.AST]:
    """Return the calls of the file that make tensors for an optimizer, or for updates by hand."""
    found = trained_tensors(ctx.analysis.nodes, ctx.analysis)
    return ctx.analysis.trained.union(*found.values())


def without_options(updated: cst.Call, tree: ast.Call, name: str) -> tuple[cst.Call, ast.Call] | None:
    """Return the call of an optimizer without ``**options``; None where it has none, or has other splats."""
    if not name.startswith("torch.optim.") or "lr_scheduler" in name or not any(arg.star for arg in updated.args):
        return None
    if any(arg.star == "*" for arg in updated.args):
        return None
    args = [arg for arg in updated.args if not arg.star]
    if args:
        args[-1] = args[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
    plain = ast.Call(tree.func, tree.args, [keyword for keyword in tree.keywords if keyword.arg is not None])
    return updated.with_changes(args=args), ast.copy_location(plain, tree)


def without_verbose(updated: cst.Call, tree: ast.Call, name: str, ctx: Context) -> tuple[cst.Call, ast.Call]:
    """Return the call of a scheduler without ``verbose``, which printed each change until PyTorch 2.7 dropped it."""
    said = next((keyword for keyword in tree.keywords if keyword.arg == "verbose"), None)
    if said is None or not name.startswith("torch.optim.lr_scheduler."):
        return updated, tree
    if not isinstance(said.value, ast.Constant) or said.value.value:
        message = "verbose: changes of the learning rate are not printed; PyTorch has no such argument since 2.7"
        ctx.report("T2M303", tree, f"{name}: {message}", symbol=name, severity=Severity.NOTE)
    args = [arg for arg in updated.args if arg.keyword is None or arg.keyword.value != "verbose"]
    args[-1] = args[-1].with_changes(comma=updated.args[-1].comma)
    plain = ast.Call(tree.func, tree.args, [keyword for keyword in tree.keywords if keyword is not said])
    return updated.with_changes(args=args), ast.copy_location(plain, tree)


def with_options(code: cst.BaseExpression, updated: cst.Call, ctx: Context) -> cst.BaseExpression:
    """Return a call with the ``**options`` of another; those that only tune PyTorch's kernels are left out."""
    if not isinstance(code, cst.Call) or code_of(code.func) == code_of(updated.func):
        return updated  # it stays torch's
    numeric = ctx.reference("torch2ms.runtime.optim.numeric_options")
    splats = [
        arg.with_changes(value=cst.Call(numeric, [cst.Arg(arg.value)]), comma=cst.MaybeSentinel.DEFAULT)
        for arg in updated.args
        if arg.star == "**"
    ]
    comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
    written = {arg.keyword.value for arg in updated.args if arg.keyword is not None}
    kept = [arg for arg in code.args if arg.keyword is None or arg.keyword.value in written]  # not the defaults
    args = [*kept, *splats]
    args = [arg if isinstance(arg.comma, cst.Comma) else arg.with_changes(comma=comma) for arg in args[:-1]] + args[-1:]
    return code.with_changes(args=args)


def _several(tree: ast.expr, ctx: Context) -> bool:
    """Whether an expression, or what the file puts into the names it reads, takes the weights of two networks.

    Or several parameters that belong to no network, whose name MindSpore does not know; or those of layers that were
    put into the blocks of a network later.
    """
    if sum("." not in path for path in listed_weights(tree)) > 1 or _trained_twice(tree, ctx):
        return True
    found: set[str] = set()
    seen: set[str] = set()
    waiting: list[ast.AST] = [tree]
    while waiting:
        part = waiting.pop()
        looped = {name.id for node in walk(part) if isinstance(node, ast.comprehension)
                  for name in walk(node.target) if isinstance(name, ast.Name)}  # fmt: skip
        for node in walk(part):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in WEIGHTS:
                receiver = node.func.value
                found.add(ast.unparse(receiver))
                if isinstance(receiver, ast.Name) and receiver.id in looped:
                    return True
            elif isinstance(node, ast.Name) and node.id not in seen:
                seen.add(node.id)
                waiting.extend(_values(node.id, ctx))
    return len(found) > 1 or (bool(found) and puts_parts_below(ctx))


def _trained_twice(tree: ast.expr, ctx: Context) -> bool:
    """Whether some of the weights that belong to no network stand in the list of another optimizer as well.

    That one names the weights of its list by their places, and so does this one those that have no name yet.
    """
    own = _loose_weights(tree, ctx)
    if len(own) < 2:
        return False
    makers = (call for call in ctx.analysis.all(ast.Call) if ctx.kind(call.func).of.startswith("torch.optim."))
    given = [value for call in makers for value in (*call.args[:1], *_params_of(call)) if value is not tree]
    return any(own & listed and own != listed for listed in (_loose_weights(value, ctx) for value in given))


def _loose_weights(tree: ast.expr, ctx: Context) -> set[str]:
    """Return the weights in an optimizer's list that are variables, no attributes of a network."""
    return {path for path in weights_in(tree, ctx.analysis.nodes) if "." not in path}


def _params_of(call: ast.Call) -> list[ast.expr]:
    return [keyword.value for keyword in call.keywords if keyword.arg == "params"]


def _values(name: str, ctx: Context) -> list[ast.AST]:
    """Return what the file binds a name to as a list of parameters, or adds to it."""
    found: list[ast.AST] = []
    for node in ctx.analysis.nodes:
        if isinstance(node, (ast.Assign, ast.AugAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(target, ast.Name) and target.id == name for target in targets) and _lists(node.value):
                found.append(node.value)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            receiver = node.func.value
            if node.func.attr in ("append", "extend") and isinstance(receiver, ast.Name) and receiver.id == name:
                found.extend(node.args)
    return found


def _lists(value: ast.expr) -> bool:
    """Whether a value may be a list of parameters: it is no network and no number."""
    return any(isinstance(node, ast.Attribute) and node.attr in WEIGHTS for node in walk(value))
