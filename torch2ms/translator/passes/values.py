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
from torch2ms.translator.activated import activated_by
from torch2ms.translator.context import Context
from torch2ms.translator.file_index import CallShape
from torch2ms.translator.inference.families import instance_of
from torch2ms.translator.kinds import Kind
from torch2ms.translator.names import EITHER_DEVICE, candidates, dotted
from torch2ms.translator.passes.bound_buffers import bound_buffer
from torch2ms.translator.passes.copied_views import report_copied_view
from torch2ms.translator.passes.counted_conditions import cut_condition
from torch2ms.translator.passes.dynamic import (
    LAYERS_BY_NAME,
    is_asked_by_name,
    report_patch,
    report_string,
    rewrite_module_name,
)
from torch2ms.translator.passes.exchanged_parts import exchanged_part
from torch2ms.translator.passes.gradient_reads import put_gradient
from torch2ms.translator.passes.inplace import augmented
from torch2ms.translator.passes.layer_settings import changed_setting, kept_optimizer
from torch2ms.translator.passes.made_parameters import made_parameter
from torch2ms.translator.passes.module_values import MODULES, SAME_CALLS
from torch2ms.translator.passes.operators import careful, rewrite_operator, takes_whole
from torch2ms.translator.passes.put_groups import put_groups
from torch2ms.translator.passes.recorded_marks import mark_statement
from torch2ms.translator.passes.renewed_parameters import renewed_parameter
from torch2ms.translator.passes.weight_data import put_data, report_frozen
from torch2ms.translator.passes.written_elements import written_elements
from torch2ms.translator.recipes.switches import keeps_switch, read_switch
from torch2ms.translator.recipes.views import owning
from torch2ms.translator.syntax import build, code_of, parse_expression
from torch2ms.translator.third_party import is_watch
from torch2ms.translator.trees import parse_string, walk

__all__ = [
    "NO_CLASS",
    "choose_row",
    "drops_setting",
    "handed_on",
    "rewrite_expression",
    "rewrite_small",
    "rewrite_value",
]

NO_CLASS = cst.Name("__no_class__")  # stands for a class that nothing is an instance of: a wrapper that goes
FAMILIES = "torch2ms.runtime.layers.families."  # classes that say what a layer is; only the losses can be derived from
_DROPPED = "only as an argument that is dropped"  # how the rows of layouts and memory formats begin


def choose_row(ctx: Context, tree: ast.AST, names: tuple[str, ...]) -> Row | None:
    """Return the row of a reference, or None after saying why there is none."""
    rows = [ctx.tables.row(name) for name in names]
    if not names or any(row is None for row in rows):
        missing = next((name for name, row in zip(names, rows, strict=True) if row is None), "torch")
        ctx.account(tree, missing, "unknown")
        ctx.report("T2M202", tree, f"{missing} is not in the mapping tables", symbol=missing)
        return None
    if len(names) > 1 and len({_essence(row) for row in rows}) > 1:
        listed = " or ".join(names)
        ctx.account(tree, names[0], "unknown")
        ctx.report("T2M206", tree, f"this may be {listed}, which translate differently", symbol=names[0])
        return None
    return rows[0]


def _essence(row: Row | None) -> tuple[object, ...]:
    if row is None:
        return ()
    return tuple((t.target, t.recipe, tuple(sorted(t.rename.items()))) for t in row.to), row.keep, row.unsupported


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
    if len(names) == 1 and ctx.tables.is_module(names[0]) and ctx.tables.row(names[0]) is None:
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
    if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) and parent.func.id.endswith("attr"):
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
        from torch2ms.translator.recipes.contexts import PLAIN_CONTEXT

        ctx.account(tree, row.name, "removed")
        ctx.report("T2M304", tree, f"{row.name} has no effect in MindSpore; dropped", symbol=row.name)
        return PLAIN_CONTEXT
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
            elif not bare:
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
        renamed = rewrite_module_name(tree, ctx)
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


def drops_setting(tree: ast.AST | None, ctx: Context) -> bool:
    """Whether a statement only sets switches that MindSpore has not: ``torch.backends.cudnn.benchmark = True``."""
    if not isinstance(tree, ast.Assign):
        return False
    targets = [one for target in tree.targets for one in (target.elts if isinstance(target, ast.Tuple) else [target])]
    switches = [found for target in targets if (found := _switch(target, ctx)) is not None]
    named = any(ctx.kind(node).name == "api" and ctx.is_import_root(node) for node in walk(tree.value))
    if len(switches) < len(targets) or named:
        return False
    for target, name in switches:
        ctx.accounted.update(dict.fromkeys((target, target.value)))
        ctx.account(target, name, "removed")
        ctx.report("T2M304", tree, f"{name} has no effect in MindSpore; dropped", symbol=name)
    return True


