"""Where a program asks a weight for its gradient, ``p.grad``, apart from the backward call: by the text alone.

A step that stands in one function hands its gradients on as a tuple. When a function of its own reads or changes them,
or an optimizer that the program wrote, they must be kept where that function finds them (``runtime.gradients``).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torch2ms.translator.syntax.ast_walk import changed_in_place, children, walk

__all__ = [
    "CLIPS",
    "asked_apart",
    "asks_apart",
    "calls_of",
    "clips_apart",
    "lists_weights",
    "looks_like_weight",
    "resets_apart",
]

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_ON_SOME_PATHS = (ast.If, ast.For, ast.While, ast.Try, ast.Match, ast.IfExp, ast.FunctionDef, ast.Lambda, ast.ClassDef)
_OF_STEPS = frozenset({"backward", "step", "zero_grad", "minimize"})
# What clips gradients, and by what
CLIPS = {
    "clip_grad_norm_": "norm",
    "clip_grad_norm": "norm",
    "clip_grad_value_": "value",
    "clip_grad_value": "value",
}
_OF_LAYERS = frozenset({"weight", "bias"})  # members of torch's layers
_LISTS = frozenset({"parameters", "named_parameters", "param_groups", "params"})  # of networks and optimizers


def asks_apart(tree: ast.Module) -> bool:
    """Whether a function that calls no ``backward``, and is no part of an optimizer, asks weights for gradients."""
    return any(not is_own for _, is_own in asked_apart(tree))


def asked_apart(tree: ast.Module) -> Iterator[tuple[ast.Attribute, bool]]:
    """Yield every ``p.grad`` of such functions, and of optimizers that the file defines, and whether it is the latter.

    Functions are the outermost ones: what is defined inside one belongs to it.
    """
    yield from _asked(tree, _handed(tree), is_own=False)
    yield from ((asked, False) for asked in _asked_by_script(tree))


def _asked_by_script(tree: ast.AST) -> Iterator[ast.Attribute]:
    """Yield every ``x.grad`` of a script that calls no ``backward``, of tensors that it marks itself."""
    from torch2ms.translator.effects.gradient_marks import marks  # it imports this module
    from torch2ms.translator.effects.names_used import own

    nodes = list(own(tree))
    if not isinstance(tree, ast.Module) or any(isinstance(n, ast.Attribute) and n.attr in _OF_STEPS for n in nodes):
        return
    marked = marks(nodes)
    for node in nodes:
        if isinstance(node, ast.Attribute) and node.attr == "grad" and getattr(node.value, "id", "") in marked:
            yield node


def resets_apart(tree: ast.Module) -> bool:
    """Whether gradients are reset where no ``backward`` is called; what is itself called ``zero_grad`` is left out."""
    return any("zero_grad" in names and "backward" not in names for names in _attributes(tree))


def calls_of(function: ast.AST, *, is_sure: bool = True) -> Iterator[tuple[ast.Call, bool]]:
    """Yield the calls of a function, and whether each runs whenever the function does."""
    for node in children(function):
        runs = is_sure and not isinstance(node, _ON_SOME_PATHS)
        if isinstance(node, ast.Call):
            yield node, runs
        yield from calls_of(node, is_sure=runs)


def clips_apart(tree: ast.AST) -> Iterator[ast.Call]:
    """Yield the calls that clip gradients in outermost functions that neither compute nor use any."""
    for node in children(tree):
        if isinstance(node, _FUNCTIONS):
            parts = list(walk(node))
            if not any(isinstance(part, ast.Attribute) and part.attr in _OF_STEPS for part in parts):
                yield from (part for part in parts if isinstance(part, ast.Call) and _called(part) in CLIPS)
        elif isinstance(node, ast.stmt):
            yield from clips_apart(node)


def _called(call: ast.Call) -> str:
    return str(getattr(call.func, "attr", getattr(call.func, "id", "")))


def _attributes(holder: ast.AST) -> Iterator[set[str]]:
    """Yield the names of the attributes in every outermost function, and in what stands outside of them."""
    own: set[str] = set()
    pending = list(children(holder))
    while pending:
        node = pending.pop()
        if isinstance(node, _FUNCTIONS):
            if node.name != "zero_grad":
                yield {part.attr for part in walk(node) if isinstance(part, ast.Attribute)}
            continue
        if isinstance(node, ast.Attribute):
            own.add(node.attr)
        pending += children(node)
    yield own


def _handed(tree: ast.Module) -> frozenset[str]:
    """Return the functions called with the weights that a loop goes over: ``[norm(p) for p in net.parameters()]``."""
    nodes = list(walk(tree))
    loops = [node for node in nodes if isinstance(node, (ast.For, ast.comprehension)) and lists_weights(node.iter)]
    names = {name for loop in loops for name in _names(loop.target)}
    calls = [node for node in nodes if isinstance(node, ast.Call)] if names else []
    return frozenset(_called(c) for c in calls if any(isinstance(a, ast.Name) and a.id in names for a in c.args))


def _asked(holder: ast.AST, handed: frozenset[str], *, is_own: bool) -> Iterator[tuple[ast.Attribute, bool]]:
    for node in children(holder):
        if isinstance(node, _FUNCTIONS):
            parts = list(walk(node))
            if is_own or not any(isinstance(part, ast.Attribute) and part.attr == "backward" for part in parts):
                weights = _weights(parts)
                weights |= {arg.arg for arg in node.args.args} if node.name in handed else set()
                asked = (part for part in parts if isinstance(part, ast.Attribute) and part.attr == "grad")
                given = _given(parts)
                yield from ((a, is_own) for a in asked if id(a) in given or _is_used_so(a.value, weights))
        elif isinstance(node, ast.stmt):
            yield from _asked(node, handed, is_own=isinstance(node, ast.ClassDef) and _is_optimizer(node))


def _given(nodes: list[ast.AST]) -> set[int]:
    """Return the ids of every ``p.grad`` that gets a value of the program's own: only optimizers ask for such."""
    targets = [n.targets[0] for n in nodes if isinstance(n, ast.Assign) and not isinstance(n.value, ast.Constant)]
    looped = {
        part.id
        for node in nodes
        if isinstance(node, ast.For)
        for part in walk(node.target)
        if isinstance(part, ast.Name)
    }
    return {id(t) for t in targets if isinstance(t, ast.Attribute) and getattr(t.value, "id", "") in looped}


