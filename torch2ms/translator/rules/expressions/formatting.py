"""Tensors in format strings: torch formats one with a single value like a number, MindSpore refuses the format."""

from __future__ import annotations

import ast
import re
from string import Formatter
from typing import Any

import libcst as cst

from torch2ms.diagnostics import Severity
from torch2ms.translator.context import Context
from torch2ms.translator.effects import gradient_state
from torch2ms.translator.effects.reads_and_writes import dotted_path
from torch2ms.translator.effects.trained_tensors import trained_paths
from torch2ms.translator.syntax.ast_walk import walk
from torch2ms.translator.syntax.cst_builders import build, code_of, parse_expression
from torch2ms.translator.values.containers import element_of
from torch2ms.translator.values.dtypes import is_dtype
from torch2ms.translator.values.queries.known_values import values_of
from torch2ms.translator.values.queries.number_formats import (
    METERED,
    is_number_format,
    may_be_tensor,
    may_hold_tensors,
    string_values,
)
from torch2ms.translator.values.queries.ranks import ranks

__all__ = ["rewrite_field", "rewrite_format", "rewrite_percent", "rewrite_print", "rewrite_text", "text_call"]


def rewrite_field(node: cst.FormattedStringExpression, updated: Any, ctx: Context) -> Any:
    """Return ``{loss.item():.3f}`` for the field ``{loss:.3f}`` of an f-string where ``loss`` is a tensor."""
    if not node.format_spec and _is_dtype(node.expression, ctx):
        name = ctx.reference("torch2ms.runtime.functional.dtype_name")
        return updated.with_changes(expression=build("{name}({dtype})", name=name, dtype=updated.expression))
    if not node.format_spec and node.equal is None:
        is_bare = node.conversion is None
        text = _tensor_text(node.expression, updated.expression, ctx, is_formatted=is_bare)
        return updated if text is None else updated.with_changes(expression=text, conversion=None)
    if not node.format_spec or node.conversion is not None:
        return updated
    spec = "".join(code_of(part) for part in node.format_spec)
    number = _number(node.expression, updated.expression, spec, ctx)
    return updated if number is None else updated.with_changes(expression=number)


def _tensor_text(
    before: cst.BaseExpression, after: cst.BaseExpression, ctx: Context, *, is_formatted: bool
) -> cst.BaseExpression | None:
    """Return the text that PyTorch has for a tensor, or for what holds tensors; None for all else.

    ``is_formatted``: as a field of a format, where a tensor without axes is the number in it.
    """
    tree = ctx.alignment.tree(before)
    if not isinstance(tree, ast.expr) or not _has_text(tree, ctx):
        return None
    if is_formatted and ctx.kind(tree).is_tensor and ranks(tree, ctx) == {0}:
        return _item(after)
    return text_call(after, tree, ctx, is_formatted=is_formatted)


def text_call(
    code: cst.BaseExpression, tree: ast.expr, ctx: Context, *, is_formatted: bool = False
) -> cst.BaseExpression:
    """Return ``functional.tensor_text(x)``; a warning where the text of a tensor with a gradient becomes a value."""
    if isinstance(code, cst.Name) and code.value == "None":
        return code  # a gradient that is known to be none
    is_gradient = isinstance(tree, ast.Attribute) and tree.attr == "grad"
    is_own = is_gradient or ctx.kind(tree).name == "Parameter"  # the text of a weight says that it has one
    has_gradient = ctx.once(_has_gradients) and not is_own and gradient_state.requires_grad(tree, ctx)
    if ast.unparse(tree) in trained_paths(ctx):
        ctx.report("T2M303", tree, "its text says Parameter, which the tensor is in MindSpore", severity=Severity.NOTE)
    elif not is_formatted and has_gradient is not False:
        message = "PyTorch also writes how a tensor has its gradient: tensor([1., 2.], grad_fn=<MulBackward0>)"
        level = Severity.NOTE if _is_shown(tree, ctx) and not has_gradient else Severity.WARNING
        ctx.report("T2M303", tree, message, severity=level)
    name = "formatted_text" if is_formatted else "tensor_text"
    args = [cst.Arg(code)]
    function = "" if is_formatted else _function_of(tree, ctx)  # another string would end that of the format
    if function:
        args.append(cst.Arg(cst.SimpleString(f'"{function}"')))
    return cst.Call(ctx.reference(f"torch2ms.runtime.functional.{name}"), args)


