"""Tensors that a program trains by hand: ``w = torch.zeros(2, requires_grad=True)``, ``[w, b]``, and a loop over those.

    for param in params:
        param -= lr * param.grad

What the loop goes over came out of a list, so that no name says whose gradient it is. MindSpore keeps gradients with
parameters, and such a tensor is made one where it is made. By the text alone.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from typing import Protocol

from torch2ms.mapping_tables.facts import load_facts
from torch2ms.translator.syntax.ast_walk import walk
from torch2ms.translator.values.kinds import Kind

__all__ = ["BY_HAND", "as_weight", "hand_trained", "marked_anew"]

BY_HAND = "trained by hand"  # the evidence of such a parameter
_WORD = "requires_grad"
_OF_NETWORKS = frozenset({"parameters", "named_parameters", "param_groups", "weight", "bias"})
_MAKERS = frozenset(
    "Variable arange as_tensor empty eye from_numpy full linspace normal ones rand randint randn randperm tensor "
    "zeros".split()
)


class _File(Protocol):
    @property
    def trained(self) -> frozenset[ast.AST]: ...


def as_weight(made: Kind, value: ast.expr, file: _File) -> Kind:
    """Return the kind of what an expression makes: a parameter where the file trains the tensor by hand."""
    if made.name != "Tensor" or value not in file.trained:
        return made
    return Kind("Parameter", evidence=BY_HAND)


def marked_anew(tree: ast.Module) -> dict[ast.stmt, str]:
    """Return the statements that mark what a variable holds, ``x.requires_grad = True``, with the variable.

    Those whose gradients the file asks for by that name, where it is not made a parameter as it is made: it came out of
    a call with others, or was computed from what the variable held before. They are bound to nothing but what calls and
    arithmetic give: a member of a list, an argument, or what speaks of parameters may be a network's weight, and stays.
    """
    nodes = list(walk(tree))
    asked = _with_gradient(nodes)
    bound: dict[str, list[tuple[ast.expr, bool]]] = {}
    for name, value, is_part in _assigned(nodes) if asked else ():
        bound.setdefault(name, []).append((value, is_part))
    stored = Counter(n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
    changed = Counter(n.target.id for n in nodes if isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name))
    arguments = {node.arg for node in nodes if isinstance(node, ast.arg)}
    names = {
        name
        for name, values in bound.items()
        if name in asked - arguments
        and stored[name] == len(values) + changed[name]
        and all(_gives_tensor(value) for value, _ in values)
        and any(is_part or _computes_from(value, name) for value, is_part in values)
    }
    marks = ((node, place) for node in nodes if isinstance(node, ast.stmt) for place in _marks(node))
    return {node: place.id for node, place in marks if isinstance(place, ast.Name) and place.id in names}


def _assigned(nodes: list[ast.AST]) -> Iterator[tuple[str, ast.expr, bool]]:
    """Yield every variable that an assignment binds, with the value, and whether it is one part of that."""
    for node in nodes:
        if not isinstance(node, ast.Assign):
            continue
        for target in node.targets:
            if isinstance(target, ast.Name):
                yield target.id, node.value, False
            parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else []
            values = node.value.elts if isinstance(node.value, (ast.Tuple, ast.List)) else []
            for index, part in enumerate(parts):
                if isinstance(part, ast.Name):
                    whole = len(values) == len(parts)
                    yield part.id, values[index] if whole else node.value, not whole


def _gives_tensor(value: ast.expr) -> bool:
    """Whether an expression may make a tensor, and takes none from a network or an iterator."""
    taken = any(
        (isinstance(node, ast.Attribute) and node.attr in _OF_NETWORKS) or getattr(node, "id", "") == "next"
        for node in walk(value)
    )
    return isinstance(value, (ast.Call, ast.BinOp)) and not taken


def _computes_from(value: ast.expr, name: str) -> bool:
    """Whether a variable is bound to what is computed from what it held, not to the same cut off."""
    cut = isinstance(value, ast.Call) and load_facts().cuts_off(getattr(value.func, "attr", ""))
    return not cut and any(isinstance(node, ast.Name) and node.id == name for node in walk(value))


def _is_marked(call: ast.Call) -> bool:
    """Whether a call makes a tensor whose gradient is wanted."""
    if isinstance(call.func, ast.Attribute) and call.func.attr == f"{_WORD}_":
        return not call.args or getattr(call.args[0], "value", None) is True
    return any(k.arg == _WORD and getattr(k.value, "value", None) is True for k in call.keywords)


def _makes_leaf(call: ast.Call) -> bool:
    """Whether a call makes a tensor that was computed from nothing which has a gradient itself, by the look of it.

    ``(a * real + b * fake).requires_grad_()`` hands its gradient on to ``fake``, which a parameter would not.
    """
    if not _is_marked(call):
        return False
    value: ast.AST = call
    while isinstance(value, (ast.Call, ast.Attribute)):
        func = value.func if isinstance(value, ast.Call) else value
        name = getattr(func, "attr", getattr(func, "id", ""))
        if load_facts().cuts_off(name) or name in _MAKERS or name.endswith(("_like", "Tensor")):
            return True
        value = func.value if isinstance(func, ast.Attribute) else func
    return False


def hand_trained(tree: ast.Module, *, is_whole: bool = False, is_handed: bool = False) -> frozenset[ast.AST]:
    """Return the expressions of a file that make such tensors; ``is_whole``: all whose gradients are wanted.

    ``is_handed``: another file may go over a list of them that this one hands to it.
    """
    nodes = list(walk(tree))
    if is_whole:
        leaves = frozenset(node for node in nodes if isinstance(node, ast.Call) and _makes_leaf(node))
        return leaves | _later(nodes, set(marked_anew(tree).values()))
    enclosed, attributes = _enclosed(tree, nodes), _attributes(nodes)
    if not is_handed and not enclosed and not any(_asks(node) for node in nodes):
        return attributes
    made: dict[str, set[ast.AST]] = {}
    others: set[str] = set()
    later = _marked_later(nodes)
    helpers = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    for name, value in _bound(nodes):
        is_marked = isinstance(value, ast.Call) and _is_marked(value)
        if value is not None and (is_marked or (name in later and isinstance(value, (ast.Call, ast.BinOp)))):
            made.setdefault(name, set()).add(value)
        elif isinstance(value, ast.Call) and (given := _given_marked(helpers.get(getattr(value.func, "id", "")))):
            made.setdefault(name, set()).update(given)
        else:
            others.add(name)
    listed = enclosed | {part.id for node in nodes for part in _members(node) if isinstance(part, ast.Name)}
    return attributes.union(*(calls for name, calls in made.items() if name in listed - others))


def _given_marked(helper: ast.FunctionDef | None) -> list[ast.AST]:
    """Return what a function returns where that is always a tensor whose gradient is wanted; nothing for others."""
    values = [node.value for node in walk(helper) if isinstance(node, ast.Return)] if helper is not None else []
    made: list[ast.AST] = [value for value in values if isinstance(value, ast.Call) and _is_marked(value)]
    return made if len(made) == len(values) else []


def _attributes(nodes: list[ast.AST]) -> frozenset[ast.AST]:
    """Return what makes the attributes whose gradients are asked for: ``self.w = ...`` of ``model.w.grad``."""
    asked = {
        node.value.attr
        for node in nodes
        if isinstance(node, ast.Attribute) and node.attr == "grad" and isinstance(node.value, ast.Attribute)
    }
    return frozenset(
        node.value
        for node in nodes
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and _is_marked(node.value)
        for target in node.targets
        if isinstance(target, ast.Attribute) and target.attr in asked and getattr(target.value, "id", "") == "self"
    )


def _later(nodes: list[ast.AST], anew: set[str]) -> frozenset[ast.AST]:
    """Return what makes the tensors that statements mark, behind their making; ``anew``: whose marks do it."""
    names = _marked_later(nodes) - anew
    found: set[ast.AST] = set()
    lists = _marked_lists(nodes)
    for name, value in _bound(nodes):
        if name in names and isinstance(value, (ast.Call, ast.BinOp)):
            found.add(value)
        elif name in lists and isinstance(value, ast.List):
            found |= {item for item in value.elts if isinstance(item, (ast.Call, ast.BinOp))}
    if lists:
        found |= {value for node in nodes if isinstance(node, ast.ClassDef) for value in _listed_by(node)}
    return frozenset(found)


def _listed_by(node: ast.ClassDef) -> Iterator[ast.expr]:
    """Yield what makes the attributes that ``parameters()`` of an object that is no network lists."""
    methods = [part for part in node.body if isinstance(part, ast.FunctionDef)]
    lists = [part for method in methods if method.name == "parameters" for part in walk(method)]
    names = {part.attr for part in lists if isinstance(part, ast.Attribute) and getattr(part.value, "id", "") == "self"}
    for part in walk(node) if not node.bases else ():
        targets = part.targets if isinstance(part, ast.Assign) else []
        if isinstance(part, ast.Assign) and any(isinstance(t, ast.Attribute) and t.attr in names for t in targets):
            values = [part.value.body, part.value.orelse] if isinstance(part.value, ast.IfExp) else [part.value]
            yield from (value for value in values if isinstance(value, (ast.Call, ast.BinOp)))


def _marked_later(nodes: list[ast.AST]) -> set[str]:
    """Return the variables of which a statement says that their gradients are wanted: ``w.requires_grad_()``.

    Or a loop over a list of them: ``for p in params: p.requires_grad = True``.
    """
    found = {place.id for node in nodes for place in _marks(node) if isinstance(place, ast.Name)}
    lists = _marked_lists(nodes)
    for name, value in _bound(nodes):
        if name in lists and isinstance(value, ast.List):
            found |= {item.id for item in value.elts if isinstance(item, ast.Name)}
    for node in nodes:  # params.append(w)
        func = node.func if isinstance(node, ast.Call) else None
        if isinstance(func, ast.Attribute) and func.attr == "append" and getattr(func.value, "id", "") in lists:
            assert isinstance(node, ast.Call)
            found |= {item.id for item in node.args if isinstance(item, ast.Name)}
    return found


def _marked_lists(nodes: list[ast.AST]) -> set[str]:
    """Return the lists whose members a loop marks."""
    found = set()
    for node in nodes:
        if isinstance(node, ast.For) and isinstance(node.target, ast.Name) and isinstance(node.iter, ast.Name):
            marked = [place for statement in node.body for place in _marks(statement)]
            if any(isinstance(place, ast.Name) and place.id == node.target.id for place in marked):
                found.add(node.iter.id)
    return found


def _marks(node: ast.AST) -> list[ast.expr]:
    """Return what a statement marks: ``w.requires_grad_()``, ``w.requires_grad = True``."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Attribute):
        return [node.value.func.value] if _is_marked(node.value) else []
    if isinstance(node, ast.Assign) and getattr(node.value, "value", None) is True:
        return [t.value for t in node.targets if isinstance(t, ast.Attribute) and t.attr == _WORD]
    return []


