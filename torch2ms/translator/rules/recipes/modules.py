"""Modules: what a network says of itself, where Cell says it in other words."""

from __future__ import annotations

import ast
import re
from dataclasses import replace

import libcst as cst

from torch2ms.translator.context import Context
from torch2ms.translator.effects.buffers import carries_gradient, class_around, is_bound_live
from torch2ms.translator.effects.freezing import freed, frozen
from torch2ms.translator.effects.recordability import GRADIENT
from torch2ms.translator.rules.call_site import CallSite, Leave, Outcome, Replace, recipe
from torch2ms.translator.syntax.ast_walk import changed_in_place, walk
from torch2ms.translator.syntax.cst_builders import build, fix_commas
from torch2ms.translator.values.kinds import candidates

__all__ = ["goes_to_optimizer"]


@recipe("eval_mode")
def eval_mode(site: CallSite, ctx: Context) -> Outcome:
    """``net.eval()`` -> ``net.set_train(False)``."""
    assert site.receiver is not None
    return Replace(build("{net}.set_train(False)", net=site.receiver))


@recipe("saved_script")
def saved_script(site: CallSite, ctx: Context) -> Outcome:
    """``traced.save(path)``: the network is kept whole; a ``save`` that classes of the project define is theirs."""
    args = site.updated.args
    keys = candidates(ctx.kind(site.receiver_tree))
    is_known = bool(keys) and "torch.nn.Module" not in keys  # else it may be of any class of the project
    is_own = not is_known and bool(ctx.world.symbols.definers("save"))
    if is_own:
        return Replace(site.updated)
    if site.receiver is None or len(args) != 1 or args[0].star:
        return Leave("of torch's modules only traced and scripted ones have it")
    save = ctx.reference("torch2ms.runtime.checkpoint.save")
    return Replace(build("{save}({net}, {path})", save=save, net=site.receiver, path=args[0].value))


def goes_to_optimizer(tree: ast.AST, ctx: Context) -> bool:
    """Whether a value is what an optimizer is made of: an argument of it, through lists, groups and filters."""
    return _goes_to(tree, "torch.optim.", ctx)


def _goes_to(tree: ast.AST, prefix: str, ctx: Context) -> bool:
    child, parent = tree, ctx.parent(tree)
    while parent is not None:
        if isinstance(parent, ast.Call):
            if child is parent.func:
                return False
            callee = ctx.kind(parent.func)
            if callee.name == "api" and callee.of.startswith(prefix):
                return True
            name = parent.func.attr if isinstance(parent.func, ast.Attribute) else getattr(parent.func, "id", "")
            if name not in ("list", "tuple", "filter", "chain", "add_param_group"):
                return False
            if name == "add_param_group":
                return True
        elif not isinstance(parent, (ast.List, ast.Tuple, ast.Dict, ast.Starred, ast.BinOp, ast.keyword)):
            return False
        child, parent = parent, ctx.parent(parent)
    return False


def _asks_for_gradient(tree: ast.AST, ctx: Context) -> bool:
    """Whether the value is iterated over by a comprehension whose condition is ``p.requires_grad`` (and more)."""
    clause = ctx.parent(tree)
    if not isinstance(clause, ast.comprehension):
        return False
    tests = [part for test in clause.ifs for part in (test.values if isinstance(test, ast.BoolOp)
             and isinstance(test.op, ast.And) else [test])]  # fmt: skip
    return any(isinstance(test, ast.Attribute) and test.attr == "requires_grad" for test in tests)


@recipe("parameters")
def parameters(site: CallSite, ctx: Context) -> Outcome:
    """``net.parameters()``: ``trainable_params()`` where only those count, else the runtime's (Cell's has buffers).

    A loop that only freezes what it goes over may meet the buffers as well: ``get_parameters()``.
    """
    assert site.receiver is not None
    wanted = _asks_for_gradient(site.tree, ctx) or _goes_to(site.tree, GRADIENT, ctx)  # torch refuses frozen ones
    if not site.updated.args and (wanted or goes_to_optimizer(site.tree, ctx)):
        code = build("{net}.trainable_params()", net=site.receiver)
        return Replace(code, _FROZEN if goes_to_optimizer(site.tree, ctx) and _frees_later(ctx) else ())
    if not site.updated.args and _only_freezes(ctx.parent(site.tree)) and ctx.kind(site.receiver_tree).name == "Module":
        return Replace(build("{net}.get_parameters()", net=site.receiver))
    return _through_runtime("modules.parameters", site, ctx)


