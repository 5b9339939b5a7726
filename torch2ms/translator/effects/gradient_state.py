"""What torch would record: whether a tensor requires a gradient, where straight-line code shows it.

MindSpore's tensors have no such mark, because ``value_and_grad`` is told what to differentiate by. A program that asks
for the mark gets the answer that torch would give; where the text does not settle it, the answer here is None.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torch2ms.mapping_tables.facts import load_facts
from torch2ms.translator.effects.aliases import shared_memory
from torch2ms.translator.effects.recordability import GRADIENT, is_recordable, may_keep_graph
from torch2ms.translator.syntax.ast_walk import changed_in_place, walk
from torch2ms.translator.values.dtypes import family
from torch2ms.translator.values.file_facts import FileFacts

__all__ = [
    "WHILE_RECORDED",
    "chooses",
    "is_creation",
    "is_leaf",
    "is_off_around",
    "is_recording",
    "makes_no_difference",
    "mode_at",
    "requires_grad",
    "turns_off",
]

# When an answer that the runtime gives is not PyTorch's
WHILE_RECORDED = "the answer is that of a running gradient function; outside of one PyTorch may say True, this is False"

_CREATORS = frozenset(
    """tensor zeros ones empty full eye arange linspace logspace rand randn randint randperm zeros_like ones_like
    empty_like full_like rand_like randn_like as_tensor from_numpy normal""".split()
)
_OFF = frozenset({"torch.no_grad", "torch.inference_mode", "torch.autograd.no_grad"})
_ON = frozenset({"torch.enable_grad", "torch.autograd.enable_grad"})
_BRANCHES = (ast.If, ast.For, ast.While, ast.Try, ast.AsyncFor, ast.Match)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef, ast.Module)
# Layers that may return what they are given, or a view of it.
_HANDS_THROUGH = re.compile(r"torch\.nn\.(Flatten|Unflatten|Identity|\w*Dropout\w*)|")
# Layers with weights, whose outputs are recorded as long as nobody freezes them.
_WEIGHTED = re.compile(r"torch\.nn\.(Linear|Bilinear|Conv(Transpose)?[123]d|PReLU)")
_DEPTH = 12
_FLAG = "requires_grad"


def requires_grad(tree: ast.expr, ctx: FileFacts, depth: int = _DEPTH) -> bool | None:
    """Return whether torch records what is computed from a tensor; None when the text does not show it."""
    if depth == 0:
        return None
    if isinstance(tree, ast.Name):
        return _of_name(tree, ctx, depth)
    if isinstance(tree, ast.Attribute) and tree.attr == "grad":
        return None if ctx.once(_differentiates_gradients) else False
    kind = ctx.kind(tree)
    if isinstance(tree, ast.Constant) or kind.name in (
        "int",
        "float",
        "bool",
        "str",
        "none",
        "Size",
        "dtype",
        "device",
    ):
        return False
    if kind.name == "Tensor" and family(kind.of) in ("int", "bool"):
        return False
    is_cut = isinstance(tree, ast.Attribute) and load_facts().cuts_off(tree.attr)
    if kind.name == "Parameter" and isinstance(tree, ast.Attribute) and not is_cut:
        return None if ctx.once(_is_frozen) else True
    if isinstance(tree, ast.Attribute):
        return False if is_cut else requires_grad(tree.value, ctx, depth - 1) if kind.is_tensor else None
    recorded = is_recording(tree, ctx)
    if recorded is False and _computes(tree, ctx):
        return False
    made = _of_operation(tree, ctx, depth)
    if made is True and not _marks_itself(tree):
        return None if recorded is False and _is_view(tree) else recorded
    return made


def _differentiates_gradients(ctx: FileFacts) -> bool:
    """Whether gradients in the file have a history of their own: ``create_graph=True``."""
    return any(word.arg == "create_graph" for call in ctx.analysis.all(ast.Call) for word in call.keywords)


def is_leaf(tree: ast.expr, ctx: FileFacts) -> bool | None:
    """Return whether a tensor has no history in torch: it was made as it is, or nothing of it is recorded."""
    needed = requires_grad(tree, ctx)
    if needed and isinstance(tree, ast.Attribute) and ctx.kind(tree).name == "Parameter":
        return True
    if not needed or not isinstance(tree, ast.Name):
        return None if needed is None else not needed
    made = _definition(tree, ctx)
    if isinstance(made, ast.Call) and isinstance(made.func, ast.Attribute) and made.func.attr == f"{_FLAG}_":
        made = made.func.value
    if not isinstance(made, ast.expr):
        return None
    return is_creation(made) or requires_grad(made, ctx) is False


def chooses(tree: ast.AST, ctx: FileFacts) -> bool:
    """Whether an answer only takes part in choosing a way inside of a function: it is neither shown nor handed on."""
    if ctx.functions[-1] is None:
        return False
    parent = ctx.parent(tree)
    while isinstance(parent, (ast.UnaryOp, ast.Compare, ast.GeneratorExp, ast.Call)):
        if isinstance(parent, ast.Call) and getattr(parent.func, "id", "") not in ("any", "all"):
            return False
        tree, parent = parent, ctx.parent(parent)
    return isinstance(parent, ast.BoolOp) or tree is getattr(parent, "test", None)


def makes_no_difference(tree: ast.Attribute, ctx: FileFacts) -> bool | None:
    """Return an answer where any will do: a test demands it, or it decides whether to detach, copy or save memory."""
    parent = ctx.parent(tree)
    if isinstance(parent, ast.IfExp) and parent.test is tree:
        same = _undetached(parent.body) == _undetached(parent.orelse)
        return False if same else None
    asserted = _asserted(tree, ctx)
    if asserted is not None:
        return asserted
    demanded = True
    if isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not):
        parent, demanded = ctx.parent(parent), False
    elif isinstance(parent, ast.Compare) and _is_compared(parent):
        demanded = _demands(parent)
        parent = ctx.parent(parent)
    if isinstance(parent, ast.If) and parent.test in (tree, ctx.parent(tree)):
        refuses = len(parent.body) == 1 and isinstance(parent.body[0], ast.Raise) and not parent.orelse
        if _copies(parent, ast.unparse(tree.value)):
            return demanded
        return (not demanded) if refuses else None
    return _saves_memory(tree, ctx)


def _is_compared(tree: ast.Compare) -> bool:
    return len(tree.ops) == 1 and isinstance(tree.ops[0], (ast.Eq, ast.Is))


def _demands(tree: ast.Compare) -> bool:
    """Return what is compared with: ``x.requires_grad is False``."""
    other = tree.comparators[0]
    return not (isinstance(other, ast.Constant) and other.value is False)


def _asserted(tree: ast.expr, ctx: FileFacts) -> bool | None:
    """Return the answer with which an assertion holds: False in ``assert not any(t.requires_grad for t in ts)``."""
    path: list[ast.AST] = []
    node = ctx.parent(tree)
    while node is not None and not isinstance(node, ast.stmt):
        path.append(node)
        node = ctx.parent(node)
    if not isinstance(node, ast.Assert) or (path[-1] if path else tree) is not node.test:
        return None
    wanted: bool | None = True
    for step in reversed(path):
        name = getattr(step.func, "id", "") if isinstance(step, ast.Call) else ""
        is_all = name == "all" or (isinstance(step, ast.BoolOp) and isinstance(step.op, ast.And))
        is_any = name == "any" or (isinstance(step, ast.BoolOp) and isinstance(step.op, ast.Or))
        if isinstance(step, ast.UnaryOp) and isinstance(step.op, ast.Not):
            wanted = not wanted
        elif isinstance(step, ast.Compare) and _is_compared(step):
            wanted = _demands(step) is wanted
        elif not (isinstance(step, (ast.GeneratorExp, ast.ListComp)) or (is_all and wanted) or (is_any and not wanted)):
            return None
    return wanted


def _copies(test: ast.If, name: str) -> bool:
    """Whether all that a test decides is whether a tensor is copied first: ``if y.requires_grad: y = y.clone()``."""
    body = test.body[0]
    if len(test.body) > 1 or test.orelse or not isinstance(body, ast.Assign):
        return False
    return ast.unparse(body) == f"{name} = {name}.clone()"


def _saves_memory(tree: ast.AST, ctx: FileFacts) -> bool | None:
    """Return False where a mark only decides whether a part is computed twice: ``if any(...): checkpoint(f, x)``."""
    node = ctx.parent(tree)
    while node is not None and not isinstance(node, (ast.If, ast.IfExp, ast.stmt)):
        node = ctx.parent(node)
    if not isinstance(node, (ast.If, ast.IfExp)):
        return None
    body = node.body if isinstance(node.body, list) else [node.body]
    called = {ctx.kind(call.func).of for part in body for call in walk(part) if isinstance(call, ast.Call)}
    return False if "torch.utils.checkpoint.checkpoint" in called else None


def _undetached(tree: ast.expr) -> str:
    return ast.unparse(tree).replace(".detach()", "").replace(".data", "")


def _computes(tree: ast.expr, ctx: FileFacts) -> bool:
    """Whether an expression is a new tensor by all means: neither one that was handed through nor a view of one."""
    if isinstance(tree, (ast.BinOp, ast.UnaryOp)):
        return True
    callee = ctx.kind(tree.func) if isinstance(tree, ast.Call) else None
    return callee is not None and callee.name == "Module" and not _HANDS_THROUGH.fullmatch(callee.of)


def _is_view(tree: ast.expr) -> bool:
    """Whether an expression may be a view, which keeps the mark of what it views where nothing is recorded."""
    func = tree.func if isinstance(tree, ast.Call) else None
    name = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
    return isinstance(tree, ast.Subscript) or load_facts().may_share(name)


def _of_operation(tree: ast.expr, ctx: FileFacts, depth: int) -> bool | None:
    if isinstance(tree, ast.BinOp):
        return _any([tree.left, tree.right], ctx, depth)
    if isinstance(tree, ast.UnaryOp):
        return requires_grad(tree.operand, ctx, depth - 1)
    if isinstance(tree, (ast.Tuple, ast.List)):
        return _any(tree.elts, ctx, depth)
    if isinstance(tree, ast.Subscript):
        return requires_grad(tree.value, ctx, depth - 1)
    if isinstance(tree, ast.IfExp):
        found = {requires_grad(part, ctx, depth - 1) for part in (tree.body, tree.orelse)}
        return found.pop() if len(found) == 1 else None
    return _of_call(tree, ctx, depth) if isinstance(tree, ast.Call) else None


def _of_call(tree: ast.Call, ctx: FileFacts, depth: int) -> bool | None:
    name = tree.func.attr if isinstance(tree.func, ast.Attribute) else getattr(tree.func, "id", "")
    if load_facts().cuts_off(name):
        return False
    if name == "requires_grad_":
        return _flag(tree.args[0] if tree.args else None, default=True)
    if name == "Parameter":
        return True
    given = next((keyword.value for keyword in tree.keywords if keyword.arg == "requires_grad"), None)
    callee = ctx.kind(tree.func)
    if callee.name == "api" and callee.of == GRADIENT and is_recordable(tree):
        return None if may_keep_graph(tree) else False
    if callee.name == "api" and name in _CREATORS:
        shared = shared_memory(tree, ctx)
        of_tensor = shared is not None and ctx.kind(shared.sources[0]).name in ("Tensor", "Parameter", "unknown")
        if shared is not None and shared.fact.memory == "maybe" and of_tensor:
            return requires_grad(shared.sources[0], ctx, depth - 1)  # as_tensor(x) is x itself
        return False if given is None else _flag(given, default=None)
    parts: list[ast.expr] = [*tree.args, *(keyword.value for keyword in tree.keywords)]
    if callee.name == "Module" and _WEIGHTED.fullmatch(callee.of) and not ctx.once(_is_frozen):
        return True
    if isinstance(tree.func, ast.Name) and tree.func.id in ctx.once(_unrecorded):
        return False
    if callee.name != "api":
        if not isinstance(tree.func, ast.Attribute) or not ctx.kind(tree.func.value).is_tensor:
            return None
        parts.append(tree.func.value)
    return _any(parts, ctx, depth)


def _unrecorded(ctx: FileFacts) -> frozenset[str]:
    """Return the functions of the file that run under ``torch.no_grad()`` and return what they compute themselves."""
    found: dict[str, bool] = {}
    for node in ctx.analysis.nodes:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            marks = [mark.func if isinstance(mark, ast.Call) else mark for mark in node.decorator_list]
            is_off = any(ctx.kind(mark).of in _OFF for mark in marks)
            values = [part.value for part in ast.walk(node) if isinstance(part, ast.Return)]
            computed = bool(values) and all(value is not None and _computes(value, ctx) for value in values)
            found[node.name] = found.get(node.name, True) and is_off and computed
    return frozenset(name for name, is_so in found.items() if is_so)


def _flag(value: ast.expr | None, *, default: bool | None) -> bool | None:
    if value is None:
        return default
    return value.value if isinstance(value, ast.Constant) and isinstance(value.value, bool) else None


def _any(parts: list[ast.expr], ctx: FileFacts, depth: int) -> bool | None:
    found = [requires_grad(part, ctx, depth - 1) for part in parts]
    return True if True in found else None if None in found else False


def is_creation(tree: ast.expr) -> bool:
    """Whether an expression makes a tensor of numbers, or of nothing: ``torch.zeros(3)``."""
    if not isinstance(tree, ast.Call):
        return False
    name = tree.func.attr if isinstance(tree.func, ast.Attribute) else getattr(tree.func, "id", "")
    if name == "requires_grad_" and isinstance(tree.func, ast.Attribute):
        return is_creation(tree.func.value)
    return name in _CREATORS or name == "Parameter"


def _marks_itself(tree: ast.expr) -> bool:
    """Whether the mark is given where the tensor is made: that no context turns off."""
    return is_creation(tree) or (
        isinstance(tree, ast.Call) and isinstance(tree.func, ast.Attribute) and tree.func.attr == "requires_grad_"
    )


def _around(tree: ast.AST, ctx: FileFacts) -> Iterator[ast.AST]:
    node = ctx.parent(tree)
    while node is not None:
        yield node
        node = ctx.parent(node)


def is_recording(tree: ast.AST, ctx: FileFacts) -> bool | None:
    """Return whether gradients are recorded at a place; None where that is decided when the program runs."""
    for node in _around(tree, ctx):
        for item in node.items if isinstance(node, ast.With) else ():
            call = item.context_expr
            name = ctx.kind(call.func).of if isinstance(call, ast.Call) else ""
            if name in _OFF or name in _ON:
                return name in _ON if isinstance(call, ast.Call) and not call.args else None
            if isinstance(call, ast.Call) and name == "torch.set_grad_enabled":
                return _flag(call.args[0] if call.args else None, default=None)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.decorator_list:
            marks = [mark.func if isinstance(mark, ast.Call) else mark for mark in node.decorator_list]
            return False if any(ctx.kind(mark).of in _OFF for mark in marks) else None
    switches = ctx.once(_switches)
    if not switches:
        return True
    top = ctx.analysis.tree
    around = [tree, *_around(tree, ctx)]
    if any(ctx.parent(switch) is not top for switch in switches) or any(map(_is_nested, around)):
        return None
    before = [switch for switch in switches if switch.lineno < getattr(around[0], "lineno", 0)]
    last = before[-1].value if before else None
    return _flag(last.args[0] if last.args else None, default=None) if isinstance(last, ast.Call) else True


def mode_at(tree: ast.AST, ctx: FileFacts) -> bool | None:
    """Return what ``torch.is_grad_enabled()`` answers at a place; None where a function's callers decide it."""
    told = is_recording(tree, ctx)
    for node in _around(tree, ctx):
        if told is False or (isinstance(node, ast.With) and any(_switches_to(item, ctx) for item in node.items)):
            return told
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            return None
    return told


