"""Attributes of tensors: ``data``, ``device``, ``requires_grad``."""

from __future__ import annotations

import ast

import libcst as cst

from torch2ms.translator.context import Context
from torch2ms.translator.effects import gradient_state
from torch2ms.translator.effects.parameter_storage import is_stored_data
from torch2ms.translator.effects.trained_tensors import trained_paths
from torch2ms.translator.rules.call_site import DROPPED, CallSite, Leave, Outcome, Replace, recipe
from torch2ms.translator.rules.emission import emit_call
from torch2ms.translator.rules.made_parameters import is_made_here, made_here
from torch2ms.translator.rules.recipes.inplace_values import DATA
from torch2ms.translator.rules.recorded_leaves import is_marking, marked
from torch2ms.translator.syntax.cst_builders import build, code_of, parenthesised, undetached
from torch2ms.translator.values.leaf_tensors import BY_HAND

__all__: list[str] = []

_ONLY_PARAMETERS = "only parameters say whether they are trained; value_and_grad is told what to differentiate by"


def _is_load(site: CallSite) -> bool:
    return isinstance(site.tree.func, ast.Attribute) and isinstance(site.tree.func.ctx, ast.Load)


@recipe("tensor_data")
def tensor_data(site: CallSite, ctx: Context) -> Outcome:
    """``x.data``: the tensor without its gradient; setting the data of a parameter is MindSpore's own."""
    assert site.receiver is not None
    if not _is_load(site):
        return Replace(site.updated.func)
    parent = ctx.parent(site.tree.func)
    if isinstance(parent, ast.Subscript) and isinstance(parent.ctx, ast.Store):
        # x.data[0] = 1 writes into x itself, which a function that computes x differentiates
        differentiated = ctx.small in ctx.training.taken or any(
            ctx.small in unit.body for unit in ctx.training.leaves.units
        )
        return Replace(site.receiver, (("T2M305", DATA),) if differentiated else ())
    assert isinstance(site.tree.func, ast.Attribute)
    if is_stored_data(site.tree.func, ctx):
        stop = ctx.reference("mindspore.ops.stop_gradient")
        return Replace(build("{stop}({x}).copy()", stop=stop, x=site.receiver))
    return Replace(_detached(site.receiver, ctx))


@recipe("detached")
def detached(site: CallSite, ctx: Context) -> Outcome:
    """``x.detach()``: the tensor without its gradient; ``x.data.detach()`` has none already."""
    made = emit_call(site, ctx)
    if isinstance(made, Leave) or site.receiver is None or undetached(site.receiver) is site.receiver:
        return made
    return Replace(site.receiver, made.codes)


def _detached(tensor: cst.BaseExpression, ctx: Context) -> cst.BaseExpression:
    if undetached(tensor) is not tensor:
        return tensor
    return build("{stop}({x})", stop=ctx.reference("mindspore.ops.stop_gradient"), x=tensor)


@recipe("tensor_device_number")
def tensor_device_number(site: CallSite, ctx: Context) -> Outcome:
    """``x.get_device()``: which device MindSpore computes on, whatever the tensor."""
    if not isinstance(site.receiver, (cst.Name, cst.Attribute)):
        return Leave("its receiver is computed, and would be computed no more")
    return Replace(build("{answer}()", answer=ctx.reference("torch2ms.runtime.device.tensor_device_number")))


@recipe("is_accelerated")
def is_accelerated(site: CallSite, ctx: Context) -> Outcome:
    """``x.is_cuda``, ``x.is_cpu``: every tensor is where MindSpore computes."""
    return Replace(build("{answer}()", answer=ctx.reference(site.option.target)))


# Nodes that hold a comparison without brackets around it
_HOLDERS = (ast.If, ast.IfExp, ast.While, ast.Assert, ast.Assign, ast.AnnAssign, ast.Return, ast.BoolOp, ast.keyword)


@recipe("on_accelerator")
def on_accelerator(site: CallSite, ctx: Context) -> Outcome:
    """``torch.cuda.is_available()``: whether MindSpore computes on something else than a CPU."""
    code = build('{get}("device_target") != "CPU"', get=ctx.reference(site.option.target))
    parent = ctx.parent(site.tree)
    is_argument = isinstance(parent, ast.Call) and site.tree in parent.args
    stands_alone = isinstance(parent, _HOLDERS) or is_argument or parent is ctx.small
    return Replace(code if stands_alone else parenthesised(code))


