"""What statements store where other names see it: through aliases, and through the functions that they call.

The effects of a statement (``effects.py``) are those its text names. ``Storing`` adds the paths that hold the same
objects under other names (``sharing.py``), and what the functions and methods it calls store into what they are given.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from torch2ms.translator.effects.aliases import Aliases
from torch2ms.translator.effects.reads_and_writes import Effects, base_path, dotted_path, effects, overlap, root
from torch2ms.translator.syntax.ast_walk import children, walk
from torch2ms.translator.training.find.object_aliases import Sharing
from torch2ms.translator.training.find.vocabulary import BUILTINS
from torch2ms.translator.values.kinds import UNKNOWN, Oracle

__all__ = ["Storing"]

_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_MARK = "requires_grad_"
_CALLED = ("forward", "__call__")  # what an object runs that is called itself


@dataclass(slots=True)
class _Read:
    """What a function reads out of objects: attributes that are no callees, and literal keys, by what they are of."""

    attributes: set[tuple[str, str]] = field(default_factory=set)  # (path of the object, attribute)
    keyed: set[tuple[str, str]] = field(default_factory=set)  # (path of the container, key)


class Storing:
    """Answers, for one file, what else changes where a statement runs; ``late`` are names that functions of other
    files store attributes or keys under."""

    def __init__(
        self, tree: ast.Module, inert: Collection[str], late: Collection[str] = (), oracle: Oracle | None = None
    ) -> None:
        self._oracle = oracle
        self._aliases: dict[int, Aliases] = {}
        self._inert = inert
        self._late = late
        self._functions: dict[str, list[_Function]] = {}  # "name" and ".method"
        self._owners: dict[int, _Function | ast.Module] = {}
        self._nodes: dict[int, list[ast.AST]] = {}  # of each function, nested ones left out
        self._scopes: dict[int, _Function | ast.Module] = {}
        self._shared: dict[int, Sharing] = {}
        self._reads: dict[int, _Read] = {}
        self._changed: dict[int, frozenset[str]] = {}
        self._tree = tree
        self._enter(tree, tree, False)

    def extend(self, node: ast.AST | Sequence[ast.AST], found: Effects) -> Effects:
        """Return the effects of statements with those through aliases and calls."""
        first = node if isinstance(node, ast.AST) else next(iter(node), None)
        owner = self._owners.get(id(first))
        if owner is None:
            return found
        nodes = [node] if isinstance(node, ast.AST) else node
        touched = self._touched(nodes, owner)
        touched |= self._written(nodes, owner, found.mutates | touched)
        changed = _written_into(nodes, found.mutates) | found.touches | touched | self._changed_by_adding(nodes)
        shared = self._sharing(owner).reached(changed, found.inner | touched) - found.mutates
        if not touched and not shared:
            return found
        return replace(found, touches=found.touches | touched, shared=frozenset(shared))

    def origins(self, owner: _Function | ast.Module, path: str) -> set[str]:
        """Return the paths that one of a function may be, or lie inside of, itself included."""
        return self._sharing(owner).origins(path)

    def _enter(self, node: ast.AST, owner: _Function | ast.Module, in_class: bool) -> None:
        self._scopes[id(owner)] = owner
        nodes = self._nodes.setdefault(id(owner), [])
        for child in children(node):
            nodes.append(child)
            if isinstance(child, ast.stmt):
                self._owners[id(child)] = owner
            if isinstance(child, _Function):
                if not isinstance(child, ast.Lambda):
                    self._functions.setdefault("." * in_class + child.name, []).append(child)
                self._enter(child, child, False)
                continue
            if isinstance(child, ast.Assign) and isinstance(child.value, ast.Lambda):
                for target in child.targets:
                    if isinstance(target, ast.Name):
                        self._functions.setdefault(target.id, []).append(child.value)
            self._enter(child, owner, isinstance(child, ast.ClassDef))

    def _written(
        self, nodes: Iterable[ast.AST], owner: _Function | ast.Module, changed: Collection[str]
    ) -> frozenset[str]:
        """Return the other names of the tensors that statements write into: through views, and with ``y += 1``."""
        if id(owner) not in self._aliases:
            self._aliases[id(owner)] = Aliases(self._nodes[id(owner)], self._oracle)
        aliases = self._aliases[id(owner)]
        if not aliases:
            return frozenset()
        paths = {path for target in _added_to(nodes) if (path := dotted_path(target)) is not None}
        return frozenset(aliases.of({*changed, *paths}) - set(changed))

    def _changed_by_adding(self, nodes: Iterable[ast.AST]) -> set[str]:
        """Return the names that ``x += y`` changes in place where they hold a tensor: other names of it see that."""
        oracle = self._oracle
        names = [target for target in _added_to(nodes) if isinstance(target, ast.Name)]
        kinds = {target.id: oracle.kind(target) if oracle else UNKNOWN for target in names}
        return {name for name, kind in kinds.items() if kind.is_tensor or not kind.known}

    def _sharing(self, owner: _Function | ast.Module) -> Sharing:
        """Return what a function shows of shared objects, and what the module and the classes' other methods do."""
        if id(owner) not in self._shared:
            own = self._shared[id(owner)] = Sharing(self._nodes[id(owner)], self._returned)
            if not isinstance(owner, ast.Module):
                own.take_over(self._sharing(self._tree), _bound_in(owner))
                for other in self._scopes.values():
                    if other is not owner and "self" in _parameters(other):
                        own.take_over(Sharing(self._nodes[id(other)], self._returned), only="self")
        return self._shared[id(owner)]

    def _returned(self, call: ast.Call) -> Iterator[ast.expr]:
        """Yield what the file's function that is called may return: its own paths, and what it was given."""
        for function in self._called(call):
            given = _arguments(call, function)
            inside = _bound_in(function)
            for node in self._nodes[id(function)]:
                value = node.value if isinstance(node, ast.Return) else None
                path = base_path(value) if value is not None else None
                if path is None:
                    continue
                if root(path) in given:
                    yield given[root(path)]
                elif root(path) not in inside and isinstance(value, (ast.Name, ast.Attribute, ast.Subscript)):
                    yield value

    def _called(self, call: ast.Call) -> list[_Function]:
        func = call.func
        if isinstance(func, ast.Name):
            return self._functions.get(func.id, [])
        if isinstance(func, ast.Attribute):
            return self._functions.get("." + func.attr, [])
        return []

    def _touched(self, nodes: Sequence[ast.AST], owner: _Function | ast.Module) -> frozenset[str]:
        """Return what the calls inside of some nodes store into what they are given or what is seen everywhere."""
        found: set[str] = set()
        for call in (node for top in nodes for node in walk(top)):
            if not isinstance(call, ast.Call):
                continue
            for function in self._called(call):
                found |= self._stored_by(call, function, owner)
            found |= self._stored_elsewhere(call, owner)
            for value in call.args:
                handed = self._functions.get(value.id, []) if isinstance(value, ast.Name) else []
                if any(self._changes(function) for function in handed):  # map(evaluate, envs)
                    found |= {path for item in call.args if item is not value and (path := base_path(item))}
        return frozenset(found)

    def _stored_by(self, call: ast.Call, function: _Function, owner: _Function | ast.Module) -> set[str]:
        """Return what calling a function of the file stores, by the names of where it is called."""
        given, found = _arguments(call, function), set()
        for path in self._changes(function):
            start, _, tail = path.partition(".")
            if start in given:
                base = base_path(given[start])
                if base is not None and root(base) not in self._inert and self._is_read(base, tail, owner):
                    found.add(f"{base}.{tail}" if tail and dotted_path(given[start]) else base)
            elif start not in _parameters(function):
                found.add(path)
        return found

    def _is_read(self, base: str, tail: str, owner: _Function | ast.Module) -> bool:
        """Whether the attribute that is stored is read as a value, of this object or of one it may be or lie in."""
        if not tail:
            return True
        whole, _, name = f"{base}.{tail}".rpartition(".")
        owners = [path for path, read in self._read(owner).attributes if read == name]
        sharing = self._sharing(owner)
        return any(not sharing.origins(whole).isdisjoint(sharing.origins(path)) for path in owners)

    def _stored_elsewhere(self, call: ast.Call, owner: _Function | ast.Module) -> set[str]:
        """Return what a call may store that is read as a value, and that some function stores under this name.

        An object that is called may keep an attribute: ``model.aux_loss``. A method may, of its object, and a function
        a key of what it is given.
        """
        func = call.func
        callee = dotted_path(func)
        if isinstance(func, ast.Name) and (func.id in BUILTINS or func.id in self._functions):
            return set()
        objects = {callee} if callee and root(callee) not in self._inert else set()
        if isinstance(func, ast.Attribute) and (path := base_path(func.value)) and root(path) not in self._inert:
            objects.add(path)
        read = self._read(owner)
        late = self._stored_when_called()
        found = set()
        for name in {name for _, name in read.attributes}:
            if name in self._late or name in late:
                found |= {f"{path}.{name}" for path in objects - {"self"} if self._is_read(path, name, owner)}
        for container, key in read.keyed if self._late else ():
            for value in call.args if key in self._late else ():
                path = dotted_path(value)
                if path and any(overlap(container, origin) for origin in self._sharing(owner).origins(path)):
                    found.add(path)
        return found

    def _stored_when_called(self) -> set[str]:
        """Return the attributes that objects of the file's classes keep when they are called."""
        methods = [function for name in _CALLED for function in self._functions.get("." + name, [])]
        paths = {path for function in methods for path in self._changes(function)}
        return {path.partition(".")[2] for path in paths if path.startswith("self.")}

    def _changes(self, function: _Function) -> frozenset[str]:
        """Return what a function changes of its parameters and of names from outside."""
        if id(function) not in self._changed:
            self._changed[id(function)] = frozenset()  # for recursion
            body = function.body if isinstance(function.body, list) else [function.body]
            found = effects(body, self._inert)
            found = replace(found, mutates=found.mutates - _only_marked(body))
            touched = self._touched(body, function)
            touched |= self._written(body, function, found.mutates | touched)
            stored = found.mutates | touched
            changed = _written_into(body, found.mutates) | touched
            stored |= self._sharing(function).reached(changed, found.inner & stored | touched)
            inside = _bound_in(function) - _parameters(function)
            stored |= {name for node in body for name in _declared(node)}
            self._changed[id(function)] = frozenset(path for path in stored if root(path) not in inside)
        return self._changed[id(function)]

    def _read(self, owner: _Function | ast.Module) -> _Read:
        if id(owner) not in self._reads:
            found = self._reads[id(owner)] = _Read()
            nodes = self._nodes[id(owner)]
            callees = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
            for node in nodes:
                if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) and id(node) not in callees:
                    if (path := base_path(node.value)) is not None:
                        found.attributes.add((path, node.attr))
                elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
                    key = node.slice.value if isinstance(node.slice, ast.Constant) else None
                    if isinstance(key, str) and (path := base_path(node.value)) is not None:
                        found.keyed.add((path, key))
        return self._reads[id(owner)]


