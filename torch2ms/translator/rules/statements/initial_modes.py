"""Modes: a network of torch is born in train mode, a Cell is not, so what is built to be used gets ``.set_train()``.

Only where it can matter: the file (or another one, for classes from elsewhere) has layers that train otherwise than
they predict, the network is not a part of another one, and the program never calls ``.train()`` itself.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

import libcst as cst

from torch2ms.mapping_tables.counterparts import place_of
from torch2ms.translator.context import Context
from torch2ms.translator.effects.names_used import own
from torch2ms.translator.effects.reads_and_writes import dotted_path
from torch2ms.translator.rules.calls.own_mode import has_own_mode
from torch2ms.translator.syntax.ast_walk import walk
from torch2ms.translator.values.kinds import Kind, candidates
from torch2ms.translator.values.queries.class_values import handed_classes

__all__ = ["in_train_mode", "is_sensitive_file"]

_SENSITIVE = re.compile(
    r"BatchNorm|[Dd]ropout|Transformer|RReLU|rrelu|track_running_stats|spectral_norm|\.training\b"
    r"|InstanceNorm\dd\([^)]*True[^)]*True"  # track_running_stats by position
)
_WRAPPERS = frozenset({"spectral_norm"})  # functions that return the layer they are given, with another mode each
_CONTAINERS = (".Sequential", ".ModuleList", ".ModuleDict")
_HANDING_BACK = frozenset({"DataParallel", "DistributedDataParallel", "compile", "script", "convert_sync_batchnorm"})
_LAST = 1 << 30  # behind every line
_SELF_RETURNING = frozenset({"to", "cuda", "cpu", "float", "double", "half", "apply", "requires_grad_", "type"})


def in_train_mode(code: cst.BaseExpression, tree: ast.AST, ctx: Context) -> cst.BaseExpression:
    """Return ``code`` with ``.set_train()`` where it builds a network that torch would train with at once."""
    if not isinstance(tree, ast.Call) or not isinstance(code, cst.Call):
        return code
    if ctx.kind(tree).name != "Module" and not handed_classes(tree, ctx):
        return code
    if tree.args and _hands_back(tree, tree.args[0], ctx):
        return code  # what it is given has a mode
    if (
        (_is_inside_module(ctx) and not _is_called_here(tree, ctx) and not _is_made_by_its_class(tree, ctx))
        or not _is_used(tree, ctx)
        or not _is_sensitive(tree, ctx)
        or _sets_mode(tree, ctx)
    ):
        return code
    if _evaluates_parts(tree, ctx):
        return cst.Call(ctx.reference("torch2ms.runtime.mode.trained", tree), [cst.Arg(code)])
    return cst.Call(cst.Attribute(code, cst.Name("set_train")))


def _evaluates_parts(tree: ast.Call, ctx: Context) -> bool:
    """Whether parts are set to eval mode before or while a network is built, in its arguments or by an ``__init__``.

    So they would be by a ``train`` of a class's own, which PyTorch does not call for a new network.
    """
    if any(_sets_eval(node) for node in walk(tree)) or _is_given_evaluated(tree, ctx):
        return True
    keys = [*candidates(ctx.kind(tree.func)), *handed_classes(tree, ctx)]
    made_by = filter(None, map(ctx.world.function, keys))
    if any(_sets_eval(node) for info in made_by for node in walk(info.node)):
        return True
    pending, seen = [key for key in keys if ":" in key], set()
    while pending:
        key = pending.pop()
        bases = [base for base in ctx.world.ancestry(key) if ":" in base and base not in seen]
        seen.update(bases)
        if has_own_mode(key, ctx.world):
            return True
        for info in filter(None, map(ctx.world.class_info, bases)):
            method = info.methods.get("__init__")
            if method is not None and any(_sets_eval(node) for node in walk(method.node)):
                return True
            parts = [part for part in ctx.world.attributes(info.key).values() if part.name == "Module"]
            if any(place_of(part.of) for part in parts):  # Hugging Face's: what is loaded is in eval mode
                return True
            pending += [part.of for part in parts if ":" in part.of and "|" not in part.of and part.of not in seen]
    return False


def _is_given_evaluated(tree: ast.Call, ctx: Context) -> bool:
    """Whether a network is built of parts that may be in eval mode: a frozen backbone with a new head."""
    inner = [node for value in (*tree.args, *tree.keywords) for node in walk(value)]
    given = {ast.unparse(node) for node in inner if isinstance(node, (ast.Name, ast.Attribute))}
    return any(
        call.lineno <= tree.lineno and not given.isdisjoint(_evaluated(call, ctx))
        for call in ctx.analysis.all(ast.Call)
        if _sets_eval(call)
    ) or any(_may_be_evaluated(node, tree, ctx) for node in inner if ctx.kind(node).name == "Module")


def _may_be_evaluated(value: ast.AST, tree: ast.Call, ctx: Context) -> bool:
    """Whether eval mode may have been set by the function that returned a network, or by a caller that hands it on."""
    if isinstance(value, ast.expr) and place_of(ctx.kind(value).of):
        return True
    if isinstance(value, ast.Call):
        return _evaluates_parts(value, ctx)
    if not isinstance(value, ast.Name):
        return False
    info = ctx.functions[-1]
    if info is not None and value.id in {
        argument.arg for argument in walk(info.node.args) if isinstance(argument, ast.arg)
    }:
        return any(
            ctx.world.symbols.calls_any(path, frozenset({"eval"})) for path in ctx.world.symbols.callers(info.name)
        )
    made = (node for node in ctx.analysis.all(ast.Assign) if value.id in {getattr(t, "id", "") for t in node.targets})
    return any(
        isinstance(node.value, ast.Call) and _may_be_evaluated(node.value, tree, ctx)
        for node in made
        if node.lineno < tree.lineno and _scope(node, ctx) is _scope(tree, ctx)
    )


def _evaluated(call: ast.Call, ctx: Context) -> set[str]:
    """Return by which names a network goes that is set to eval mode: ``net.eval()``, ``net = load().eval()``."""
    parent = ctx.parent(call)
    targets = parent.targets if isinstance(parent, ast.Assign) and parent.value is call else []
    own = call.func.value if isinstance(call.func, ast.Attribute) else call
    return {ast.unparse(node) for node in (own, *targets)}


def _trains(call: ast.Call) -> bool:
    return getattr(call.func, "attr", "") == "train" and not _sets_eval(call)


def _sets_eval(node: ast.AST) -> bool:
    """Whether a node is ``layer.eval()`` or ``layer.train(False)``."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.keywords:
        return False
    given = [getattr(value, "value", None) for value in node.args]
    return (node.func.attr, given) in (("eval", []), ("train", [False]))