def _switch(target: ast.expr, ctx: Context) -> tuple[ast.Attribute, str] | None:
    """Return a switch that an assignment sets and that MindSpore has not, with its name; None if it sets no such."""
    if not isinstance(target, ast.Attribute) or not ctx.is_import_root(target):
        return None
    base = ctx.kind(target.value)
    row = ctx.tables.row(f"{base.of}.{target.attr}") if base.name == "api" else None
    options = ctx.tables.select(row, ctx.target) if row is not None and row.kind == "attribute" else ()
    if row is not None and options and options[0].recipe in ("literal", "switch"):
        return None if keeps_switch(row.name, ctx) else (target, row.name)
    return (target, f"{base.of}.{target.attr}") if base.name == "api" and _holds_switches(base.of, ctx) else None


def _holds_switches(name: str, ctx: Context) -> bool:
    """Whether all that a module holds, or what it is part of, are such switches: ``torch._dynamo.config``."""
    while name:
        row = ctx.tables.row(name)
        if row is not None and any(option.recipe == "switches" for option in row.to):
            return True
        name = name.rpartition(".")[0]
    return False


_HOLDS = frozenset({"True", "not False", "False == False", "False is False", "True == True", "True is True"})


def rewrite_small(node: Any, updated: Any, tree: ast.AST, ctx: Context) -> Any:
    """Return what a small statement becomes; None when it goes."""
    from torch2ms.translator.passes.calls import DROPPED

    if (type(updated) is cst.Expr and updated.value is DROPPED) or is_watch(tree, ctx):
        return None
    if type(updated) is cst.Assert and updated is not node and code_of(updated.test) in _HOLDS:
        return None
    report_patch(tree, ctx)
    report_copied_view(tree, ctx)
    report_frozen(tree, ctx)
    if isinstance(tree, ast.AugAssign) and isinstance(updated, cst.AugAssign):
        updated = augmented(updated, tree, ctx)
    if isinstance(updated, (cst.Assign, cst.AugAssign)):
        updated = cut_condition(written_elements(updated, tree, ctx), tree, ctx)
    layer = activated_by(tree, ctx) if isinstance(updated, cst.Assign) else ""
    if layer and isinstance(updated.value, cst.Name):
        updated = updated.with_changes(value=parse_expression(f"{layer}({updated.value.value})"))
    if isinstance(tree, ast.Assign) and isinstance(updated, cst.Assign) and _sets_data(tree):
        updated = updated.with_changes(value=owning(updated.value, tree.value, ctx))
    updated = mark_statement(updated, tree, ctx)
    updated = put_gradient(kept_optimizer(changed_setting(updated, tree, ctx), tree, ctx), tree, ctx)
    updated = bound_buffer(made_parameter(put_data(updated, tree, ctx), tree, ctx), tree, ctx)
    updated = renewed_parameter(exchanged_part(put_groups(updated, tree, ctx), tree, ctx), tree, ctx)
    if ctx.rebind:
        names, ctx.rebind = ctx.rebind, []
        updated = _rebound(updated, names)
    if updated is not node and isinstance(updated, cst.Assign) and _assigns_itself(updated):
        ctx.report("T2M304", tree, "the statement only moved values between devices; dropped")
        return None
    return updated


def _sets_data(tree: ast.Assign) -> bool:
    return all(isinstance(target, ast.Attribute) and target.attr == "data" for target in tree.targets)


def _rebound(node: Any, names: list[str]) -> Any:
    """Return the statement with further names bound to its value: ``y = x = value``."""
    targets = [cst.AssignTarget(parse_expression(name)) for name in dict.fromkeys(names)]  # type: ignore[arg-type]
    if isinstance(node, cst.Expr):
        return cst.Assign(targets, node.value)
    return node.with_changes(targets=[*node.targets, *targets])


def _assigns_itself(node: cst.Assign) -> bool:
    """Whether an assignment does nothing: ``x = x``, ``a, b = a, b``, ``batch[0] = batch[0]``."""
    if len(node.targets) != 1:
        return False
    target, value = node.targets[0].target, node.value
    if isinstance(target, cst.Tuple) and isinstance(value, cst.Tuple) and len(target.elements) == len(value.elements):
        pairs = zip(target.elements, value.elements, strict=True)
        return all(_same_place(a.value, b.value) for a, b in pairs)
    return _same_place(target, value)


def _same_place(a: cst.BaseExpression, b: cst.BaseExpression) -> bool:
    """Whether two expressions are the same name, attribute of one, or item of one under a plain index."""
    if isinstance(a, (cst.Name, cst.Integer, cst.SimpleString)):
        return type(a) is type(b) and a.value == b.value
    if isinstance(a, cst.Attribute) and isinstance(b, cst.Attribute):
        return a.attr.value == b.attr.value and _same_place(a.value, b.value)
    if isinstance(a, cst.Subscript) and isinstance(b, cst.Subscript) and len(a.slice) == len(b.slice) == 1:
        ours, others = a.slice[0].slice, b.slice[0].slice
        if isinstance(ours, cst.Index) and isinstance(others, cst.Index):
            return _same_place(a.value, b.value) and _same_place(ours.value, others.value)
    return False


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
