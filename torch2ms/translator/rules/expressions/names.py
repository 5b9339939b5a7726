"""Values: torch names that stand for themselves - base classes, annotations, isinstance, arguments, constants.

A class handed on as a value will be called later, with torch's arguments. It becomes the bare MindSpore class when
every call in the project that can reach it means the same there, and the runtime's class with torch's signature
otherwise.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

import libcst as cst

from torch2ms.diagnostics import Severity
from torch2ms.mapping_tables.schema import DROP, RECEIVER, MappedTo, Row
from torch2ms.translator.context import Context
from torch2ms.translator.project.file_index import CallShape
from torch2ms.translator.rules.call_site import NO_CLASS
from torch2ms.translator.rules.calls.dynamic import (
    LAYERS_BY_NAME,
    is_asked_by_name,
    is_looked_into,
    report_string,
    rewrite_member_name,
    rewrite_module_name,
)
from torch2ms.translator.rules.calls.loaded_modules import rewrite_loaded_module
from torch2ms.translator.rules.emission import choose_row
from torch2ms.translator.rules.expressions.operators import careful, rewrite_operator, takes_whole
from torch2ms.translator.rules.module_values import MODULES, SAME_CALLS
from torch2ms.translator.rules.recipes.switches import read_switch
from torch2ms.translator.syntax.ast_walk import parse_string, walk
from torch2ms.translator.syntax.cst_builders import build, code_of, parse_expression
from torch2ms.translator.syntax.names import EITHER_DEVICE, dotted
from torch2ms.translator.values.families import instance_of
from torch2ms.translator.values.kinds import Kind, candidates

__all__ = [
    "handed_on",
    "rewrite_expression",
    "rewrite_value",
]

FAMILIES = "torch2ms.runtime.layers.families."  # classes that say what a layer is; only the losses can be derived from
_CELL, _NETWORKS = "mindspore.nn.Cell", ("torch.nn.Module", "torch.nn.modules.module.Module")
_DROPPED = "only as an argument that is dropped"  # how the rows of layouts and memory formats begin


def rewrite_value(node: cst.BaseExpression, tree: ast.Name | ast.Attribute, ctx: Context) -> cst.BaseExpression:
    """Return what a torch name that is not called on the spot becomes."""
    names = candidates(ctx.kind(tree))
    module = next((MODULES[name] for name in names if name in MODULES), None)
    if names and names[0] in EITHER_DEVICE and _is_of_either_device(tree, ctx):
        module = MODULES["torch"]
    if len(names) == 1 and is_asked_by_name(tree, names[0], ctx):
        ctx.account(tree, names[0], "mapped", LAYERS_BY_NAME)
        return ctx.reference(LAYERS_BY_NAME)
    if names == ("torch.nn.__dict__",):
        ctx.account(tree, names[0], "mapped", LAYERS_BY_NAME)
        return cst.Attribute(ctx.reference(LAYERS_BY_NAME), cst.Name("__dict__"))
    if module is not None and len(names) == 1:
        ctx.account(tree, names[0], "mapped", module)
        if names[0] not in SAME_CALLS and names[0] in MODULES and not _is_spoken_for(tree, ctx):
            message = (
                f"{names[0]} is handed on: what is called through it is {module}'s, with other names and arguments"
            )
            ctx.report("T2M208", tree, message, symbol=names[0])
        return ctx.reference(module)
    known = len(names) != 1 or ctx.tables.row(names[0]) is not None
    if not known and is_looked_into(tree, ctx):
        ctx.account(tree, names[0], "removed")
        return node  # the look-up itself is translated, or told
    if not known and ctx.tables.is_module(names[0]):
        ctx.account(tree, names[0], "unknown")
        ctx.report("T2M202", tree, f"the module {names[0]} is handed on as a value", symbol=names[0])
        return ctx.left(names[0])
    row = choose_row(ctx, tree, names)
    if row is None:
        return ctx.left(names[0]) if len(names) == 1 else node
    if row.keep:
        if row.keep.startswith(_DROPPED):
            ctx.account(tree, row.name, "removed", advice=row.keep)
            if not isinstance(ctx.parent(tree), ast.keyword):  # a setting handed on goes with its argument
                ctx.report("T2M302", tree, f"{row.name} became None: it is {row.keep}", symbol=row.name)
            return cst.Name("None")
        ctx.account(tree, row.name, "kept", advice=row.keep)
        message = f"{row.name} stays torch's"
        ctx.report("T2M307", tree, message, symbol=row.name, advice=row.keep, severity=Severity.ERROR)
        return ctx.left(row.name)
    options = ctx.tables.select(row, ctx.target)
    if row.unsupported or not options:
        advice = row.unsupported or f"not available for {ctx.target}"
        ctx.account(tree, row.name, "unsupported", advice=advice)
        ctx.report("T2M201", tree, f"{row.name} has no MindSpore equivalent", symbol=row.name, advice=advice)
        return ctx.left(row.name)
    option = _usual(options) if ctx.use_of(tree) == "type" else options[0]
    if option.recipe == "switch" and row.kind == "attribute":
        ctx.account(tree, row.name, "mapped", option.target)
        return read_switch(row.name, option.target, ctx)
    made: cst.BaseExpression = handed_on(node, tree, row, option, ctx)
    if row.kind == "function" and _is_of_class(tree, ctx):
        return build("staticmethod({f})", f=made)
    return made


def _is_of_class(tree: ast.AST, ctx: Context) -> bool:
    """Whether a function is an attribute of a class: torch's are builtins, a Python function would become a method."""
    parent = ctx.parent(tree)
    owner = ctx.parent(parent) if isinstance(parent, ast.Assign) and parent.value is tree else None
    return isinstance(owner, ast.ClassDef) and not any("Enum" in ast.unparse(base) for base in owner.bases)