def _is_sensitive(tree: ast.Call, ctx: Context) -> bool:
    """Whether the class that is called, or what it is built of, behaves otherwise in train mode."""
    callee = ctx.kind(tree.func)
    handed = handed_classes(tree, ctx)
    if handed:
        return is_sensitive_file(ctx) or any(key.partition(":")[0] != ctx.path for key in handed)
    if callee.name == "api":
        names = candidates(callee)
        is_wrapper = bool(names) and names[0].rpartition(".")[2] in _WRAPPERS
        is_class = bool(names) and ctx.tables.kind_of_name(names[0]) == "class"
        if not names or not names[0].startswith("torch.nn.") or not (is_wrapper or is_class):
            return False
        return (
            _SENSITIVE.search(ast.unparse(tree)) is not None
            or _reads_mode(ctx)
            or (names[0].endswith(_CONTAINERS) and _is_opaque(tree, ctx) and is_sensitive_file(ctx))
        )
    if callee.name == "function":  # a helper that returns plain layers; one that returns a class's sets their mode
        kind = ctx.kind(tree)
        if not kind.of.startswith("torch.nn.") or ":" in kind.of or _gives_what_is_there(callee, ctx):
            return False
    elif callee.name != "class":
        return False
    keys = [key for key in candidates(callee) if ":" in key]
    return bool(keys) and (is_sensitive_file(ctx) or any(key.partition(":")[0] != ctx.path for key in keys))