def _only_marked(body: Sequence[ast.AST]) -> set[str]:
    """Return the paths of tensors that a function does no more to than mark them: ``x.requires_grad_()``."""
    nodes = [node for top in body for node in walk(top)]
    calls = [n.value for n in nodes if isinstance(n, ast.Expr) and isinstance(n.value, ast.Call)]
    marking = {id(c): c.func.value for c in calls if isinstance(c.func, ast.Attribute) and c.func.attr == _MARK}
    others = (n for n in nodes if isinstance(n, (ast.Call, ast.Assign, ast.AugAssign)) and id(n) not in marking)
    marked = {path for value in marking.values() if (path := dotted_path(value))}
    return marked.difference(*(effects(node).mutates for node in others)) if marked else marked


def _written_into(nodes: Sequence[ast.AST], changed: Collection[str]) -> set[str]:
    """Return the paths of the objects that are written into, of those that some nodes change.

    ``self.value = loss`` writes into ``self``: the object that is bound, and the one that was, stay as they are.
    """
    every = [item for top in nodes for item in walk(top)]
    bound: set[str] = set()
    for node in every:
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            bound |= {path for t in targets if isinstance(t, ast.Attribute) and (path := dotted_path(t))}
    for node in every if bound else ():
        is_several = isinstance(node, (ast.Tuple, ast.List)) and isinstance(node.ctx, ast.Store)
        if is_several or isinstance(node, (ast.AugAssign, ast.For, ast.withitem, ast.Delete, ast.Call)):
            bound -= effects(node).mutates
    return {path.rpartition(".")[0] if path in bound else path for path in changed}