def _enclosed(tree: ast.Module, nodes: list[ast.AST]) -> set[str]:
    """Return the variables whose ``.grad`` a file reads by name, where functions compute with one of them by that name.

    The function that ``value_and_grad`` would differentiate hands a tensor to no other one. And those that are handed
    to a function which asks its parameter for the gradient: ``training_loop(100, 0.01, params)``.
    """
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    handed = {name for node in functions for name in _handed(node, nodes)}
    asked = _with_gradient(nodes)
    lambdas = [n for n in tree.body if isinstance(n, ast.Assign) and isinstance(n.value, ast.Lambda)]
    if asked and asked & {name for node in (*functions, *lambdas) for name in _free(node)}:
        return asked | handed  # one record answers for all of them
    return handed


def _with_gradient(nodes: list[ast.AST]) -> set[str]:
    """Return the variables of whose ``.grad`` nodes speak."""
    called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}  # autograd.grad(...), jax.grad(...)
    found = (n.value for n in nodes if isinstance(n, ast.Attribute) and n.attr == "grad" and id(n) not in called)
    return {value.id for value in found if isinstance(value, ast.Name)}


def _handed(function: ast.FunctionDef, nodes: list[ast.AST]) -> set[str]:
    """Return the variables that calls hand to a parameter whose gradient a function with a backward call asks for."""
    inner = list(walk(function))
    asked = _with_gradient(inner)
    names = [arg.arg for arg in function.args.args]
    if not asked & set(names) or not any(getattr(node, "attr", "") == "backward" for node in inner):
        return set()
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == function.name:
            given = [*zip(names, node.args, strict=False), *((k.arg, k.value) for k in node.keywords)]
            found |= {value.id for name, value in given if name in asked and isinstance(value, ast.Name)}
    return found