def looks_like_weight(value: ast.expr, function: ast.AST) -> bool:
    """Whether an expression is a weight by its use in a function: an item of a list, or moved by its gradient."""
    return _is_used_so(value, _weights(list(walk(function))))


def _is_used_so(value: ast.expr, weights: set[str]) -> bool:
    if isinstance(value, ast.Subscript):  # parameters[0], group["params"][0]
        return True
    if isinstance(value, ast.Attribute):
        return value.attr in _OF_LAYERS
    return isinstance(value, ast.Name) and value.id in weights


def _weights(nodes: list[ast.AST]) -> set[str]:
    """Return the variables that are weights by their use.

    A loop goes over weights when it asks a network or an optimizer for them, or when its variable is asked for its
    gradient. A parameter of the function is one when it is moved by its gradient, and the function makes no leaf of it.
    """
    loops = [node for node in nodes if isinstance(node, (ast.For, ast.comprehension))]
    looped = {name: loop.iter for loop in loops for name in _names(loop.target)}
    attributes = [node for node in nodes if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)]
    graded = {node.value.id for node in attributes if node.attr == "grad" and isinstance(node.value, ast.Name)}
    leaves = {
        n.value.id
        for n in attributes
        if n.attr in ("requires_grad", "requires_grad_") and isinstance(n.value, ast.Name)
    }
    calls = [node for node in nodes if isinstance(node, ast.Call) and not isinstance(node.func, ast.Attribute)]
    handed = {value.id for call in calls for value in call.args if isinstance(value, ast.Name)}
    found = {name for name, source in looped.items() if name in graded - handed or lists_weights(source)}
    if any(isinstance(node, ast.Attribute) and node.attr == "backward" for node in nodes):
        return found
    given = {node.arg for node in nodes if isinstance(node, ast.arg)}
    return found | ((graded & given & _moved(nodes)) - leaves)


def _names(target: ast.AST) -> list[str]:
    return [part.id for part in walk(target) if isinstance(part, ast.Name)]


def lists_weights(source: ast.AST) -> bool:
    """Whether a loop goes over what a network or an optimizer gives as its weights."""
    names = {node.attr for node in walk(source) if isinstance(node, ast.Attribute)}
    names |= {str(node.value) for node in walk(source) if isinstance(node, ast.Constant)}  # group["params"]
    return not names.isdisjoint(_LISTS)


def _moved(nodes: list[ast.AST]) -> set[str]:
    """Return the variables that are changed in place: ``p -= step``, ``p.add_(step)``, ``p.data = value``."""
    found: set[str] = set()
    for node in nodes:
        place: ast.AST | None = None
        if isinstance(node, ast.AugAssign):
            place = node.target
        elif isinstance(node, ast.Attribute) and node.attr == "data" and not isinstance(node.ctx, ast.Load):
            place = node
        else:
            place = changed_in_place(node)
        place = place.value if isinstance(place, ast.Attribute) and place.attr == "data" else place
        found |= {place.id} if isinstance(place, ast.Name) else set()
    return found


def _is_optimizer(node: ast.ClassDef) -> bool:
    """Whether a class is an optimizer by the name of its base: ``torch.optim.Optimizer``."""
    names = (base.attr if isinstance(base, ast.Attribute) else getattr(base, "id", "") for base in node.bases)
    return "Optimizer" in names
