"""Initializers: torch fills a tensor in place, MindSpore sets a parameter to an initializer's tensor.

``nn.init.normal_(w, 0, 0.02)`` -> ``w.set_data(init.initializer(init.Normal(sigma=0.02, mean=0), w.shape, w.dtype))``.
What is no such statement on a parameter is left to the row's next target, the runtime's function.
"""

from __future__ import annotations

import ast

import libcst as cst

from torch2ms.translator.context import Context
from torch2ms.translator.effects.parameter_storage import is_held_elsewhere, may_have_stepped
from torch2ms.translator.effects.sharing import is_fresh, is_view_of_memory, owner_of
from torch2ms.translator.rules.call_site import CallSite, Leave, Outcome, Replace, recipe
from torch2ms.translator.rules.emission import emit_call
from torch2ms.translator.syntax.argument_binding import BoundArgument
from torch2ms.translator.syntax.ast_walk import walk
from torch2ms.translator.syntax.cst_builders import (
    build,
    code_of,
    fix_commas,
    keyword_arg,
    parse_expression,
    undetached,
)

__all__: list[str] = []

_INITIALIZER = "mindspore.common.initializer.initializer"


def _parameter(site: CallSite, ctx: Context) -> cst.BaseExpression | Leave:
    """Return the parameter that a statement fills; Leave when it is not certain to be one."""
    if not (isinstance(ctx.small, ast.Expr) and ctx.small.value is site.tree):
        return Leave("its value is used")
    argument = site.argument("tensor")
    if argument is None or site.bound is None or site.bound.splat:
        return Leave("the tensor is not named")
    if any(isinstance(node, (ast.Call, ast.NamedExpr, ast.Await)) for node in walk(argument.tree)):
        return Leave("the tensor is made on the spot")
    generator = site.argument("generator")
    if generator is not None and ctx.kind(generator.tree).name != "none":
        return Leave("it draws from a generator of its own")
    if may_have_stepped(site.tree, ctx):
        return Leave("an optimizer that has stepped trains no more what set_data replaces")
    if is_held_elsewhere(argument.tree, ctx):
        return Leave("another name for its memory does not see what set_data replaces")
    return _without_data(argument) if _is_parameter(argument.tree, ctx) else Leave("it may be no parameter")


def _without_data(argument: BoundArgument) -> cst.BaseExpression:
    """Return the code of ``w`` where the source says ``w.data``: what is set is the parameter itself."""
    code = argument.code
    if not isinstance(argument.tree, ast.Attribute) or argument.tree.attr != "data":
        return code
    code = undetached(code)
    return code.value if isinstance(code, cst.Attribute) and code.attr.value == "data" else code


def _is_parameter(tree: ast.expr, ctx: Context) -> bool:
    if isinstance(tree, ast.Attribute) and tree.attr == "data":
        tree = tree.value
    if isinstance(tree, ast.Attribute) and tree.attr in ("weight", "bias"):
        layer = ctx.kind(tree.value)
        if layer.name == "Module":
            return bool(layer.of)
    return ctx.kind(tree).name == "Parameter"


def _filled(parameter: cst.BaseExpression, how: cst.BaseExpression, ctx: Context) -> Replace:
    made = ctx.reference(_INITIALIZER)
    return Replace(build("{p}.set_data({made}({how}, {p}.shape, {p}.dtype))", p=parameter, made=made, how=how))


def _arguments(site: CallSite, ctx: Context) -> list[cst.Arg]:
    """Return the initializer's arguments: torch's without the tensor, renamed, by position where both sides agree."""
    assert site.bound is not None
    option = site.option
    signature = ctx.tables.target_signature(option.target, ctx.target.mindspore)
    slots = [parameter.name for parameter in signature.parameters] if signature is not None else []
    args: list[cst.Arg] = []
    named = False
    for argument in site.bound:
        if argument.parameter in ("tensor", "generator"):
            continue
        name = option.rename.get(argument.parameter, argument.parameter)
        fits = argument.positional and not named and len(args) < len(slots) and slots[len(args)] == name
        named = named or not fits
        args.append(cst.Arg(argument.code) if fits else keyword_arg(name, argument.code))
    for name in option.write_default:
        parameter = site.bound.signature.get(name)
        if site.bound.get(name) is None and parameter is not None and parameter.default is not None:
            args.append(keyword_arg(option.rename.get(name, name), parse_expression(parameter.default)))
    return args


@recipe("initializer")
def initializer(site: CallSite, ctx: Context) -> Outcome:
    """A distribution with an initializer of its own."""
    parameter = _parameter(site, ctx)
    if isinstance(parameter, Leave):
        return parameter
    return _filled(parameter, cst.Call(ctx.reference(site.option.target), _arguments(site, ctx)), ctx)


@recipe("constant_initializer")
def constant_initializer(site: CallSite, ctx: Context) -> Outcome:
    """A constant: ``initializer`` takes the number itself, or "zeros" and "ones"."""
    parameter = _parameter(site, ctx)
    if isinstance(parameter, Leave):
        return parameter
    words = {"zeros_": "zeros", "ones_": "ones"}
    word = words.get(site.row.name.rpartition(".")[2])
    if word is not None:
        return _filled(parameter, cst.SimpleString(f'"{word}"'), ctx)
    value = site.argument("val")
    return _filled(parameter, value.code, ctx) if value is not None else Leave("the value is not named")


