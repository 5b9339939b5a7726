"""Dynamic code: names looked up at run time, strings that are run, classes that are patched.

What a literal tells is translated; the rest is reported, not guessed.
"""

from __future__ import annotations

import ast
import re

import libcst as cst

from torch2ms.diagnostics import Severity
from torch2ms.mapping_tables.schema import Row
from torch2ms.translator.context import Context
from torch2ms.translator.rules.calls.replaced_parts import exchanged_by_name
from torch2ms.translator.rules.module_values import MODULES, SAME_CALLS
from torch2ms.translator.syntax.ast_walk import parse_string, walk
from torch2ms.translator.syntax.cst_builders import build, code_of, parse_expression
from torch2ms.translator.values.families import is_addition
from torch2ms.translator.values.kinds import Kind
from torch2ms.translator.values.queries.known_strings import shown_text
from torch2ms.translator.values.queries.layer_members import LAYER_MEMBERS, is_network, is_settings, new_names

__all__ = [
    "BUILTINS",
    "LAYERS_BY_NAME",
    "is_asked_by_name",
    "is_looked_into",
    "report_patch",
    "report_string",
    "rewrite_dynamic",
    "rewrite_member_name",
    "rewrite_module_name",
]

BUILTINS = frozenset({"getattr", "hasattr", "setattr", "delattr", "eval", "exec", "import_module", "__import__"})
_TORCH_NAME = re.compile(r"torch(vision)?(\.\w+)+")


def rewrite_dynamic(updated: cst.Call, tree: ast.Call, ctx: Context) -> cst.BaseExpression:
    """Return a call of a Python builtin or of importlib; a literal ``getattr(torch, "relu")`` is a plain reference."""
    name = tree.func.id if isinstance(tree.func, ast.Name) else getattr(tree.func, "attr", "")
    if name.endswith("attr") and tree.args:
        owner = ctx.kind(tree.args[0])
        if owner.name == "api" and (ctx.is_import_root(tree.args[0]) or ctx.tables.is_module(owner.of)):
            return _looked_up(name, updated, tree, ctx)
        return _member(name, updated, tree, ctx)
    if name in ("eval", "exec") and isinstance(tree.func, ast.Name) and tree.args:
        made = _evaluated(updated, tree, ctx) if name == "eval" else None
        if made is not None:
            return made
        _report_code(name, tree, ctx)
    text = _string(tree.args[0]) if tree.args else ""
    if name in _IMPORTERS and text not in _BY_MODULE and text.partition(".")[0] in ("torch", "torchvision"):
        ctx.report("T2M503", tree, f"{text} is imported by its name; the string is left as it is")
    return updated


_IMPORTERS = ("import_module", "__import__")
# Modules of torch that the runtime has as a whole: a program may ask for them by their names.
_BY_MODULE = {"torch.utils.tensorboard": "torch2ms.runtime.events"}


def rewrite_module_name(tree: ast.Constant, ctx: Context) -> cst.BaseExpression | None:
    """Return the name of the runtime's module for a string that this file may import: ``events.__name__``."""
    target = _BY_MODULE.get(tree.value) if isinstance(tree.value, str) else None
    if target is None or not ctx.once(_imports_by_name) or isinstance(ctx.parent(tree), ast.Compare):
        return None
    return cst.Attribute(ctx.reference(target), cst.Name("__name__"))


def _imports_by_name(ctx: Context) -> bool:
    callees = (node.func for node in ctx.analysis.nodes if isinstance(node, ast.Call))
    return any(getattr(func, "attr", getattr(func, "id", "")) in _IMPORTERS for func in callees)


# The namespace of layers, and the module that has them under the same names, with torch's arguments.
_LAYERS, LAYERS_BY_NAME = "torch.nn", "torch2ms.runtime.layers"


def _is_of_layers(name: str) -> bool:
    return name == _LAYERS or name.partition(".modules")[0] == _LAYERS


def is_asked_by_name(tree: ast.expr, name: str, ctx: Context) -> bool:
    """Whether a module of layers is asked for one by its name: ``vars(torch.nn.modules.activation)[name]``."""
    parent = ctx.parent(tree)
    if not _is_of_layers(name):
        return False
    called = parent.func.id if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) else ""
    if not isinstance(parent, ast.Call) or parent.args[:1] != [tree]:
        return False
    if called == "getattr":  # torch.nn itself: see _looked_up
        return name != _LAYERS and len(parent.args) > 1 and not _string(parent.args[1])
    return called == "vars"