def _gives_what_is_there(callee: Kind, ctx: Context) -> bool:
    """Whether a function may give back a network that it does not make, and which has a mode: ``return self.body``."""
    for info in filter(None, map(ctx.world.function, candidates(callee))):
        nodes = list(own(info.node))
        made = {
            target.id
            for node in nodes
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        given = [node.value for node in nodes if isinstance(node, ast.Return)]
        if any(
            isinstance(v, (ast.Attribute, ast.Subscript)) or getattr(v, "id", None) not in (None, *made) for v in given
        ):
            return True
    return False


def _reads_mode(ctx: Context) -> bool:
    """Whether the program asks a network for its mode; what a network reads of itself is not meant."""
    return any(
        (isinstance(node, ast.Attribute) and node.attr == "training" and getattr(node.value, "id", "") != "self")
        or (isinstance(node, ast.Constant) and node.value == "training")  # getattr(network, "training")
        for node in ctx.analysis.nodes
    )


def _is_opaque(tree: ast.Call, ctx: Context) -> bool:
    """Whether a container holds what its own text does not name."""
    return any(isinstance(node, (ast.Starred, ast.Name)) and not ctx.is_import_root(node) for node in walk(tree))


def is_sensitive_file(ctx: Context) -> bool:
    """Whether a file names layers that train otherwise than they predict, or asks for the mode."""
    names = (_name(node) for node in ctx.analysis.nodes)
    return any(name == "training" or _SENSITIVE.search(name) for name in names if name)


def _name(node: ast.AST) -> str:
    """Return the name that a node says: of a variable, an attribute, a keyword."""
    return getattr(node, "attr", None) or getattr(node, "id", None) or getattr(node, "arg", None) or ""


def _is_inside_module(ctx: Context) -> bool:
    info = ctx.functions[-1]
    return info is not None and info.owner is not None and ctx.world.family(info.owner.key).name == "Module"


def _is_made_by_its_class(tree: ast.Call, ctx: Context) -> bool:
    """Whether a class method makes a network of its own class, ``cls()``: no part of another one."""
    info = ctx.functions[-1]
    if info is None or info.owner is None or "self" in [argument.arg for argument in info.node.args.args[:1]]:
        return False
    return info.owner.key in candidates(ctx.kind(tree.func)) or getattr(tree.func, "id", "") == "cls"


def _is_called_here(tree: ast.Call, ctx: Context) -> bool:
    """Whether a method calls a layer that it makes itself, ``nn.Dropout(0.5)(x)``: no network has that as a part."""
    parent = ctx.parent(tree)
    if isinstance(parent, ast.Call):
        return parent.func is tree
    info = ctx.functions[-1]
    if info is None or not isinstance(parent, ast.Assign) or not all(isinstance(t, ast.Name) for t in parent.targets):
        return False
    names = {target.id for target in parent.targets if isinstance(target, ast.Name)}
    reads = [n for n in walk(info.node) if isinstance(n, ast.Name) and n.id in names and isinstance(n.ctx, ast.Load)]
    return bool(reads) and all(isinstance(call := ctx.parent(n), ast.Call) and call.func is n for n in reads)


def _is_used(tree: ast.Call, ctx: Context) -> bool:
    """Whether the new network is called at once, or bound to a name; a part of another one is not."""
    child: ast.AST = tree
    parent = ctx.parent(child)
    while parent is not None:
        if isinstance(parent, ast.Attribute):
            call = ctx.parent(parent)
            if parent.attr == "training":
                return True
            if parent.attr not in _SELF_RETURNING or not isinstance(call, ast.Call) or call.func is not parent:
                return False
            child, parent = call, ctx.parent(call)
        elif _hands_up(parent, tree, ctx) or _hands_back(parent, child, ctx):
            child, parent = parent, ctx.parent(parent)
        else:
            break
    if isinstance(parent, ast.keyword):
        child, parent = parent, ctx.parent(parent)
    if isinstance(parent, ast.Call):
        if parent.func is child:
            return True
        if isinstance(parent.func, ast.Attribute) and parent.func.attr in _FILLING:
            return _keeps(parent.func.value, tree, ctx)
        if ctx.functions[-1] is None and isinstance(parent.func, ast.Name):
            # A script hands a layer to a function: net = fill(nn.BatchNorm2d(3)).
            return (
                ctx.kind(parent.func).name in ("function", "unknown")
                or _is_own(tree, ctx)
                or _is_held(tree, parent, ctx)
            )
        whole = _is_own(tree, ctx) or _is_prepared(tree, parent, ctx) or _is_held(tree, parent, ctx)
        return whole and _takes_whole_networks(parent, ctx)
    if isinstance(parent, (ast.Return, ast.Yield)):
        return ctx.kind(tree.func).name == "class" or bool(handed_classes(tree, ctx))
    if isinstance(parent, ast.AugAssign):
        return _keeps(parent.target, tree, ctx)
    return isinstance(parent, (ast.Assign, ast.AnnAssign, ast.NamedExpr, ast.Subscript, ast.For))


_FILLING = frozenset({"append", "insert", "extend", "add_module", "register_module", "setdefault", "update"})


def _keeps(holder: ast.expr, tree: ast.Call, ctx: Context) -> bool:
    """Whether what a new network is put into keeps it: no other network is made of it, whose mode would count."""
    is_network = ctx.kind(holder).name == "Module"
    if not _is_own(tree, ctx) and not is_network:
        return False
    if not isinstance(holder, ast.Name) or (is_network and _reads_mode(ctx)):
        return True
    reads = [n for n in ctx.analysis.all(ast.Name) if n.id == holder.id and isinstance(n.ctx, ast.Load)]
    return not any(_makes_a_network(read, ctx) for read in reads if _scope(read, ctx) is _scope(holder, ctx))


def _makes_a_network(read: ast.Name, ctx: Context) -> bool:
    """Whether what a name holds becomes the parts of a network: ``nn.Sequential(*layers)``."""
    parent = ctx.parent(read)
    return isinstance(parent, ast.Starred) or (isinstance(parent, ast.Call) and ctx.kind(parent).name == "Module")


def _is_prepared(tree: ast.Call, call: ast.Call, ctx: Context) -> bool:
    """Whether ``net = prepare(nn.Sequential(...))`` stands in a function, and what comes back shows no mode to set."""
    known = ctx.kind(call).of.startswith("torch.nn.") and ":" not in ctx.kind(call).of
    whole = candidates(ctx.kind(tree.func)) == ("torch.nn.Sequential",) and isinstance(ctx.parent(call), ast.Assign)
    return whole and not known


def _is_held(tree: ast.Call, call: ast.Call, ctx: Context) -> bool:
    """Whether an object that is no network itself gets a container of layers: ``Trainer(nn.Sequential(...))``."""
    names = candidates(ctx.kind(tree.func))
    is_container = bool(names) and names[0].startswith("torch.nn.") and names[0].endswith(_CONTAINERS)
    return is_container and ctx.kind(call.func).name == "class" and _takes_whole_networks(call, ctx)


_HOLDERS = (ast.List, ast.Dict, ast.ListComp, ast.DictComp, ast.GeneratorExp, ast.Lambda)
_COLLECTING = frozenset({"list", "tuple", "iter", "next"})
_GOING_OVER = frozenset({"len", "enumerate", "zip", "reversed", "print", "iter", "list", "sorted", "map"})


def _hands_up(parent: ast.AST, tree: ast.Call, ctx: Context) -> bool:
    """Whether the new network is a part of an expression that says nothing of its mode."""
    if isinstance(parent, _HOLDERS):
        return _is_own(tree, ctx) or _is_taken_out(parent, ctx)
    if isinstance(parent, ast.Call) and getattr(parent.func, "id", "") in _COLLECTING:
        return _is_own(tree, ctx)
    return isinstance(parent, (ast.IfExp, ast.Tuple)) or _is_copied(parent)


def _hands_back(parent: ast.AST, child: ast.AST, ctx: Context) -> bool:
    """Whether a call of torch's is the network it is given: ``nn.DataParallel(Net())``, ``torch.compile(Net())``."""
    if not isinstance(parent, ast.Call) or parent.args[:1] != [child]:
        return False
    names = candidates(ctx.kind(parent.func))
    return bool(names) and names[0].startswith("torch.") and names[0].rpartition(".")[2] in _HANDING_BACK


def _is_copied(parent: ast.AST) -> bool:
    """Whether ``copy.deepcopy`` is called for what is new: the copy is what is used."""
    return isinstance(parent, ast.Call) and getattr(parent.func, "attr", getattr(parent.func, "id", "")) == "deepcopy"


def _copies(call: ast.Call, name: str) -> bool:
    """Whether a call copies the network of a name, with the mode that it has."""
    return _is_copied(call) and [getattr(value, "id", "") for value in call.args] == [name]


def _is_taken_out(holder: ast.AST, ctx: Context) -> bool:
    """Whether a list, a dictionary or a lambda of layers is used layer by layer: no call takes the whole of it."""
    parent = ctx.parent(holder)
    while isinstance(parent, _HOLDERS):
        holder, parent = parent, ctx.parent(parent)
    if isinstance(parent, ast.Subscript) or (isinstance(parent, ast.For) and parent.iter is holder):
        return True
    targets = parent.targets if isinstance(parent, ast.Assign) else []
    names = {target.id for target in targets if isinstance(target, ast.Name)}
    if not names or len(names) < len(targets):
        return False
    reads = [n for n in ctx.analysis.all(ast.Name) if n.id in names and isinstance(n.ctx, ast.Load)]
    return bool(reads) and not any(_is_given_away(read, ctx) for read in reads)


def _is_given_away(read: ast.Name, ctx: Context) -> bool:
    """Whether the whole of what a name holds goes to a call, into an attribute, a list or another name."""
    parent = ctx.parent(read)
    if isinstance(parent, ast.Call):
        name = getattr(parent.func, "id", "")
        return parent.func is not read and not (name in _GOING_OVER and not isinstance(ctx.parent(parent), ast.Starred))
    if isinstance(parent, ast.Attribute):  # layers.append(nn.ReLU()) says nothing, layers.items() goes over them
        return parent.attr not in ("items", "values", "keys", "get", "append")
    return not isinstance(parent, (ast.Subscript, ast.For, ast.comprehension, ast.Compare))


def _is_own(tree: ast.Call, ctx: Context) -> bool:
    """Whether a call builds a network of the project's own."""
    return ctx.kind(tree.func).name == "class"


def _takes_whole_networks(call: ast.Call, ctx: Context) -> bool:
    """Whether a call hands its arguments to a function or a class of the project that is no network itself."""
    callee = ctx.kind(call.func)
    if callee.name == "function":
        return True
    keys = [key for key in candidates(callee) if ":" in key] if callee.name == "class" else []
    return bool(keys) and all(ctx.world.family(key).name != "Module" for key in keys)


def _sets_mode(tree: ast.Call, ctx: Context) -> bool:
    """Whether the file calls ``.train()`` on something before the new network is used: then it says itself.

    Where the file asks networks for their mode, only ``.train()`` of the name that the new one is bound to counts.
    """
    child, parent = _as_it_is_used(tree, ctx)
    if isinstance(parent, ast.Call) and parent.func is not child:  # net = prepare(Net())
        holder = ctx.parent(parent)
        if not isinstance(holder, ast.Assign):  # only whom it is handed to could, or who goes over what holds it
            fills = getattr(parent.func, "attr", "") in _FILLING and not _reads_mode(ctx)
            return fills and any(map(_trains, ctx.analysis.all(ast.Call)))
        parent = holder
    calls = [node for node in ctx.analysis.nodes if isinstance(node, ast.Call)]
    trains = [call for call in calls if _trains(call)]
    if not trains or not isinstance(parent, ast.Assign) or not isinstance(parent.targets[0], ast.Name):
        late = isinstance(parent, ast.Assign) and all(_comes_late(call, calls, ctx) for call in trains)
        late = late or _reads_mode(ctx)
        return bool(trains) and not late and not (isinstance(parent, ast.Call) and parent.func is child)
    name = parent.targets[0].id
    uses = [call for call in calls if isinstance(call.func, ast.Name) and call.func.id == name]
    uses += [call for call in calls if _runs(call, name, ctx) or _copies(call, name)]
    uses = [call for call in uses if call.lineno > tree.lineno and _scope(call, ctx) is _scope(tree, ctx)]
    first = min((call.lineno for call in uses), default=None)
    reads = [node.lineno for node in ctx.analysis.nodes if isinstance(node, ast.Attribute) and node.attr == "training"]
    first = min([first, *(line for line in reads if line > tree.lineno)], key=lambda line: line or _LAST, default=None)
    if first is None:  # it is used elsewhere
        return not _reads_mode(ctx) and not all(_comes_late(call, calls, ctx) for call in trains)
    return any(
        tree.lineno < _runs_at(call, tree, ctx) < first and not _is_of_another(call, name, ctx) for call in trains
    )


def _runs_at(call: ast.Call, tree: ast.Call, ctx: Context) -> int:
    """Return the line that says ``net.train()`` first: where the function is called that holds it, if by its name.

    A call that stands under a condition may come later than what follows it.
    """
    function = _scope(call, ctx)
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) or function is _scope(tree, ctx):
        return call.lineno
    named = [use for use in ctx.analysis.all(ast.Call) if getattr(use.func, "id", "") == function.name]
    here = [use for use in named if _scope(use, ctx) is _scope(tree, ctx)]
    certain = [use.lineno for use in here if not _is_conditional(use, tree, ctx)]
    return min(certain, default=_LAST) if here else call.lineno