@recipe("uniform_initializer")
def uniform_initializer(site: CallSite, ctx: Context) -> Outcome:
    """A uniform distribution: MindSpore's is symmetric, so that only bounds of opposite sign can be said."""
    parameter = _parameter(site, ctx)
    if isinstance(parameter, Leave):
        return parameter
    bound = _symmetric(site.argument("a"), site.argument("b"))
    if bound is None:
        return Leave("its bounds are not opposite")
    return _filled(parameter, cst.Call(ctx.reference(site.option.target), [cst.Arg(bound)]), ctx)


def _symmetric(low: BoundArgument | None, high: BoundArgument | None) -> cst.BaseExpression | None:
    """Return ``b`` of the bounds ``-b`` and ``b``."""
    if low is None or high is None or not isinstance(low.tree, ast.UnaryOp) or not isinstance(low.tree.op, ast.USub):
        return None
    if isinstance(low.code, cst.UnaryOperation) and ast.dump(low.tree.operand) == ast.dump(high.tree):
        return high.code
    same = isinstance(low.code, cst.UnaryOperation) and code_of(low.code.expression) == code_of(high.code)
    return high.code if same else None


@recipe("runtime_initializer")
def runtime_initializer(site: CallSite, ctx: Context) -> Outcome:
    """The runtime's function of torch's arguments; the weight of a layer of unknown class is found at run time."""
    made = emit_call(site, ctx)
    argument = site.argument("tensor")
    if isinstance(made, Leave) or argument is None or not isinstance(made.code, cst.Call):
        return made
    made = _written_back(made, argument, site, ctx)
    if not isinstance(made.code, cst.Call):
        return made
    member = _member_of_unknown_layer(argument, ctx) or _without_data(argument)
    if member is argument.code:
        return made
    args = [arg.with_changes(value=member) if arg.value is argument.code else arg for arg in made.code.args]
    return Replace(made.code.with_changes(args=args), made.codes)


@recipe("unpacked_initializer", takes_stars=True)
def unpacked_initializer(site: CallSite, ctx: Context) -> Outcome:
    """``w.data.uniform_(*bounds(layer))``: the runtime's function of the parameter takes what is unpacked."""
    func = site.tree.func
    if site.receiver is None or not isinstance(func, ast.Attribute) or not _is_parameter(func.value, ctx):
        return Leave("it may be no parameter")
    if not any(isinstance(arg, ast.Starred) for arg in site.tree.args) or site.tree.keywords:
        return Leave("nothing is unpacked")
    owner = site.receiver
    if isinstance(func.value, ast.Attribute) and func.value.attr == "data":
        owner = undetached(owner)
        owner = owner.value if isinstance(owner, cst.Attribute) and owner.attr.value == "data" else owner
    args = fix_commas([cst.Arg(owner), *site.updated.args], ())
    return Replace(cst.Call(ctx.reference(site.option.target), args))


def _written_back(made: Replace, argument: BoundArgument, site: CallSite, ctx: Context) -> Replace:
    """Return the call so that what it fills is the tensor the source means: a part, or a view that is a copy."""
    tree = argument.tree
    statement = isinstance(ctx.small, ast.Expr) and ctx.small.value is site.tree
    if isinstance(tree, ast.Subscript) and ctx.kind(tree.value).is_tensor and statement:
        part = cst.ensure_type(argument.code, cst.Subscript)
        if isinstance(part.value, cst.Call) and isinstance(tree.value, ast.Attribute) and tree.value.attr == "data":
            part = part.with_changes(value=part.value.args[0].value)
        ctx.rebind.append(code_of(part))
        call = cst.ensure_type(made.code, cst.Call)
        args = [arg.with_changes(value=part) if arg.value is argument.code else arg for arg in call.args]
        return Replace(call.with_changes(args=args), made.codes)
    is_view = isinstance(tree, (ast.Call, ast.Subscript)) and ctx.kind(tree).is_tensor and not is_fresh(tree, ctx)
    if isinstance(tree, ast.Name) and ctx.kind(tree).is_tensor:
        is_view = not _is_parameter(tree, ctx) and owner_of(tree.id, site.tree, ctx) in ("view", "shared")
    of_network = ctx.kind(tree).evidence.endswith(".state_dict")  # gives the network's own parameters
    if not is_view or of_network or is_view_of_memory(tree, ctx):
        return made
    message = f"{ast.unparse(tree)} is a copy in MindSpore: the tensor it comes from is not filled"
    return Replace(made.code, (*made.codes, ("T2M305", message)))


def _member_of_unknown_layer(argument: BoundArgument, ctx: Context) -> cst.BaseExpression | None:
    """Return ``modules.weight(m)`` for ``m.weight`` where the class of ``m``, and so the name there, is not known."""
    tree, code = argument.tree, _without_data(argument)
    if isinstance(tree, ast.Attribute) and tree.attr == "data":
        tree = tree.value
    if not (isinstance(tree, ast.Attribute) and isinstance(code, cst.Attribute) and tree.attr in ("weight", "bias")):
        return None
    kind = ctx.kind(tree.value)
    if kind.name not in ("unknown", "Module") or kind.of or code.attr.value != tree.attr:
        return None
    return cst.Call(ctx.reference(f"torch2ms.runtime.modules.{tree.attr}"), [cst.Arg(code.value)])