def is_looked_into(tree: ast.expr, ctx: Context) -> bool:
    """Whether a name is looked up in a module: ``getattr(torch.compiler, "is_compiling", None)``."""
    parent = ctx.parent(tree)
    if not isinstance(parent, ast.Call) or parent.args[:1] != [tree] or not isinstance(parent.func, ast.Name):
        return False
    return parent.func.id in ("getattr", "hasattr")


def _looked_up(name: str, updated: cst.Call, tree: ast.Call, ctx: Context) -> cst.BaseExpression:
    owner = ctx.kind(tree.args[0]).of
    attribute = shown_text(tree.args[1], ctx) if len(tree.args) > 1 else ""
    if name in ("setattr", "delattr"):
        _patched(tree, owner, attribute, ctx)
        return updated
    row = ctx.tables.row(ctx.tables.canonical(f"{owner}.{attribute}")) if attribute and "|" not in owner else None
    if name == "hasattr" and row is not None:
        answer = bool(row.keep or ctx.tables.select(row, ctx.target))
        ctx.report("T2M504", tree, f"whether there is a {row.name} was answered from the tables", symbol=row.name)
        return cst.Name(str(answer))
    if name == "hasattr" and attribute and "|" not in owner and ctx.tables.is_module(f"{owner}.{attribute}"):
        ctx.report("T2M504", tree, f"PyTorch has the module {owner}.{attribute}")
        return cst.Name("True")
    if name == "hasattr" and attribute and "|" not in owner and _is_foreign(f"{owner}.{attribute}", ctx):
        ctx.report("T2M504", tree, f"PyTorch itself has no {owner}.{attribute}, nor has MindSpore")
        return cst.Name("False")
    if name == "getattr" and row is not None and row.kind == "function" and not row.keep and not row.unsupported:
        found = _function(row, updated, tree, ctx)
        if found is not None:
            return found
    if name == "getattr" and row is not None and row.adapter:
        return ctx.reference(row.adapter)  # as where the class or function is handed on: called with torch's arguments
    if name == "getattr" and _is_of_layers(owner) and not attribute:
        return updated.with_changes(
            args=[updated.args[0].with_changes(value=ctx.reference(LAYERS_BY_NAME)), *updated.args[1:]]
        )
    if name == "getattr" and row is not None:
        options = ctx.tables.select(row, ctx.target)
        option = options[0] if options else None
        plain = option is not None and not (option.rename or option.recipe or option.add or option.transform)
        if option is not None and plain and not option.target.startswith("@") and ".Tensor." not in option.target:
            return ctx.reference(option.target)
    if name == "getattr" and not attribute and owner == "torch":
        listed = _listed(updated, tree, ctx)
        if listed is not None:
            return listed
    if name == "getattr" and owner in SAME_CALLS and (not attribute or row is not None):
        message = f"{owner}: a name is looked up at run time among those that {MODULES[owner]} has"
        ctx.report("T2M501", tree, message, symbol=owner, severity=Severity.NOTE)
        return updated
    shown = f"{owner}.{attribute}" if attribute else ast.unparse(tree)
    ctx.report("T2M501", tree, f"{shown} is looked up at run time", symbol=owner)
    if owner in MODULES or "|" in owner or ctx.tables.row(owner) is not None:
        return updated
    return updated.with_changes(args=[updated.args[0].with_changes(value=ctx.left(owner)), *updated.args[1:]])


def _function(row: Row, updated: cst.Call, tree: ast.Call, ctx: Context) -> cst.BaseExpression | None:
    """Return what ``getattr(torch, "sub")`` becomes: what ``torch.sub`` becomes where it is handed on."""
    from torch2ms.translator.rules.expressions.names import handed_on

    options = ctx.tables.select(row, ctx.target)
    if not options or options[0].target.startswith("@") or "Tensor." in options[0].target:
        return None
    made: cst.BaseExpression = handed_on(updated, tree, row, options[0], ctx)
    return made


def _listed(updated: cst.Call, tree: ast.Call, ctx: Context) -> cst.BaseExpression | None:
    """Return ``{"relu": ops.relu, "tanh": ops.tanh}[name]`` for ``getattr(torch, name)`` in a loop over such names."""
    wanted = tree.args[1] if len(tree.args) == 2 else None
    node = ctx.parent(tree) if isinstance(wanted, ast.Name) else None
    names: list[str] = []
    while node is not None and not names:
        for clause in [node] if isinstance(node, ast.For) else getattr(node, "generators", []):
            over = clause.iter.elts if isinstance(clause.iter, (ast.Tuple, ast.List)) else []
            if isinstance(clause.target, ast.Name) and isinstance(wanted, ast.Name) and clause.target.id == wanted.id:
                names = [_string(item) for item in over]
        node = ctx.parent(node)
    rows = [ctx.tables.row(ctx.tables.canonical(f"torch.{name}")) for name in names if name]
    if not names or len(rows) != len(names):
        return None
    made: list[cst.BaseExpression] = []
    for row in rows:
        found = None
        if row is not None and row.kind == "function" and not row.keep and not row.unsupported:
            found = _function(row, updated, tree, ctx)
        if found is None:
            return None
        made.append(found)
    items = ", ".join(f'"{name}": {code_of(code)}' for name, code in zip(names, made, strict=True))
    return parse_expression(f"{{{items}}}[{code_of(updated.args[1].value)}]")