@recipe("tensor_device")
def tensor_device(site: CallSite, ctx: Context) -> Outcome:
    """``x.device``: the device that MindSpore computes on, for programs that hand it on or print it."""
    if not _is_load(site):
        return Leave("a tensor cannot be given another device")
    return Replace(build("{device}()", device=ctx.reference("torch2ms.runtime.device.tensor_device")))


@recipe("requires_grad")
def requires_grad(site: CallSite, ctx: Context) -> Outcome:
    """``p.requires_grad`` and ``p.requires_grad_(flag)``: MindSpore's parameters have the same attribute."""
    assert site.receiver is not None
    assert isinstance(site.tree.func, ast.Attribute)
    kind = ctx.kind(site.tree.func.value)
    if is_made_here(site.tree.func, ctx):
        return made_here(site, ctx)
    if kind.name == "Tensor" and site.tree.func.attr == "requires_grad_":
        return _recorded(site, ctx)
    if kind.name == "Tensor" and _is_load(site):
        told = gradient_state.requires_grad(site.tree.func.value, ctx)
        told = told if told is not None else gradient_state.makes_no_difference(site.tree.func, ctx)
        asks = told is None and gradient_state.chooses(site.tree.func, ctx)
        return _asked(site, ctx) if asks else _known(told)
    if ctx.small in ctx.training.leaves.gone:
        return Replace(site.updated.func)  # the gradient is asked of a function: the statement goes
    if not _is_load(site) and kind.name == "Tensor" and is_marking(ctx):
        return Replace(site.updated.func)
    if kind.name == "Tensor" and _is_set_to(ctx.small, False):
        note = "requires_grad = False means nothing on a tensor: value_and_grad is told what to differentiate by"
        return Replace(site.updated.func, (("T2M302", note),))
    if kind.name == "Tensor" and not _is_load(site) and not ctx.world.symbols.reads_gradients:
        note = "requires_grad asks for a gradient of a tensor that nothing in the project looks at"
        return Replace(site.updated.func, (("T2M302", note),))
    trained = ast.unparse(site.tree.func.value) in ctx.once(trained_paths)  # is made a parameter
    if kind.name != "Parameter" and not trained:
        return Leave(_ONLY_PARAMETERS)
    if site.tree.func.attr == "requires_grad":
        # the parameter is there from the beginning; before `w.requires_grad_()`, torch's tensor is none
        by_hand = trained or kind.evidence == BY_HAND
        before = by_hand and _is_load(site) and gradient_state.requires_grad(site.tree.func.value, ctx) is False
        return _known(False) if before else Replace(site.updated.func)
    made = _made_with(site, ctx)
    if made is not None:
        return made
    if not (isinstance(ctx.small, ast.Expr) and ctx.small.value is site.tree):
        return Leave("its value is used: set requires_grad in a statement of its own")
    flag = site.argument("requires_grad")
    ctx.rebind.append(code_of(cst.Attribute(parenthesised(site.receiver), cst.Name("requires_grad"))))
    return Replace(flag.code if flag is not None else cst.Name("True"))


def _made_with(site: CallSite, ctx: Context) -> Replace | None:
    """Return ``ms.Parameter(x, requires_grad=flag)`` for ``nn.Parameter(x).requires_grad_(flag)``."""
    made, code = site.receiver_tree, site.receiver
    if not isinstance(made, ast.Call) or not isinstance(code, cst.Call) or len(made.args) != 1 or made.keywords:
        return None
    if ctx.kind(made.func).of != "torch.nn.Parameter" or code_of(code.func) != code_of(ctx.reference(_PARAMETER)):
        return None
    given = site.argument("requires_grad")
    flag = given.code if given is not None else cst.Name("True")
    return Replace(build("{made}({x}, requires_grad={flag})", made=code.func, x=code.args[0].value, flag=flag))


_PARAMETER = "mindspore.Parameter"


def _is_set_to(statement: ast.AST | None, flag: bool) -> bool:
    value = statement.value if isinstance(statement, ast.Assign) else None
    return isinstance(value, ast.Constant) and value.value is flag


