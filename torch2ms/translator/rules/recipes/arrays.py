"""Tensors made of numpy's arrays: in torch they share the memory, which matters where one of the two is changed."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from torch2ms.translator.context import Context
from torch2ms.translator.effects.later_writes import changes_behind, scope_of
from torch2ms.translator.rules.call_site import CallSite, Outcome, Replace, recipe
from torch2ms.translator.rules.emission import emit_call
from torch2ms.translator.rules.recipes.creation import holds_tensors, with_numbers
from torch2ms.translator.rules.recipes.gradient_cuts import cut_from_floats
from torch2ms.translator.syntax.ast_walk import walk
from torch2ms.translator.values.dtypes import family

__all__: list[str] = []

_SHARES_SINCE = (2, 10)
_COPY = "the array and the tensor share their memory in torch: the one does not see changes of the other in MindSpore"
_LATE = "the array is changed after MindSpore was asked to compute with the tensor, and may be before it has done so"

_READERS = frozenset({"print", "str", "repr", "numpy", "item", "tolist", "format"})


@recipe("array")
def array(site: CallSite, ctx: Context) -> Outcome:
    """``torch.from_numpy(a)`` -> ``ms.Tensor(a)``, or ``ms.Tensor.from_numpy(a)`` where a change is to be seen."""
    made = _cut(emit_call(site, ctx), site, ctx)
    if isinstance(made, Replace) and site.tree.args and holds_tensors(site.tree.args[0], ctx):
        return with_numbers(made, ctx)
    names = _names(site, ctx)
    if names is None or not isinstance(made, Replace) or len(site.tree.args) + len(site.tree.keywords) != 1:
        return made
    tensor, of = names
    if ctx.kind(site.tree.args[0]).is_tensor:  # torch.as_tensor(t) is t itself
        return Replace(site.updated.args[0].value)
    changes = [node.lineno for node in changes_behind((tensor, of), site.tree, ctx)]
    if not changes:
        return made
    if ctx.target.mindspore < _SHARES_SINCE:
        return Replace(made.code, (*made.codes, ("T2M305", _COPY)))
    code = cst.Call(
        cst.Attribute(ctx.reference("mindspore.Tensor"), cst.Name("from_numpy")), [cst.Arg(site.updated.args[0].value)]
    )
    late = any(site.tree.lineno < use.lineno < max(changes) for use in _computed_with(tensor, site, ctx))
    return Replace(code, (("T2M305", _LATE),) if late else ())


def _cut(made: Outcome, site: CallSite, ctx: Context) -> Outcome:
    """Return what ``torch.as_tensor(x, dtype=torch.int64)`` became, cut off from the gradient of a tensor."""
    given, dtype = next(iter(site.tree.args), None), site.argument("dtype")
    code = made.code if isinstance(made, Replace) else None
    if not isinstance(code, cst.Call) or dtype is None or given is None or not ctx.kind(given).is_tensor:
        return made
    if family(ctx.kind(dtype.tree).of) not in ("int", "bool"):
        return made
    first, *rest = code.args
    cut = cut_from_floats(first.value, given, site.tree, ctx)
    return Replace(code.with_changes(args=[first.with_changes(value=cut), *rest]), made.codes)  # type: ignore[union-attr]


def _names(site: CallSite, ctx: Context) -> tuple[str, str] | None:
    """Return the names of the tensor and of the array of ``t = torch.from_numpy(a)``; None for other statements."""
    small, given = ctx.small, next(iter(site.tree.args), None)
    if not isinstance(small, ast.Assign) or small.value is not site.tree or not isinstance(given, ast.Name):
        return None
    kind = ctx.kind(given)
    of_array = site.row.name == "torch.from_numpy" or kind.name == "ndarray" or kind.is_tensor
    target = small.targets[0]
    return (target.id, given.id) if of_array and isinstance(target, ast.Name) and target.id != given.id else None


def _computed_with(tensor: str, site: CallSite, ctx: Context) -> Iterator[ast.Name]:
    """Yield where the tensor is used in a way that MindSpore may finish later."""
    for node in walk(scope_of(ctx)):
        if isinstance(node, ast.Name) and node.id == tensor and isinstance(node.ctx, ast.Load):
            parent = ctx.parent(node)
            if isinstance(parent, ast.Call):
                name = parent.func
                read = (name.attr if isinstance(name, ast.Attribute) else getattr(name, "id", "")) in _READERS
            else:
                read = isinstance(parent, ast.FormattedValue) or (
                    isinstance(parent, ast.Attribute) and (parent.attr in _READERS or parent.attr in ("shape", "dtype"))
                )
            if not read and not isinstance(parent, ast.Subscript):
                yield node