def _only_freezes(loop: ast.AST | None) -> bool:
    """Whether a loop does nothing but ``p.requires_grad = False`` with what it goes over."""
    if not isinstance(loop, ast.For) or loop.orelse:
        return False
    values = [value for statement in loop.body for value in frozen(statement)]
    names = [value.id for value in values if isinstance(value, ast.Name)]
    return len(values) == len(loop.body) and isinstance(loop.target, ast.Name) and set(names) == {loop.target.id}


_FROZEN = (("T2M303", "what is frozen when the optimizer is made stays out of it, also when it is freed later"),)


def _frees_later(ctx: Context) -> bool:
    """Whether the file, or one that it shares imports with, frees what may be frozen: ``p.requires_grad = True``."""
    found = [value for node in walk(ctx.analysis.tree) for value in freed(node)]
    if found:
        return any(not _is_no_weight(value, ctx) for value in found)
    return ctx.world.symbols.is_near("thaws", ctx.analysis.path)


def _is_no_weight(tree: ast.expr, ctx: Context) -> bool:
    """Whether a value is a tensor that no optimizer of a network has: one that was computed."""
    return isinstance(tree, ast.BinOp) or ctx.kind(tree).name == "Tensor"


def _through_runtime(name: str, site: CallSite, ctx: Context) -> Outcome:
    if site.receiver is None:
        return Leave("it is not called on a network")
    comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
    first = cst.Arg(site.receiver, comma=comma if site.updated.args else cst.MaybeSentinel.DEFAULT)
    func = ctx.reference(f"torch2ms.runtime.{name}")
    return Replace(site.updated.with_changes(func=func, args=[first, *site.updated.args]))


def _stays_whole(tree: ast.AST, ctx: Context, depth: int = 0) -> bool:
    """Whether a state only goes into networks, maybe copied before: nothing asks for a name in it."""
    parent = ctx.parent(tree)
    if isinstance(parent, ast.Call) and tree is not parent.func:
        if ctx.kind(parent.func).of == "copy.deepcopy":
            return _stays_whole(parent, ctx, depth)
        return isinstance(parent.func, ast.Attribute) and _is_loaded(parent.func, ctx)
    if not isinstance(parent, ast.Assign) or depth > 2:
        return False
    names = {target.id for target in parent.targets if isinstance(target, ast.Name)}
    reads = [n for n in ctx.analysis.nodes if isinstance(n, ast.Name) and n.id in names and isinstance(n.ctx, ast.Load)]
    if len(names) != len(parent.targets) or not reads:  # what nothing here reads, others may
        return False
    return all(_stays_whole(read, ctx, depth + 1) for read in reads)


def _is_loaded(method: ast.Attribute, ctx: Context) -> bool:
    """Whether a method is a network's ``load_state_dict``, and not one that the project has written."""
    owner = ctx.kind(method.value)
    own = any(":" in key and ctx.world.sets(key, method.attr) for key in candidates(owner))
    return method.attr == "load_state_dict" and owner.name == "Module" and not own


@recipe("state_dict")
def state_dict(site: CallSite, ctx: Context) -> Outcome:
    """``net.state_dict()`` stays where another network takes it at once; else the runtime's, with PyTorch's names."""
    if site.receiver is None:
        return Leave("it is not called on a network")
    if not _stays_whole(site.tree, ctx):
        prefix = site.argument("prefix")
        args = [cst.Arg(site.receiver)] + ([cst.Arg(prefix.code, cst.Name("prefix"))] if prefix is not None else [])
        return Replace(cst.Call(ctx.reference("torch2ms.runtime.modules.state_dict"), fix_commas(args, ())))
    if site.option.target.startswith("torch2ms."):
        return Replace(cst.Call(ctx.reference(site.option.target), [cst.Arg(site.receiver)]))
    return Replace(build("{net}.state_dict()", net=site.receiver))