def is_off_around(tree: ast.AST, ctx: FileFacts) -> bool:
    """Whether a context or decorator around a place turns recording off."""
    for node in _around(tree, ctx):
        items = [item.context_expr for item in node.items] if isinstance(node, ast.With) else []
        marks = node.decorator_list if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) else items
        called = [mark for mark in marks if mark is not tree]
        if any(_is_off(mark, ctx) for mark in called):
            return True
    return False


def turns_off(ctx: FileFacts) -> bool:
    """Whether the file turns recording off anywhere."""
    return any(_is_off(node, ctx) for node in ctx.analysis.all(ast.Call))


def _is_off(mark: ast.expr, ctx: FileFacts) -> bool:
    if not isinstance(mark, ast.Call):
        return ctx.kind(mark).of in _OFF
    if ctx.kind(mark.func).of == "torch.set_grad_enabled":
        return _flag(mark.args[0] if mark.args else None, default=None) is not True
    return ctx.kind(mark.func).of in _OFF


def _switches_to(item: ast.withitem, ctx: FileFacts) -> bool:
    """Whether a context says itself whether its block is recorded."""
    call = item.context_expr
    name = ctx.kind(call.func).of if isinstance(call, ast.Call) else ""
    return name in _OFF or name in _ON or name == "torch.set_grad_enabled"