def _parameters(function: ast.AST) -> frozenset[str]:
    arguments = function.args if isinstance(function, _Function) else None
    if arguments is None:
        return frozenset()
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    return frozenset(argument.arg for argument in every if argument is not None)


def _bound_in(function: _Function) -> frozenset[str]:
    """Return the names that a function binds as its own."""
    body: Iterable[ast.AST] = function.body if isinstance(function.body, list) else [function.body]
    nodes = list(body)
    return _parameters(function) | (effects(nodes).binds - {name for node in nodes for name in _declared(node)})


def _declared(node: ast.AST) -> Iterator[str]:
    for item in walk(node):
        if isinstance(item, (ast.Global, ast.Nonlocal)):
            yield from item.names


def _arguments(call: ast.Call, function: _Function) -> dict[str, ast.expr]:
    """Return what the parameters of a function are given, as far as the text shows it.

    One that is left out has its default, which all calls share: what a name holds, or what the function goes by.
    """
    names = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
    values = list(call.args)
    if isinstance(call.func, ast.Attribute) and names[:1] == ["self"]:
        values = [call.func.value, *values]
    found = dict(_defaults(function, names))
    for name, value in zip(names, values, strict=False):
        if isinstance(value, ast.Starred):
            break
        found[name] = value
    found.update({word.arg: word.value for word in call.keywords if word.arg})
    return found


def _defaults(function: _Function, names: list[str]) -> Iterator[tuple[str, ast.expr]]:
    """Yield the parameters whose default is an object that may be stored into, and what it goes by."""
    if isinstance(function, ast.Lambda):
        return
    count = len(function.args.defaults)
    pairs = [
        *zip(names[-count:] if count else [], function.args.defaults, strict=False),
        *zip((argument.arg for argument in function.args.kwonlyargs), function.args.kw_defaults, strict=False),
    ]
    for name, default in pairs:
        if isinstance(default, (ast.Name, ast.Attribute)):
            yield name, default
        elif isinstance(default, (ast.Dict, ast.List, ast.Set, ast.Call)):
            yield name, ast.Name(function.name, ast.Load())


def _added_to(nodes: Iterable[ast.AST]) -> list[ast.expr]:
    return [node.target for top in nodes for node in walk(top) if isinstance(node, ast.AugAssign)]