def _is_conditional(node: ast.AST, tree: ast.AST, ctx: Context) -> bool:
    """Whether a node stands under an ``if`` that what is compared with it does not stand under."""
    around = set()
    parent = ctx.parent(tree)
    while parent is not None:
        around.add(parent)
        parent = ctx.parent(parent)
    parent = ctx.parent(node)
    while parent is not None and parent not in around:
        if isinstance(parent, (ast.If, ast.IfExp, ast.Try)):
            return True
        parent = ctx.parent(parent)
    return False


def _comes_late(call: ast.Call, calls: Sequence[ast.Call], ctx: Context) -> bool:
    """Whether ``net.train()`` is said of a network that the same function has called before."""
    path = dotted_path(call.func.value) if isinstance(call.func, ast.Attribute) else None
    return path is not None and any(
        use.lineno < call.lineno and dotted_path(use.func) == path and _scope(use, ctx) is _scope(call, ctx)
        for use in calls
    )


def _is_of_another(call: ast.Call, name: str, ctx: Context) -> bool:
    """Whether ``other.train()`` is said of a network that the program makes beside the one of a name."""
    receiver = getattr(call.func, "value", None)
    if not isinstance(receiver, ast.Name) or receiver.id == name:
        return False
    made = [
        node.value
        for node in ctx.analysis.all(ast.Assign)
        if any(getattr(target, "id", "") == receiver.id for target in node.targets)
    ]
    return bool(made) and all(isinstance(value, ast.Call) and ctx.kind(value).name == "Module" for value in made)