def _is_nested(node: ast.AST) -> bool:
    """Whether what stands in a statement runs at another time than its place shows, or more than once."""
    return isinstance(node, (*_BRANCHES, *_SCOPES)) and not isinstance(node, ast.Module)


def _switches(ctx: FileFacts) -> list[ast.Expr]:
    """Return the statements of the file that turn recording on or off."""
    return [
        node
        for node in ctx.analysis.nodes
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Call)
        and ctx.kind(node.value.func).of == "torch.set_grad_enabled"
    ]


def _is_frozen(ctx: FileFacts) -> bool:
    """Whether the file freezes or replaces weights, by any name."""
    names = {node.attr for node in ctx.analysis.nodes if isinstance(node, ast.Attribute)}
    stored = any(
        isinstance(node, ast.Attribute) and node.attr == _FLAG and isinstance(node.ctx, ast.Store)
        for node in ctx.analysis.nodes
    )
    return stored or bool(names & {f"{_FLAG}_", "from_pretrained"})


def _of_name(tree: ast.Name, ctx: FileFacts, depth: int) -> bool | None:
    value = _definition(tree, ctx)
    if value is None:
        return None
    found = requires_grad(value, ctx, depth - 1)
    for node in _events(tree, ctx):
        if not value.lineno < node.lineno < tree.lineno:
            continue
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute):
            found = _flag(node.value, default=None)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == f"{_FLAG}_":
            found = _flag(node.args[0] if node.args else None, default=True)
        elif not found:  # what is written into it may be recorded
            written = [node.value] if isinstance(node, ast.Assign) else [*node.args, *(k.value for k in node.keywords)]
            if _any(written, ctx, depth) is not False:
                return None
    return found