@recipe("modules")
def modules(site: CallSite, ctx: Context) -> Outcome:
    """``net.modules()``: the cells of ``cells_and_names``."""
    assert site.receiver is not None
    if isinstance(ctx.parent(site.tree), (ast.For, ast.comprehension)):
        return Replace(build("[cell for _, cell in {net}.cells_and_names()]", net=site.receiver))
    return _through_runtime("modules.modules", site, ctx)


@recipe("read_through_runtime")
def read_through_runtime(site: CallSite, ctx: Context) -> Outcome:
    """An attribute becomes the runtime's function of the object."""
    if site.receiver is None:
        return Leave("it is not read from an object")
    return Replace(cst.Call(ctx.reference(site.option.target), [cst.Arg(site.receiver)]))


@recipe("children")
def children(site: CallSite, ctx: Context) -> Outcome:
    """``net.children()`` -> ``net.cells()``, an iterable but no iterator."""
    assert site.receiver is not None
    parent = ctx.parent(site.tree)
    cells = build("{net}.cells()", net=site.receiver)
    if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) and parent.func.id == "next":
        return Replace(build("iter({cells})", cells=cells))
    return Replace(cells)


@recipe("named_children")
def named_children(site: CallSite, ctx: Context) -> Outcome:
    """``net.named_children()`` -> ``net.name_cells().items()``."""
    assert site.receiver is not None
    return Replace(build("{net}.name_cells().items()", net=site.receiver))


_PRECISION = {"float": "float32", "half": "float16", "double": "float64"}


@recipe("to_precision")
def to_precision(site: CallSite, ctx: Context) -> Outcome:
    """``net.half()`` -> ``modules.cast(net, ms.float16)``: the weights have the type, not only what is computed."""
    assert site.receiver is not None
    dtype = ctx.reference(f"mindspore.{_PRECISION[site.row.name.rpartition('.')[2]]}")
    function = ctx.reference(site.option.target)
    return Replace(build("{cast}({net}, {dtype})", cast=function, net=site.receiver, dtype=dtype))


@recipe("to_float")
def to_float(site: CallSite, ctx: Context) -> Outcome:
    """``net.bfloat16()`` -> ``net.to_float(ms.bfloat16)``."""
    assert site.receiver is not None
    return Replace(build("{net}.to_float({d})", net=site.receiver, d=ctx.reference("mindspore.bfloat16")))


def _class_node(tree: ast.AST, ctx: Context) -> ast.AST:
    """Return the class around a node, or the whole file."""
    return class_around(tree, ctx) or ctx.analysis.tree


def _is_assigned(name: str, where: ast.AST) -> bool:
    """Whether an attribute is bound anew, registered a second time, or changed by a method that works in place."""
    registered = 0
    for node in walk(where):
        registered += _registers(name, node)
        if registered > 1:
            return True
        if isinstance(node, ast.Attribute) and node.attr == name and isinstance(node.ctx, ast.Store):
            return True
        if (changed := changed_in_place(node)) is not None:
            value = changed
            while isinstance(value, (ast.Call, ast.Subscript, ast.Attribute)):
                if isinstance(value, ast.Attribute) and value.attr == name:
                    return True
                value = value.func if isinstance(value, ast.Call) else value.value
    return False