def _usual(options: Sequence[MappedTo]) -> MappedTo:
    """Return the target that instances are tested for: not a layer of the runtime's for seldom arguments.

    It derives from the layer of MindSpore's that all other arguments make.
    """
    first = options[0]
    if first.when and first.target.startswith("torch2ms.runtime.layers."):
        return next((option for option in options if option.target.startswith("mindspore.nn.")), first)
    return first


def _is_of_either_device(tree: ast.AST, ctx: Context) -> bool:
    """Whether a module is one of ``torch.cuda if use_cuda else torch``, which stands for torch."""
    parent = ctx.parent(tree)
    if not isinstance(parent, ast.IfExp) or tree is parent.test:
        return False
    return {ctx.kind(parent.body).of, ctx.kind(parent.orelse).of} == EITHER_DEVICE


def _is_spoken_for(tree: ast.AST, ctx: Context) -> bool:
    """Whether a module only gets another name, as well known as its own, or a name is looked up in it."""
    parent = ctx.parent(tree)
    if isinstance(parent, ast.IfExp) and _is_of_either_device(tree, ctx):
        parent = ctx.parent(parent)
    if (
        isinstance(parent, ast.Call)
        and isinstance(parent.func, ast.Name)
        and parent.func.id in ("getattr", "hasattr", "setattr", "delattr")
    ):
        return True
    if isinstance(parent, ast.Compare):
        return True  # torch is None
    if isinstance(parent, ast.Attribute) and ctx.kind(parent).name in ("class", "function"):
        return True  # nn.MaskedLinear, which the program put there
    return isinstance(parent, ast.Assign) and all(isinstance(target, ast.Name) for target in parent.targets)


def _for_keywords(row: Row, option: MappedTo, ctx: Context) -> MappedTo:
    """Return the target of a function that is handed on: one that takes ``alpha`` where the file calls with it."""
    given = ctx.once(_keywords)
    if given.isdisjoint(option.when):
        return option
    options = ctx.tables.select(row, ctx.target)
    return next((other for other in options if given.isdisjoint(other.when) and not other.edge), option)


def _keywords(ctx: Context) -> set[str]:
    """Return the keywords of the calls of names that no import binds, and of ``functools.partial``."""
    calls = [node for node in ctx.analysis.nodes if isinstance(node, ast.Call)]
    own = [c for c in calls if isinstance(c.func, ast.Name) and not ctx.is_import_root(c.func)]
    own += [c for c in calls if getattr(c.func, "attr", getattr(c.func, "id", "")) == "partial"]
    return {word.arg or "" for call in own for word in call.keywords}