def _is_foreign(name: str, ctx: Context) -> bool:
    """Whether a name is none of torch's own: an extension of it for some device puts it there."""
    canonical = ctx.tables.canonical(name)
    known = ctx.tables.kind_of_name(canonical) is not None or ctx.tables.is_module(canonical)
    return not known and not name.rpartition(".")[2].startswith("_")


# ---- members of objects


def _member(name: str, updated: cst.Call, tree: ast.Call, ctx: Context) -> cst.BaseExpression:
    """Return ``getattr(layer, "weight")`` and its relatives for a member that MindSpore calls otherwise."""
    exchanged = exchanged_by_name(name, updated, tree, ctx)
    if exchanged is not None:
        return exchanged
    attribute = _string(tree.args[1]) if len(tree.args) > 1 else ""
    base = ctx.kind(tree.args[0])
    if base.name not in ("Module", "Tensor", "Parameter", "unknown") and not is_network(base, ctx):
        return updated
    if base.name == "class":
        return _with_name(updated, "construct") if attribute == "forward" else updated
    if not attribute:
        return _any_member(name, updated, tree, ctx)
    if base.is_tensor:
        _tensor_member(attribute, tree, ctx)
        return updated
    if name == "hasattr" and attribute == "reset_parameters" and not any(":" in key for key in base.of.split("|")):
        return cst.Call(ctx.reference("torch2ms.runtime.resets.can_reset"), [cst.Arg(updated.args[0].value)])
    new = _new_name(base, attribute, ctx) if base.name == "Module" else None
    if new is not None:
        return updated if new == attribute else _with_name(updated, new)
    if attribute not in LAYER_MEMBERS or is_settings(tree.args[0], ctx):
        return updated
    if name in ("hasattr", "getattr"):
        function = ctx.reference(f"torch2ms.runtime.modules.{name[:3]}")
        return updated.with_changes(func=function)
    what = ast.unparse(tree.args[0])
    ctx.report("T2M207", tree, f"{what} could not be typed; .{attribute} has another name on a normalisation layer")
    return updated


def _with_name(updated: cst.Call, name: str) -> cst.Call:
    """Return ``getattr(layer, "weight")`` for another name."""
    literal = updated.args[1].value
    if not isinstance(literal, cst.SimpleString):
        return updated
    return updated.with_changes(
        args=[updated.args[0], updated.args[1].with_changes(value=_quoted(literal, name)), *updated.args[2:]]
    )


def _quoted(literal: cst.SimpleString, name: str) -> cst.SimpleString:
    return literal.with_changes(value=f"{literal.quote}{name}{literal.quote}")


def rewrite_member_name(node: cst.SimpleString, tree: ast.Constant, ctx: Context) -> cst.SimpleString | None:
    """Return MindSpore's name of ``forward`` where a text names it among a network's members: ``in cls.__dict__``."""
    if tree.value != "forward":
        return None
    owner = _searched(tree, ctx)
    return _quoted(node, "construct") if owner is not None and is_network(_object_kind(owner, ctx), ctx) else None


def _searched(tree: ast.Constant, ctx: Context) -> ast.expr | None:
    """Return the object among whose members a text is looked for, or that of a call of inspect's ``getattr_static``."""
    parent = ctx.parent(tree)
    if isinstance(parent, ast.Compare) and parent.left is tree and isinstance(parent.ops[0], (ast.In, ast.NotIn)):
        return _members_of(parent.comparators[0])
    if isinstance(parent, ast.Subscript) and parent.slice is tree:
        return _members_of(parent.value)
    if not isinstance(parent, ast.Call):
        return None
    if parent.args[1:2] == [tree] and ctx.kind(parent.func).of == "inspect.getattr_static":
        return parent.args[0]
    if parent.args[:1] != [tree] or not isinstance(parent.func, ast.Attribute) or parent.func.attr != "get":
        return None
    return _members_of(parent.func.value)