# What torch returns with a class of its own, whose text names the fields.
_NAMED = frozenset("max min sort topk median nanmedian mode kthvalue cummax cummin aminmax".split())


def _function_of(tree: ast.expr, ctx: Context) -> str:
    """Return the name of the function whose result, with fields that have names, a value is; empty if it is none."""
    values = values_of(tree, ctx) if isinstance(tree, ast.Name) else [tree]
    names = {
        getattr(value.func, "attr", getattr(value.func, "id", "")) if isinstance(value, ast.Call) else ""
        for value in values
    }
    name = next(iter(names), "")
    return name if len(names) == 1 and name in _NAMED and ctx.kind(tree).name == "tuple" else ""


def _has_text(tree: ast.expr, ctx: Context) -> bool:
    """Whether a value is a tensor or holds some, and PyTorch's text of it is wanted.

    What programs with networks show to people stays as it is: their losses would need the names of PyTorch's
    gradients as well, and what a network prints may be compiled.
    """
    kind = ctx.kind(tree)
    if not kind.is_tensor and not (
        kind.name in ("list", "tuple", "dict") and bool(kind.items) and all(item.is_tensor for item in kind.items)
    ):
        return False
    if not (_is_shown(tree, ctx) and ctx.once(_has_networks)):
        return True
    if tree in ctx.training.kept or _is_weight(tree, ctx):
        return True  # a weight, or a gradient that is kept with it: MindSpore's text would name it, without its values
    message = "the text of a tensor is MindSpore's: [1. 2.], where PyTorch writes tensor([1., 2.])"
    ctx.report("T2M303", tree, message, severity=Severity.NOTE)
    return False


def _is_weight(tree: ast.expr, ctx: Context) -> bool:
    """Whether a tensor is one of MindSpore's parameters, outside of networks, which may be compiled."""
    function = ctx.functions[-1]
    if (
        function is not None
        and function.owner is not None
        and "torch.nn.Module" in ctx.world.ancestry(function.owner.key)
    ):
        return False
    return ctx.kind(tree).name == "Parameter" or ast.unparse(tree) in trained_paths(ctx)


def _has_networks(ctx: Context) -> bool:
    return not ctx.once(_used_names).isdisjoint({"Module", "named_parameters", "parameters", "step"})


def _has_gradients(ctx: Context) -> bool:
    """Whether a file computes gradients, so that its tensors may have one."""
    return ctx.once(_has_networks) or not ctx.once(_used_names).isdisjoint(
        {"requires_grad", "requires_grad_", "backward", "Parameter"}
    )


def _used_names(ctx: Context) -> frozenset[str]:
    """Return the names that a file reads of objects, imports and gives to calls."""
    names = {node.attr for node in ctx.analysis.all(ast.Attribute)}
    names |= {word.arg for node in ctx.analysis.all(ast.Call) for word in node.keywords if word.arg}
    return frozenset(names | {node.id for node in ctx.analysis.nodes if isinstance(node, ast.Name)})


def rewrite_print(updated: cst.Call, tree: ast.Call, ctx: Context) -> cst.Call:
    """Return ``print("x:", functional.tensor_text(x))`` for a tensor that ``print`` is given."""
    is_print = isinstance(tree.func, ast.Name) and tree.func.id == "print" and not ctx.kind(tree.func).known
    if not is_print or len(tree.args) > len(updated.args):
        return updated
    args = list(updated.args)
    for index, given in enumerate(tree.args):
        value, star = (given.value, "*") if isinstance(given, ast.Starred) else (given, "")
        if args[index].star == star and not (star and ctx.kind(value).name == "dict") and _has_text(value, ctx):
            text: Any = text_call(args[index].value, value, ctx)
            text = build("map({f}, {x})", f=text.func, x=text.args[0].value) if star else text
            args[index] = args[index].with_changes(value=text)
    return updated if all(a is b for a, b in zip(args, updated.args, strict=True)) else updated.with_changes(args=args)