@recipe("is_leaf")
def is_leaf(site: CallSite, ctx: Context) -> Outcome:
    """``x.is_leaf``: what torch would say, where the text shows it."""
    assert isinstance(site.tree.func, ast.Attribute)
    return _known(gradient_state.is_leaf(site.tree.func.value, ctx))


HISTORY = cst.Name("__history__")  # stands for what is not None, in a test for that alone


@recipe("grad_fn")
def grad_fn(site: CallSite, ctx: Context) -> Outcome:
    """``x.grad_fn``: None where torch has none, and whether it is None, where the text shows it."""
    assert isinstance(site.tree.func, ast.Attribute)
    answer = gradient_state.is_leaf(site.tree.func.value, ctx)
    if answer:
        return Replace(cst.Name("None"), (("T2M302", "torch would answer None; MindSpore's tensors do not say"),))
    if answer is False and is_none_test(ctx.parent(site.tree.func)):
        return Replace(HISTORY, (("T2M302", "torch would not answer None; MindSpore's tensors do not say"),))
    return Leave("MindSpore tensors hold no gradient: use the tuple that value_and_grad returns")


def is_none_test(node: ast.AST | None) -> bool:
    """Whether an expression asks whether its left side is None: ``x is None``, ``x is not None``."""
    if not isinstance(node, ast.Compare) or len(node.ops) != 1 or not isinstance(node.ops[0], (ast.Is, ast.IsNot)):
        return False
    other = node.comparators[0]
    return isinstance(other, ast.Constant) and other.value is None


def told_none(updated: cst.Comparison, tree: ast.Compare) -> cst.BaseExpression | None:
    """Return the answer to ``y.grad_fn is None`` where the recipe knows it; None for other comparisons."""
    left = tree.left
    if not (isinstance(left, ast.Attribute) and left.attr == "grad_fn" and is_none_test(tree)):
        return None
    if updated.left is HISTORY or (isinstance(updated.left, cst.Name) and updated.left.value == "None"):
        return cst.Name(str((updated.left is not HISTORY) is isinstance(tree.ops[0], ast.Is)))
    return None


def _known(answer: bool | None) -> Outcome:
    if answer is None:
        return Leave(_ONLY_PARAMETERS)
    return Replace(cst.Name(str(answer)), (("T2M302", f"torch would answer {answer}; MindSpore's tensors do not say"),))


def _asked(site: CallSite, ctx: Context) -> Outcome:
    """Return the runtime's answer, which is PyTorch's while a gradient function runs."""
    assert site.receiver is not None
    asked = ctx.reference("torch2ms.runtime.autograd.requires_grad")
    return Replace(cst.Call(asked, [cst.Arg(site.receiver)]), (("T2M303", gradient_state.WHILE_RECORDED),))


def _recorded(site: CallSite, ctx: Context) -> Outcome:
    """``x.requires_grad_()`` of a tensor says what torch records; value_and_grad says the rest."""
    if is_marking(ctx):
        return marked(site, ctx)
    note = ("T2M302", "requires_grad_ was dropped: value_and_grad is told what to differentiate by")
    if isinstance(ctx.small, ast.Expr) and ctx.small.value is site.tree:
        return Replace(DROPPED, (note,))
    assert site.receiver is not None
    return Replace(site.receiver, (note,))


@recipe("dense")
def dense(site: CallSite, ctx: Context) -> Outcome:
    """``x.is_sparse``: sparse tensors of torch are not translated, so that every tensor is dense."""
    return Replace(cst.Name("False"))


@recipe("transposed")
def transposed(site: CallSite, ctx: Context) -> Outcome:
    """``x.mT`` -> ``x.swapaxes(-2, -1)``."""
    assert site.receiver is not None
    return Replace(build("{x}.swapaxes(-2, -1)", x=site.receiver))


@recipe("part")
def part(site: CallSite, ctx: Context) -> Outcome:
    """``x.real`` -> ``x.real()``: what torch has as an attribute is a function of the tensor."""
    assert site.receiver is not None
    return Replace(build("{function}({x})", function=ctx.reference(site.option.target), x=site.receiver))