def _definition(tree: ast.Name, ctx: FileFacts) -> ast.expr | None:
    """Return the expression that a name was last assigned; None where branches and loops may have come between."""
    around = list(_around(tree, ctx))
    scope = next((node for node in around if isinstance(node, _SCOPES)), None)
    last: ast.Assign | None = None
    for node in ctx.analysis.nodes:
        if not isinstance(node, ast.Name) or node.id != tree.id or not isinstance(node.ctx, ast.Store):
            continue
        owners = list(_around(node, ctx))
        if next((owner for owner in owners if isinstance(owner, _SCOPES)), None) is not scope:
            continue
        statement = owners[0]
        if any(isinstance(owner, _BRANCHES) for owner in owners) or not isinstance(statement, ast.Assign):
            return None
        if statement.lineno < tree.lineno and (last is None or statement.lineno > last.lineno):
            last = statement
    if last is None or any(isinstance(node, (ast.For, ast.While)) for node in around) or len(last.targets) != 1:
        return None
    return last.value if isinstance(last.targets[0], ast.Name) else None


def _events(tree: ast.Name, ctx: FileFacts) -> Iterator[ast.Assign | ast.Call]:
    """Yield what sets the mark of a name's tensor, or may change it: a flag, a call of an in-place method."""
    for node in ctx.analysis.nodes:
        if isinstance(node, ast.Assign):
            place: ast.expr = node.targets[0]
            sets = isinstance(place, ast.Subscript) or (isinstance(place, ast.Attribute) and place.attr == _FLAG)
        elif isinstance(node, ast.Call) and changed_in_place(node) is not None:
            place, sets = node.func, True
        else:
            continue
        holder = place.value if sets and isinstance(place, (ast.Attribute, ast.Subscript)) else None
        if isinstance(holder, ast.Name) and holder.id == tree.id:
            yield node