def rewrite_text(node: cst.FormattedString, updated: cst.FormattedString, ctx: Context) -> cst.FormattedString:
    """Return an f-string whose sizes read as torch's do: ``torch.Size({list(x.shape)})`` for ``{x.shape}``."""
    parts: list[cst.BaseFormattedStringContent] = []
    for before, after in zip(node.parts, updated.parts, strict=True):
        if isinstance(after, cst.FormattedStringExpression) and isinstance(before, cst.FormattedStringExpression):
            plain = not before.format_spec and before.conversion is None and before.equal is None
            if plain and _is_size(before.expression, ctx):
                after = after.with_changes(expression=build("list({size})", size=after.expression))
                parts += [cst.FormattedStringText("torch.Size("), after, cst.FormattedStringText(")")]
                continue
            if after.expression is not before.expression and updated.quote[0] in code_of(after.expression):
                after = after.with_changes(expression=after.expression.visit(_OtherQuotes(updated.quote[0])))
        parts.append(after)
    is_same = all(a is b for a, b in zip(parts, updated.parts, strict=False)) and len(parts) == len(updated.parts)
    return updated if is_same else updated.with_changes(parts=parts)


class _OtherQuotes(cst.CSTTransformer):
    """Gives the texts inside of an f-string other quotes than its own; before Python 3.12 they have to."""

    def __init__(self, quote: str) -> None:
        self._quote, self._other = quote, "'" if quote == '"' else '"'

    def leave_SimpleString(self, original_node: cst.SimpleString, updated_node: cst.SimpleString) -> cst.SimpleString:
        text = updated_node.value
        if self._other in text or text.count(self._quote) != 2:
            return updated_node
        return updated_node.with_changes(value=text.replace(self._quote, self._other))

    def leave_FormattedString(
        self, original_node: cst.FormattedString, updated_node: cst.FormattedString
    ) -> cst.FormattedString:
        if updated_node.quote != self._quote or self._other in code_of(updated_node):
            return updated_node
        start = updated_node.start.replace(self._quote, self._other)
        return updated_node.with_changes(start=start, end=self._other)


def rewrite_format(node: cst.Call, updated: cst.Call, tree: ast.Call, ctx: Context) -> cst.Call:
    """Return ``"{:.3f}".format(loss.item())`` for the tensor ``loss``."""
    func = tree.func
    if isinstance(func, ast.Name) and func.id == "format" and len(updated.args) == 2 and not ctx.kind(func).known:
        number = _number(node.args[0].value, updated.args[0].value, code_of(node.args[1].value).strip("'\""), ctx)
        first = updated.args[0] if number is None else updated.args[0].with_changes(value=number)
        return updated.with_changes(args=[first, updated.args[1]])
    if isinstance(func, ast.Attribute) and func.attr == "format" and _hands_over_attributes(tree):
        return _at_run_time(updated, ctx)
    if not isinstance(func, ast.Attribute) or func.attr != "format":
        return updated
    if not isinstance(func.value, ast.Constant):
        return _at_run_time(updated, ctx) if _formats_tensors(func.value, tree, ctx) else updated
    if not isinstance(func.value.value, str):
        return updated
    if _unpacks_tensors(func.value.value, tree, ctx):
        return _at_run_time(updated, ctx)
    if any(isinstance(value, ast.Starred) for value in tree.args):
        return updated
    if _shows_meters(func.value.value, tree, ctx):
        return _at_run_time(updated, ctx)
    formatted = _with_spec(func.value.value)
    bare = _bare_fields(func.value.value)
    args = list(updated.args)
    position = 0
    for index, (before, after) in enumerate(zip(node.args, updated.args, strict=True)):
        key = before.keyword.value if before.keyword is not None else str(position)
        position += before.keyword is None
        spec = formatted.get(key, "") if not before.star else ""
        number = _number(before.value, after.value, spec, ctx) if spec else None
        if number is None and key in bare and not before.star:
            number = _text_of(before.value, after.value, ctx, is_formatted=True)
        if number is not None:
            args[index] = after.with_changes(value=number)
    return updated if all(a is b for a, b in zip(args, updated.args, strict=True)) else updated.with_changes(args=args)