def handed_on(node: cst.BaseExpression, tree: ast.expr, row: Row, option: MappedTo, ctx: Context) -> Any:
    """Return what a class or function becomes that is not called on the spot."""
    use = ctx.use_of(tree)
    if use == "value" and row.kind == "function":
        option = _for_keywords(row, option, ctx)
    target = option.target
    wraps = target == RECEIVER or (row.name.startswith("torch.nn.parallel.") and target.rpartition(".")[2].islower())
    wraps = wraps and instance_of(row.name).name == "Module"
    wraps = wraps or (target == _CELL and row.name not in _NETWORKS)  # no class of its own
    if use == "type" and wraps and row.kind == "class" and _is_tested(tree, ctx):
        ctx.account(tree, row.name, "removed")
        ctx.report("T2M304", tree, f"nothing is a {row.name} in MindSpore; the test was dropped", symbol=row.name)
        return NO_CLASS
    if use == "type" and row.kind == "class" and instance_of(row.name).is_tensor and row.name != "torch.nn.Parameter":
        target = "mindspore.Tensor"
        if row.name.endswith("Tensor") and row.name != "torch.Tensor" and _is_tested(tree, ctx):
            message = f"isinstance(x, {row.name.removeprefix('torch.')}) asked for a dtype as well; compare x.dtype"
            ctx.report("T2M303", tree, message, symbol=row.name)
    if use == "decorator" and (target in (RECEIVER, DROP) or option.recipe == "no_grad"):
        from torch2ms.translator.rules.recipes.contexts import PLAIN_CONTEXT

        ctx.account(tree, row.name, "removed")
        ctx.report("T2M304", tree, f"{row.name} has no effect in MindSpore; dropped", symbol=row.name)
        return PLAIN_CONTEXT
    if option.recipe == "literal" and row.kind == "function" and use == "value":
        ctx.account(tree, row.name, "mapped", target, option.fidelity)
        return _constant_function(tree, row, target, ctx)
    if use == "base" and target.startswith(FAMILIES) and not target.endswith(("Loss", ".BatchNorms")):
        ctx.account(tree, row.name, "unsupported", advice="derive from the concrete layer")
        ctx.report("T2M201", tree, f"{row.name} has no MindSpore equivalent to derive from", symbol=row.name,
                   advice="derive from the concrete layer")  # fmt: skip
        return ctx.left(row.name)
    if row.kind in ("class", "function") and use != "type":
        if use == "base":
            target = row.adapter or target
        elif row.kind == "class" or row.adapter or option.rename or option.recipe or target.startswith("@"):
            changed = option.transform or option.write_default or option.add or option.drop
            plain = not row.adapter and not changed and not _renamed(row, option, ctx)
            bare = (
                not target.startswith("@") and option.recipe is None and (plain or _compatible(tree, row, option, ctx))
            )
            if not bare and row.adapter and (row.name != "torch.Tensor" or _is_called_later(tree, ctx)):
                target = row.adapter
            elif not (bare or target.startswith("@") or "Tensor." in target):
                ctx.report("T2M208", tree, f"{row.name} is handed on; calls through it need {target}'s arguments",
                           symbol=row.name)  # fmt: skip
    if target.startswith("@") or "Tensor." in target:
        ctx.account(tree, row.name, "unsupported", advice="used as a value")
        ctx.report("T2M203", tree, f"{row.name} cannot be handed on as a value", symbol=row.name)
        return ctx.left(row.name)
    if use == "value" and row.kind == "function":
        target = careful(row, target, ctx)
    ctx.account(tree, row.name, "mapped", target, option.fidelity)
    if use == "value" and row.kind == "function" and target.startswith("mindspore.") and takes_whole(row, ctx):
        names = {"wrap": ctx.reference("torch2ms.runtime.functional.of_floats"), "f": ctx.reference(target)}
        return build("{wrap}({f})", **names)
    if row.kind == "attribute" and option.recipe == "literal":
        return ctx.literal(target)
    made = ctx.reference(target, tree if isinstance(tree, (ast.Name, ast.Attribute)) else None)
    return made.with_changes(lpar=node.lpar, rpar=node.rpar) if node.lpar else made


def _constant_function(tree: ast.expr, row: Row, answer: str, ctx: Context) -> cst.BaseExpression:
    """Return what a function becomes that always answers the same, where it is not called: ``lambda: False``."""
    signature = ctx.tables.signature(row.name)
    given = " *_, **__" if signature is not None and signature.parameters else ""
    made = f"lambda{given}: {answer}"
    is_alone = isinstance(ctx.parent(tree), (ast.Assign, ast.keyword)) or tree in getattr(ctx.parent(tree), "args", ())
    return parse_expression(made if is_alone else f"({made})")


def _renamed(row: Row, option: MappedTo, ctx: Context) -> set[str]:
    """Return the arguments with another name; but for the first of a function, where no call of the file names it."""
    names = set(option.rename)
    signature = ctx.tables.signature(row.name)
    if row.kind == "function" and signature is not None and signature.parameters:
        names -= {signature.parameters[0].name} - ctx.once(_keywords)
    return names