def _registers(name: str, node: ast.AST) -> bool:
    """Whether a node is a call ``x.register_buffer(name, ...)``."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or not node.args:
        return False
    first = node.args[0]
    return node.func.attr == "register_buffer" and isinstance(first, ast.Constant) and first.value == name


@recipe("register_buffer")
def register_buffer(site: CallSite, ctx: Context) -> Outcome:
    """``register_buffer`` stays; a buffer that is bound anew later becomes a parameter without gradient.

    Cell refuses assignment to a buffer, from outside of the class as well; ``parts.set_buffer`` binds those anew
    that carry a gradient.
    """
    assert site.receiver is not None
    name, value = site.argument("name"), site.argument("tensor")
    literal = name.tree.value if name is not None and isinstance(name.tree, ast.Constant) else None
    is_none = value is not None and isinstance(value.tree, ast.Constant) and value.tree.value is None
    assigned = isinstance(literal, str) and (
        _is_assigned(literal, _class_node(site.tree, ctx)) or ctx.world.symbols.sets_on_others(literal)
    )
    live = isinstance(literal, str) and is_bound_live(literal, _class_node(site.tree, ctx), ctx)
    stays = isinstance(literal, str) and not is_none and (live or not assigned)
    has_method = ctx.tables.target_signature(site.option.target, ctx.target.mindspore) is not None
    if stays and has_method and ctx.target.mindspore >= (2, 7):
        return Replace(site.updated)
    made = _through_runtime("modules.register_buffer", site, ctx)
    held = _held_elsewhere(value.tree, site.tree, ctx) if value is not None else ""
    if held and isinstance(made, Replace):
        ctx.rebind.append(held)
    if not isinstance(made, Replace) or not isinstance(literal, str) or is_none:
        return made
    if not carries_gradient(literal, _class_node(site.tree, ctx), ctx):
        return made
    message = f"no gradient flows through self.{literal} to what is assigned to it: give that a name of its own"
    return replace(made, codes=(*made.codes, ("T2M305", message)))


def _held_elsewhere(value: ast.expr, call: ast.Call, ctx: Context) -> str:
    """Return the name of a tensor that a list or an attribute holds as well as the buffer: what is loaded reaches both.

    ``b = modules.register_buffer(self, name, b)``: the buffer is a parameter of its own, which loading changes.
    """
    value = value.value if isinstance(value, ast.Attribute) and value.attr == "data" else value
    info = ctx.functions[-1]
    small = ctx.small
    if not isinstance(value, ast.Name) or info is None or not isinstance(small, ast.Expr) or small.value is not call:
        return ""
    name = value.id

    def holds(node: ast.AST) -> bool:
        if getattr(node, "lineno", 0) <= call.lineno:
            return False
        if isinstance(node, ast.Assign) and not isinstance(node.targets[0], ast.Name):
            return isinstance(node.value, ast.Name) and node.value.id == name
        kept = node.elts if isinstance(node, (ast.List, ast.Tuple)) else []
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "append":
            kept = node.args
        return any(isinstance(part, ast.Name) and part.id == name for part in kept)

    return name if any(holds(node) for node in walk(info.node)) else ""


@recipe("register_parameter")
def register_parameter(site: CallSite, ctx: Context) -> Outcome:
    """``register_parameter`` is an assignment to the attribute; the runtime does it under a name that is a value."""
    return _through_runtime("modules.register_parameter", site, ctx)


@recipe("add_module")
def add_module(site: CallSite, ctx: Context) -> Outcome:
    """``setattr``, which also names the parameters; a SequentialCell must also learn to run the child."""
    from torch2ms.translator.values.kinds import candidates

    kind = site.receiver_kind
    names = candidates(kind) if kind is not None else ()
    bases = [base for name in names for base in (ctx.world.torch_bases(name) if ":" in name else [name])]
    plain = bool(bases) and "torch.nn.Sequential" not in bases
    name, module = site.argument("name"), site.argument("module")
    text = name.tree.value if name is not None and isinstance(name.tree, ast.Constant) else ""
    odd = isinstance(text, str) and re.search(r"[^\w.-]", text, re.ASCII) is not None  # no name for a parameter
    if odd or not plain or name is None or module is None or site.receiver is None:
        return _through_runtime("modules.add_module", site, ctx)
    return Replace(build("setattr({net}, {name}, {module})", net=site.receiver, name=name.code, module=module.code))


@recipe("data_parallel")
def data_parallel(site: CallSite, ctx: Context) -> Outcome:
    """``data_parallel(network, x)`` -> ``network(x)``."""
    module, inputs = site.argument("module"), site.argument("inputs")
    if module is None or inputs is None:
        return Leave("the network or its input is not named")
    if ctx.kind(inputs.tree).is_tensor or isinstance(inputs.tree, (ast.Name, ast.Attribute)):
        return Replace(cst.Call(module.code, [cst.Arg(inputs.code)]))
    return Leave("its inputs may be a tuple")