def rewrite_percent(node: cst.BinaryOperation, updated: cst.BinaryOperation, ctx: Context) -> cst.BinaryOperation:
    """Return ``"%s" % (x.shape,)`` with the texts that torch has for sizes and dtypes."""
    if not isinstance(node.left, cst.SimpleString) or "%s" not in node.left.value:
        return updated
    if not isinstance(node.right, cst.Tuple) or not isinstance(updated.right, cst.Tuple):
        is_one = _is_dtype(node.right, ctx) or _is_tensor(node.right, ctx)
        text = _text_of(node.right, updated.right, ctx) if is_one and node.left.value.count("%") == 1 else None
        return updated if text is None else updated.with_changes(right=text)
    elements = list(updated.right.elements)
    shown = [index for index, kind in enumerate(_CONVERSIONS.findall(node.left.value)) if kind == "s"]
    for index, before in enumerate(node.right.elements):
        text = _text_of(before.value, elements[index].value, ctx) if index in shown else None
        if text is not None:
            elements[index] = elements[index].with_changes(value=text)
    if all(a is b for a, b in zip(elements, updated.right.elements, strict=True)):
        return updated
    return updated.with_changes(right=updated.right.with_changes(elements=elements))


def _hands_over_attributes(tree: ast.Call) -> bool:
    """Whether all that an object holds is formatted: ``template.format(**self.__dict__)``, as meters do."""
    found = [keyword.value for keyword in tree.keywords if keyword.arg is None]
    return any(isinstance(value, ast.Attribute) and value.attr == "__dict__" for value in found)


def _formats_tensors(template: ast.expr, tree: ast.Call, ctx: Context) -> bool:
    """Whether a template that has a name, ``FORMAT.format(loss=loss)``, may be filled in with tensors."""
    if ctx.kind(template).name != "str":
        return False
    given = [*tree.args, *(keyword.value for keyword in tree.keywords)]
    if any(_holds(value, _perhaps_tensors(ctx), ctx) for value in given):
        return True
    texts = string_values(template, ctx)
    shows_numbers = any(is_number_format(spec) for text in texts for spec in _specs(text))
    return shows_numbers and any(may_be_tensor(value, ctx) for value in given)


def _at_run_time(updated: cst.Call, ctx: Context) -> cst.Call:
    template = cst.ensure_type(updated.func, cst.Attribute).value
    first = cst.Arg(template, comma=cst.Comma(whitespace_after=cst.SimpleWhitespace(" ")))
    return cst.Call(ctx.reference("torch2ms.runtime.metrics.formatted"), [first, *updated.args])


def _shows_meters(text: str, tree: ast.Call, ctx: Context) -> bool:
    """Whether a template looks into an object that holds tensors: ``"{top1.avg:.3f}".format(top1=top1)``."""
    meters = {key.arg: key.value for key in tree.keywords if key.arg and dotted_path(key.value) in ctx.once(_meters)}
    try:
        return any(name and spec and name.partition(".")[0] in meters and "." in name
                   for _, name, spec, _ in Formatter().parse(text))  # fmt: skip
    except ValueError:
        return False


def _meters(ctx: Context) -> frozenset[str]:
    """Return the paths of objects that are given tensors: ``top1.update(accuracies[0], count)``."""
    found: set[str] = set()
    for node in ctx.analysis.nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "update":
            first = node.args[0] if node.args else None
            path = dotted_path(node.func.value)
            if first is None or path is None or ctx.kind(node.func).name == "api":
                continue
            may_be = isinstance(first, ast.Subscript) or getattr(first, "id", "") in ctx.once(_sometimes_tensors)
            if ctx.kind(first).is_tensor or (may_be and not ctx.kind(first).known):
                found.add(path)
    return frozenset(found)


def _sometimes_tensors(ctx: Context) -> frozenset[str]:
    """Return the names that some branch gives a tensor: ``norm = clip_grad_norm_(...)``, ``norm = own_norm(...)``."""
    given = (node for node in ctx.analysis.all(ast.Assign) if ctx.kind(node.value).is_tensor)
    return frozenset(target.id for node in given for target in node.targets if isinstance(target, ast.Name))