def _compatible(tree: ast.AST, row: Row, option: MappedTo, ctx: Context) -> bool:
    """Whether every call that can reach the value means the same with the bare target."""
    names = ctx.value_names(tree)
    if not names:
        return False
    symbols = ctx.world.symbols
    aliases = symbols.aliases(names)
    if symbols.escapes(aliases):
        return False
    shapes = symbols.shapes(aliases)
    source = ctx.tables.signature(row.name)
    target = ctx.tables.target_signature(option.target, ctx.target.mindspore)
    if source is None or target is None:
        return not (option.rename or option.transform or option.write_default or option.add or option.drop)
    slots = [p.name for p in source.parameters if p.kind in ("positional", "positional_only")]
    goals = [p.name for p in target.parameters if p.kind in ("positional", "positional_only")]

    def same(shape: CallShape) -> bool:
        if shape.splat or shape.positional > min(len(slots), len(goals)):
            return False
        used = [*slots[: shape.positional], *shape.keywords]
        if option.add or any(name not in used for name in option.write_default):
            return False
        positional_ok = all(
            option.rename.get(a, a) == b for a, b in zip(slots[: shape.positional], goals, strict=False)
        )
        keywords_ok = all(k in goals and k not in option.rename and k not in option.drop for k in shape.keywords)
        return positional_ok and keywords_ok and not any(name in option.transform for name in used)

    return bool(shapes) and all(same(shape) for shape in shapes)


def _is_tested(tree: ast.AST, ctx: Context) -> bool:
    """Whether a class stands in an isinstance test."""
    parent = ctx.parent(tree)
    while isinstance(parent, (ast.Tuple, ast.Attribute)):
        parent = ctx.parent(parent)
    return isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) and parent.func.id == "isinstance"


def rewrite_expression(node: cst.CSTNode, updated: Any, tree: ast.AST, ctx: Context) -> Any:
    """Return what any other expression becomes: operators and string annotations are what matters."""
    if tree.__class__ is ast.Constant and isinstance(node, cst.SimpleString) and isinstance(tree, ast.Constant):
        if _is_annotation(tree, ctx):
            return _string_annotation(node, tree, ctx)
        renamed = rewrite_module_name(tree, ctx) or rewrite_member_name(node, tree, ctx)
        renamed = renamed or rewrite_loaded_module(node, tree, ctx)
        if renamed is not None:
            return renamed
        report_string(tree, ctx)
    return rewrite_operator(updated, tree, ctx)


def _is_annotation(tree: ast.AST, ctx: Context) -> bool:
    """Whether a string stands for a type: in an annotation, or first in ``cast``."""
    child, parent = tree, ctx.parent(tree)
    while isinstance(parent, (ast.Tuple, ast.Subscript, ast.BinOp, ast.List)):
        child, parent = parent, ctx.parent(parent)
    if isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return child is parent.returns
    if isinstance(parent, (ast.arg, ast.AnnAssign)):
        return child is parent.annotation
    return isinstance(parent, ast.Call) and getattr(parent.func, "id", "") == "cast" and child in parent.args[:1]


def _string_annotation(node: cst.SimpleString, tree: ast.Constant, ctx: Context) -> cst.SimpleString:
    """Return an annotation in quotes with the torch names in it replaced, each resolved as outside quotes."""
    if not isinstance(tree.value, str):
        return node
    text = tree.value
    parsed = parse_string(text, "eval")
    if parsed is None:
        return node
    found = [n for n in walk(parsed) if isinstance(n, (ast.Name, ast.Attribute)) and "\n" not in text]
    inner = {n.value for n in found if isinstance(n, ast.Attribute)}
    for part in sorted((n for n in found if n not in inner), key=lambda n: n.col_offset, reverse=True):
        root, _, rest = (dotted(part) or "").partition(".")
        kind = ctx.analysis.names.get(root, Kind())
        if kind.name != "api" or "|" in kind.of:
            continue
        name = ctx.tables.canonical(f"{kind.of}.{rest}" if rest else kind.of)
        row = ctx.tables.row(name)
        options = ctx.tables.select(row, ctx.target) if row is not None and not row.unsupported else ()
        if not options or options[0].target.startswith("@") or "Tensor." in options[0].target:
            ctx.report("T2M503", tree, f"the annotation in quotes names {name}", symbol=name)
            continue
        like = part if isinstance(part, ast.Name) else None
        new = code_of(ctx.reference(options[0].target, like))
        text = text[: part.col_offset] + new + text[part.end_col_offset :]
    return node if text == tree.value else node.with_changes(value=f"{node.prefix}{node.quote}{text}{node.quote}")


def _is_called_later(tree: ast.AST, ctx: Context) -> bool:
    """Whether a name that is bound to a class is called: ``Tensor = torch.cuda.FloatTensor if cuda else torch.Tensor``.

    Other things are tested for being of the class, which only MindSpore's own can answer.
    """
    names = ctx.value_names(tree)
    choice = ctx.parent(tree)
    if isinstance(choice, ast.IfExp):  # the other one makes tensors, and is no class in MindSpore
        other = choice.orelse if choice.body is tree else choice.body
        if ctx.kind(other).name == "api" and ctx.kind(other).of.endswith("Tensor"):
            return True
    return any(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names
        for node in ctx.analysis.nodes
    )