def _members_of(tree: ast.expr) -> ast.expr | None:
    """Return ``x`` of ``x.__dict__``, ``vars(x)`` and ``dir(x)``."""
    if isinstance(tree, ast.Attribute):
        return tree.value if tree.attr == "__dict__" else None
    if not isinstance(tree, ast.Call) or not isinstance(tree.func, ast.Name) or len(tree.args) != 1:
        return None
    return tree.args[0] if tree.func.id in ("vars", "dir") else None


def _object_kind(tree: ast.expr, ctx: Context) -> Kind:
    """Return the kind of an object; for ``type(x)`` and ``x.__class__`` that of ``x``."""
    if isinstance(tree, ast.Attribute) and tree.attr == "__class__":
        return ctx.kind(tree.value)
    if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and tree.func.id == "type" and tree.args:
        return ctx.kind(tree.args[0])
    return ctx.kind(tree)


def _any_member(name: str, updated: cst.Call, tree: ast.Call, ctx: Context) -> cst.BaseExpression:
    """Return ``getattr(layer, name)`` for a name that only the running program knows."""
    base = ctx.kind(tree.args[0])
    wanted = tree.args[1] if len(tree.args) > 1 else None
    if not isinstance(wanted, (ast.Name, ast.Attribute, ast.Subscript)):
        return updated  # what is put together, f"layer{i}", is the program's own
    if base.is_tensor:
        ctx.report("T2M501", tree, f"{ast.unparse(tree)} looks up a member of a tensor, which may mean another thing")
        return updated
    if base.name == "unknown":
        named = ctx.once(_listed_members) and not is_settings(tree.args[0], ctx)
    else:
        bases = {item for key in base.of.split("|") for item in (ctx.world.torch_bases(key) if ":" in key else (key,))}
        named = bool(bases - {"torch.nn.Module"}) or base.evidence != "self"
    if not named:
        return updated
    if name in ("hasattr", "getattr"):
        return updated.with_changes(func=ctx.reference(f"torch2ms.runtime.modules.{name[:3]}"))
    if ctx.once(_listed_members):  # parts are set by their names, which are the program's own
        ctx.report("T2M501", tree, f"{ast.unparse(tree)}: a layer's member may have another name in MindSpore")
    return updated


def _listed_members(ctx: Context) -> bool:
    """Whether the file lists names that layers have otherwise: ``for name in ("weight", "bias")``."""
    lists = (node.elts for node in ctx.analysis.nodes if isinstance(node, (ast.Tuple, ast.List, ast.Set)))
    return any(isinstance(e, ast.Constant) and e.value in LAYER_MEMBERS for elements in lists for e in elements)


def _new_name(base: Kind, attribute: str, ctx: Context) -> str | None:
    """Return MindSpore's name of a layer's member; None where the class is not known or classes disagree."""
    if attribute == "forward":
        return "construct"
    found = new_names(base, attribute, ctx)
    if found is None:
        return attribute
    return found[0].pop() if len(found[0]) == 1 else None


def _tensor_member(attribute: str, tree: ast.Call, ctx: Context) -> None:
    row = ctx.tables.row(f"torch.Tensor.{attribute}")
    options = ctx.tables.select(row, ctx.target) if row is not None and not row.keep else ()
    if row is None or row.keep:
        return
    option = options[0] if options else None
    same = option is not None and option.target == f"mindspore.Tensor.{attribute}"
    if option is None or not same or option.recipe or option.rename or option.transform or option.write_default:
        ctx.report("T2M501", tree, f"{row.name} is looked up by its name, which means another thing in MindSpore")


# ---- patches


def report_patch(tree: ast.AST | None, ctx: Context) -> None:
    """Report ``nn.Conv2d.forward = f`` and ``torch.load = f``: what stands for them in MindSpore keeps its own."""
    if not isinstance(tree, (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Delete)):
        return
    targets = tree.targets if isinstance(tree, (ast.Assign, ast.Delete)) else [tree.target]
    for target in targets:
        if isinstance(target, ast.Attribute) and ctx.is_import_root(target):
            base = ctx.kind(target.value)
            if base.name == "api" and not base.of.startswith("torch.backends") and not _is_addition(target, base, ctx):
                _patched(tree, base.of, target.attr, ctx)


def _is_addition(target: ast.Attribute, base: Kind, ctx: Context) -> bool:
    """Whether a module of torch gets a name of the program's own, by which the program finds what it put there."""
    own = ctx.kind(target).name in ("class", "function") and ctx.functions[-1] is None
    return own and is_addition(ctx.tables, base, target.attr)