def _results(ctx: Context) -> frozenset[str]:
    """Return the functions of the file that return what a meter holds: ``return top1.avg``."""
    meters = ctx.once(_meters)
    return frozenset(
        node.name
        for node in ctx.analysis.all(ast.FunctionDef)
        for inner in walk(node)
        if isinstance(inner, ast.Return)
        and isinstance(inner.value, ast.Attribute)
        and inner.value.attr in METERED
        and dotted_path(inner.value.value) in meters
    )


def _unpacks_tensors(text: str, tree: ast.Call, ctx: Context) -> bool:
    """Whether what a container holds is formatted as numbers: ``"{:.3f} {:.3f}".format(*losses)``, ``**losses``."""
    given = [value.value for value in tree.args if isinstance(value, ast.Starred)]
    given += [keyword.value for keyword in tree.keywords if keyword.arg is None]
    specs = _specs(text)
    if specs and any(element_of(ctx.kind(value)).may_be("Tensor", "Parameter") for value in given):
        return True
    return any(map(is_number_format, specs)) and any(may_hold_tensors(value, ctx) for value in given)


def _specs(text: str) -> list[str]:
    """Return the formats of the fields of a template."""
    try:
        return [spec for _, name, spec, _ in Formatter().parse(text) if name is not None and spec]
    except ValueError:
        return []


def _with_spec(text: str) -> dict[str, str]:
    """Return the fields (numbers as text) that always have a format, with one: not shown plainly anywhere else."""
    found: dict[str, str] = {}
    position = 0
    try:
        for _, name, spec, conversion in Formatter().parse(text):
            if name is None:
                continue
            key = name
            if not name:
                key, position = str(position), position + 1
            plain = "." in name or "[" in name or bool(conversion)
            found[key] = (spec or "") if found.get(key, "any") and not plain else ""
    except ValueError:
        return {}
    return {key: spec for key, spec in found.items() if spec}


def _bare_fields(text: str) -> set[str]:
    """Return the names of the fields that show their value as it is."""
    plain = text.replace("{}", "")
    if "{" not in plain:
        return {str(position) for position in range(text.count("{}"))}
    try:
        return {name for _, name, spec, conversion in Formatter().parse(text) if name and not spec and not conversion}
    except ValueError:
        return set()


_CONVERSIONS = re.compile(r"%(?:\([^)]*\))?[-+ #0-9.*]*([a-zA-Z])")  # of "%-8s %.3f": s, f


def _text_of(
    before: cst.BaseExpression, after: cst.BaseExpression, ctx: Context, *, is_formatted: bool = False
) -> cst.BaseExpression | None:
    """Return the text torch has for a dtype, a size or a tensor; None for all else."""
    text = _tensor_text(before, after, ctx, is_formatted=is_formatted)
    if text is not None:
        return text
    if _is_size(before, ctx):
        shape = code_of(after)
        return None if '"' in shape or "\n" in shape else parse_expression(f'f"torch.Size({{list({shape})}})"')
    if not _is_dtype(before, ctx):
        return None
    return cst.Call(ctx.reference("torch2ms.runtime.functional.dtype_name"), [cst.Arg(after)])


def _is_tensor(code: cst.BaseExpression, ctx: Context) -> bool:
    tree = ctx.alignment.tree(code)
    return isinstance(tree, ast.expr) and ctx.kind(tree).is_tensor


def _is_dtype(code: cst.BaseExpression, ctx: Context) -> bool:
    tree = ctx.alignment.tree(code)
    return isinstance(tree, ast.expr) and is_dtype(ctx.kind(tree))


def _is_size(code: cst.BaseExpression, ctx: Context) -> bool:
    """Whether the text of a size becomes part of a value; what is only shown to people may say it in other words."""
    tree = ctx.alignment.tree(code)
    return isinstance(tree, ast.expr) and ctx.kind(tree).name == "Size" and not _is_shown(tree, ctx)