def _free(node: ast.stmt) -> set[str]:
    """Return the names that a function reads and does not bind."""
    names = [part for part in walk(node) if isinstance(part, ast.Name)]
    own = {part.arg for part in walk(node) if isinstance(part, ast.arg)}
    own |= {part.id for part in names if not isinstance(part.ctx, ast.Load)}
    return {part.id for part in names} - own


def _asks(node: ast.AST) -> bool:
    """Whether a loop asks what it goes over for its gradient."""
    if not isinstance(node, ast.For):
        return False
    targets = {part.id for part in walk(node.target) if isinstance(part, ast.Name)}
    return any(
        isinstance(part, ast.Attribute) and part.attr == "grad" and getattr(part.value, "id", None) in targets
        for part in walk(node)
    )


def _members(node: ast.AST) -> list[ast.expr]:
    """Return the members of a list or tuple that is written out, of names and attributes alone."""
    if not isinstance(node, (ast.List, ast.Tuple)) or not isinstance(node.ctx, ast.Load):
        return []
    return node.elts if all(isinstance(part, (ast.Name, ast.Attribute)) for part in node.elts) else []


def _bound(nodes: list[ast.AST]) -> Iterator[tuple[str, ast.expr | None]]:
    """Yield every variable that is bound, with its value; None where that is not written out."""
    for node in nodes:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    yield target.id, node.value
                    continue
                parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else []
                values = node.value.elts if isinstance(node.value, (ast.Tuple, ast.List)) else []
                for index, part in enumerate(parts):
                    if isinstance(part, ast.Name):
                        yield part.id, values[index] if len(values) == len(parts) else None
        elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)) and isinstance(node.target, ast.Name):
            yield node.target.id, node.value