def _as_it_is_used(tree: ast.Call, ctx: Context) -> tuple[ast.AST, ast.AST | None]:
    """Return the expression that is a new network with what hands it back around it, and what that stands in."""
    child: ast.AST = tree
    parent = ctx.parent(child)
    while parent is not None:
        if isinstance(parent, ast.Attribute) and parent.attr in _SELF_RETURNING:
            call = ctx.parent(parent)
            if not isinstance(call, ast.Call) or call.func is not parent:
                break
            parent = call
        elif not _hands_back(parent, child, ctx):
            break
        child, parent = parent, ctx.parent(parent)
    return child, parent


def _runs(call: ast.Call, name: str, ctx: Context) -> bool:
    """Whether a call hands the network of a name to a function of the file that calls it without setting its mode."""
    place = next((i for i, value in enumerate(call.args) if getattr(value, "id", "") == name), None)
    info = ctx.analysis.functions.get(getattr(call.func, "id", ""))
    if place is None or info is None or place >= len(info.node.args.args):
        return False
    taken = info.node.args.args[place].arg
    inside = [node for node in walk(info.node) if isinstance(node, ast.Call)]
    if any(getattr(node.func, "attr", "") in ("train", "eval") for node in inside):
        return False
    return any(getattr(node.func, "id", "") == taken for node in inside)


def _scope(tree: ast.AST, ctx: Context) -> ast.AST | None:
    """Return the function that a node stands in, None for the module."""
    parent = ctx.parent(tree)
    while parent is not None and not isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        parent = ctx.parent(parent)
    return parent