def _patched(tree: ast.AST, owner: str, attribute: str, ctx: Context) -> None:
    name = f"{owner}.{attribute or '?'}"
    row = ctx.tables.row(owner)
    options = ctx.tables.select(row, ctx.target) if row is not None else ()
    is_base = owner in ("torch.Tensor", "torch.nn.Module", "torch.optim.Optimizer")
    if attribute and ctx.tables.kind_of_name(name) is None and is_base and options:
        return  # a name of the program's own on a class that everything descends from
    message = f"{name} is replaced for the whole program; what stands for it in MindSpore is not"
    ctx.report("T2M505", tree, message, symbol=name)


# ---- strings


def _evaluated(updated: cst.Call, tree: ast.Call, ctx: Context) -> cst.BaseExpression | None:
    """Return ``eval(text)`` in which torch.nn is the module that has its layers under the same names.

    For texts that only the running program knows, ``eval(layer["type"])``; None where the file does not hold torch.nn.
    """
    spaces = [word for word, kind in ctx.analysis.names.items() if kind.name == "api" and kind.of == _LAYERS]
    if len(spaces) != 1 or len(tree.args) != 1 or tree.keywords or _string(tree.args[0]):
        return None
    message = f"names of {_LAYERS} that eval() finds are layers that take PyTorch's arguments"
    ctx.report("T2M502", tree, message, symbol=_LAYERS, severity=Severity.NOTE)
    names = build(
        "{**globals(), **locals(), {word}: {layers}}",
        word=ctx.literal(f"'{spaces[0]}'"),
        layers=ctx.reference(LAYERS_BY_NAME),
    )
    return updated.with_changes(args=[updated.args[0].with_changes(comma=cst.MaybeSentinel.DEFAULT), cst.Arg(names)])


def _report_code(name: str, tree: ast.Call, ctx: Context) -> None:
    """Report ``eval`` and ``exec``, unless the text is a literal that names nothing of torch."""
    text = _string(tree.args[0])
    if text:
        parsed = parse_string(text.strip())
        words = {n.id for n in walk(parsed) if isinstance(n, ast.Name)} if parsed is not None else {"torch"}
        modules = [a.name for n in walk(parsed) if isinstance(n, ast.Import) for a in n.names] if parsed else []
        roots = {word for word in words if ctx.analysis.names.get(word) is not None}
        if "torch" not in text and not modules and all(ctx.analysis.names[r].name != "api" for r in roots):
            return
        what = "code that names torch" if "torch" in text else "code with names of torch"
        ctx.report("T2M502", tree, f"{name}() runs {what}; the string is left as it is")
        return
    shown = ast.unparse(tree.args[0])
    ctx.report("T2M502", tree, f"{name}() runs what {shown} holds, which may name torch; it is left as it is")


_STRING_TAKERS = frozenset({"type", "import_module", "__import__", "eval", "exec", "getattr", "hasattr", "compile"})


def report_string(tree: ast.Constant, ctx: Context) -> None:
    """Report a string that is the name of something in torch: ``"torch.FloatTensor"``."""
    if not isinstance(tree.value, str):
        return
    parent = ctx.parent(tree)
    if not _TORCH_NAME.fullmatch(tree.value):
        return
    if isinstance(parent, ast.Expr):
        return  # a docstring
    if isinstance(parent, ast.Call):
        callee = parent.func.attr if isinstance(parent.func, ast.Attribute) else getattr(parent.func, "id", "")
        if callee in _STRING_TAKERS or ctx.kind(parent.func).name == "api":
            return  # an API's row answers for its arguments
    if ".cuda." not in tree.value and _is_compared_type(tree, ctx):
        return
    name = ctx.tables.canonical(tree.value)
    if ctx.tables.kind_of_name(name) is not None or ctx.tables.row(name) is not None:
        ctx.report("T2M503", tree, f"the string names {name}", symbol=name)


def _string(tree: ast.expr) -> str:
    return tree.value if isinstance(tree, ast.Constant) and isinstance(tree.value, str) else ""


def _is_compared_type(tree: ast.expr, ctx: Context) -> bool:
    """Whether a string is compared with ``x.type()`` of a tensor, which stays PyTorch's own text."""
    parent = ctx.parent(tree)
    while isinstance(parent, (ast.Tuple, ast.List, ast.Set)):
        parent = ctx.parent(parent)
    calls = [] if not isinstance(parent, ast.Compare) else [parent.left, *parent.comparators]
    return any(
        isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr == "type"
        and not (call.args or call.keywords)
        and ctx.kind(call.func.value).is_tensor
        for call in calls
    )