def _is_shown(tree: ast.AST | None, ctx: Context) -> bool:
    """Whether a value goes to people alone: it is printed, logged, or told with an exception."""
    while isinstance(tree, ast.expr):
        if isinstance(tree, ast.Call) and dotted_path(tree.func) is not None and _shows(dotted_path(tree.func) or ""):
            return True
        tree = ctx.parent(tree)
    return isinstance(tree, (ast.Raise, ast.Assert))


def _shows(path: str) -> bool:
    last = path.rpartition(".")[2]
    return last in ("print", "info", "debug", "warning", "warn", "error", "write", "log") or last.endswith(
        ("Error", "Warning", "Exception")
    )


def _number(
    before: cst.BaseExpression, after: cst.BaseExpression, spec: str, ctx: Context
) -> cst.BaseExpression | None:
    """Return the number in what is formatted; None where it is none of a tensor."""
    if _is_tensor(before, ctx):
        return _item(after)
    tree = ctx.alignment.tree(before)
    if not isinstance(tree, ast.expr) or ctx.kind(tree).name == "str":
        return None
    is_seen = ctx.kind(tree).may_be("Tensor", "Parameter") or _holds(tree, _perhaps_tensors(ctx), ctx)
    if not is_seen and not (is_number_format(spec) and may_be_tensor(tree, ctx)):
        return None
    return cst.Call(ctx.reference("torch2ms.runtime.metrics.number"), [cst.Arg(after)])


_TO_NUMBERS = frozenset({"float", "int", "len", "str"})  # functions
_NUMBERS_OF = frozenset({"item", "tolist", "numpy", "size", "dim", "numel", "time"})  # methods


def _perhaps_tensors(ctx: Context) -> set[str]:
    """Return the names that this function gives a tensor at some point, whatever else they are.

    ``correct = 0``, ``correct += hits.sum()``, ``accuracy = correct / n``, ``best = 0.0``, ``best = accuracy``.
    """
    function = ctx.functions[-1]
    here = function.node if function is not None else ctx.analysis.tree
    known: dict[int, set[str]] = ctx.once(_no_functions)
    if id(here) in known:
        return known[id(here)]
    found: set[str] = set()
    bindings = [node for node in walk(here) if isinstance(node, (ast.Assign, ast.AugAssign))]
    for _ in range(4):  # names are handed on a few times at most
        before = len(found)
        for node in bindings:
            if _holds(node.value, found, ctx):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                found |= {path for target in targets if (path := dotted_path(target)) is not None}
        if len(found) == before:
            break
    known[id(here)] = found
    return found


def _no_functions(ctx: Context) -> dict[int, set[str]]:
    return {}


def _holds(tree: ast.expr, names: set[str], ctx: Context) -> bool:
    """Whether a value may be computed from tensors and still be one."""
    if isinstance(tree, ast.Call):
        if isinstance(tree.func, ast.Name) and tree.func.id in ("max", "min", "abs", "sum", "round"):
            return any(_holds(given, names, ctx) for given in tree.args)
        if isinstance(tree.func, ast.Name) and tree.func.id in ctx.once(_results):
            return True
        plain = isinstance(tree.func, ast.Name) and tree.func.id in _TO_NUMBERS
        if plain or (isinstance(tree.func, ast.Attribute) and tree.func.attr in _NUMBERS_OF):
            return False
        if ctx.kind(tree).name in ("int", "float", "str", "list", "dict", "tuple", "ndarray"):
            return False
        return ctx.kind(tree).is_tensor or (
            isinstance(tree.func, ast.Attribute) and _holds(tree.func.value, names, ctx)
        )
    if isinstance(tree, ast.BinOp):
        return _holds(tree.left, names, ctx) or _holds(tree.right, names, ctx)
    if isinstance(tree, ast.UnaryOp):
        return _holds(tree.operand, names, ctx)
    if isinstance(tree, ast.Attribute) and tree.attr in METERED and dotted_path(tree.value) in ctx.once(_meters):
        return True
    return ctx.kind(tree).is_tensor or dotted_path(tree) in names


def _item(code: cst.BaseExpression) -> cst.BaseExpression:
    return build("{value}.item()", value=code)
