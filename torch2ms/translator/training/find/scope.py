"""Scopes of a module and where each statement stands in its scope."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace

from torch2ms.translator.effects.dataflow import child_blocks, effects
from torch2ms.translator.effects.reads_and_writes import Effects, base_path, dotted_path, root
from torch2ms.translator.syntax.ast_walk import children, walk
from torch2ms.translator.training.find.stores import Storing
from torch2ms.translator.values.kinds import Oracle

__all__ = ["Assignment", "FunctionNode", "Location", "ProjectFile", "Scope", "is_formal"]

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
_LOOPS = (ast.For, ast.AsyncFor, ast.While)


@dataclass(frozen=True, slots=True)
class Location:
    """Where a statement stands: ``block[index]``, a list of the compound statement ``parent`` (None: of the scope)."""

    block: list[ast.stmt]
    index: int
    parent: ast.stmt | None
    order: int  # position in the scope's source order


def is_formal(statement: ast.stmt, block: list[ast.stmt]) -> bool:
    """Whether ``block`` of a conditional runs in every training step.

    ``if loss.requires_grad: loss.backward()`` and ``if torch.is_grad_enabled(): optimizer.zero_grad()`` ask what must
    hold for a step to be one; closures of L-BFGS are written so.
    """
    if not isinstance(statement, ast.If) or block is not statement.body or statement.orelse or len(block) != 1:
        return False
    call = block[0].value if isinstance(block[0], ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return False
    test = statement.test
    if isinstance(test, ast.Attribute) and test.attr == "requires_grad" and call.func.attr == "backward":
        return dotted_path(test.value) is not None and dotted_path(test.value) == dotted_path(call.func.value)
    asked = (dotted_path(test.func) or "") if isinstance(test, ast.Call) else ""
    return asked.endswith("is_grad_enabled") and call.func.attr in ("zero_grad", "backward")


class Scope:
    """One function or module body, nested definitions excluded."""

    def __init__(self, node: ast.Module | FunctionNode, class_node: ast.ClassDef | None = None) -> None:
        self.node = node
        self.class_node = class_node
        self.body = node.body
        self.statements: list[ast.stmt] = []
        self.expressions: dict[ast.stmt, list[ast.AST]] = {}  # of each statement, once asked for
        self._places: dict[int, Location] = {}
        self._index(node.body, None)

    def _index(self, block: list[ast.stmt], parent: ast.stmt | None) -> None:
        for index, statement in enumerate(block):
            self._places[id(statement)] = Location(block, index, parent, len(self.statements))
            self.statements.append(statement)
            for child in child_blocks(statement):
                self._index(child, statement)

    @property
    def is_module(self) -> bool:
        """Whether this is the module's own scope."""
        return isinstance(self.node, ast.Module)

    @property
    def parameters(self) -> frozenset[str]:
        """The names of the function's parameters."""
        if isinstance(self.node, ast.Module):
            return frozenset()
        arguments = self.node.args
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
        return frozenset(argument.arg for argument in every if argument is not None)

    @property
    def outer(self) -> frozenset[str]:
        """The names that the function declares global or nonlocal."""
        declared = (node for node in self.statements if isinstance(node, (ast.Global, ast.Nonlocal)))
        return frozenset(name for node in declared for name in node.names)

    def location(self, statement: ast.stmt) -> Location:
        """Return where ``statement`` stands."""
        return self._places[id(statement)]

    def ancestors(self, statement: ast.stmt) -> Iterator[ast.stmt]:
        """Yield the compound statements around ``statement``, innermost first."""
        parent = self.location(statement).parent
        while parent is not None:
            yield parent
            parent = self.location(parent).parent

    def loops(self, statement: ast.stmt) -> list[ast.stmt]:
        """Return the loops around ``statement``, innermost first."""
        found: list[ast.stmt] = []
        child = statement
        for parent in self.ancestors(statement):
            if isinstance(parent, _LOOPS) and self.location(child).block is parent.body:
                found.append(parent)
            child = parent
        return found

    def guards(self, statement: ast.stmt, outside: ast.stmt | None = None) -> list[tuple[ast.stmt, int]]:
        """Return the conditional branches around ``statement`` inside of ``outside``: (statement, id of the list)."""
        found = []
        child = statement
        for parent in self.ancestors(statement):
            if parent is outside:
                break
            block = self.location(child).block
            if isinstance(parent, ast.Try):
                always = block is parent.body or block is parent.finalbody
            else:
                loop_body = isinstance(parent, _LOOPS) and block is parent.body
                always = loop_body or isinstance(parent, (ast.With, ast.AsyncWith)) or is_formal(parent, block)
            if not always:
                found.append((parent, id(block)))
            child = parent
        return found

    def are_exclusive(self, a: ast.stmt, b: ast.stmt) -> bool:
        """Whether the two stand in different branches of one conditional."""
        left = {id(statement): block for statement, block in self.guards(a)}
        return any(left.get(id(statement), block) != block for statement, block in self.guards(b))

    def is_left_before(self, a: ast.stmt, b: ast.stmt) -> bool:
        """Whether ``a`` stands in a branch that ends the round of a loop, or the function, and ``b`` behind it."""
        child = a
        for parent in self.ancestors(a):
            block, place = self.location(child).block, self.location(parent)
            leaves = isinstance(parent, ast.If) and isinstance(block[-1], (ast.Continue, ast.Return, ast.Raise))
            if leaves and self.loops(parent)[:1] == self.loops(b)[:1]:
                index = self.index_in(place.block, b)
                return index is not None and index > place.index
            child = parent
        return False

    def index_in(self, block: list[ast.stmt], statement: ast.stmt) -> int | None:
        """Return the index in ``block`` of the statement that is or holds ``statement``."""
        for candidate in (statement, *self.ancestors(statement)):
            place = self.location(candidate)
            if place.block is block:
                return place.index
        return None


@dataclass(frozen=True, slots=True)
class Assignment:
    """``path = value`` or ``path.append(value)`` in a function (None: outside of all functions)."""

    path: str
    value: ast.expr
    owner: FunctionNode | None


@dataclass(slots=True)
class ProjectFile:
    """What the analysis of one scope may look up in its whole file."""

    tree: ast.Module
    inert: frozenset[str] = frozenset()  # names bound by imports, and by nothing else
    functions: dict[str, FunctionNode] = field(default_factory=dict)  # "name" and ".method"
    nested: dict[str, FunctionNode] = field(default_factory=dict)  # inside of functions, by names that occur once
    assignments: list[Assignment] = field(default_factory=list)  # every `path = value`, function by function
    stores: list[Assignment] = field(default_factory=list)  # values put into containers: x.append(value), x[i] = value
    loops: list[Assignment] = field(default_factory=list)  # `for path in value`
    _inside: dict[str, Effects] = field(default_factory=dict)
    _storing: Storing | None = None
    globals_read: frozenset[str] = frozenset()  # names that functions and classes of the file read
    machinery: set[int] = field(default_factory=set)  # ids of the calls of training steps, which give no value
    quiet: set[int] = field(default_factory=set)  # of those that change none besides: backward, zero_grad
    _methods: dict[str, list[FunctionNode]] = field(default_factory=dict)  # of all classes, by name

    @classmethod
    def of(cls, tree: ast.Module, late: Collection[str] = (), oracle: Oracle | None = None) -> ProjectFile:
        """Index ``tree``; ``late`` are names that functions of other files store attributes or keys under.

        With an oracle, aliases of tensors are told from other values.
        """
        file = cls(tree)
        inert: set[str] = set()
        bound: set[str] = set()  # otherwise than by imports: model = model.Net(), def run(data)
        absent: set[ast.AST] = set()  # targets of None, which stands for what could not be imported
        defined: dict[str, list[FunctionNode]] = {}
        for node in walk(tree):
            if isinstance(node, FunctionNode):
                defined.setdefault(node.name, []).append(node)
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                inert |= effects(node).binds
            elif isinstance(node, ast.arg):
                bound.add(node.arg)
            elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
                absent.update(node.targets)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node not in absent:
                bound.add(node.id)
            elif isinstance(node, ast.ClassDef):
                own = [part for part in node.body if isinstance(part, FunctionNode)]
                file.functions.update({f".{part.name}": part for part in own})
                for part in own:
                    file._methods.setdefault(part.name, []).append(part)
        file.functions.update({part.name: part for part in tree.body if isinstance(part, FunctionNode)})
        outer = {id(function) for function in file.functions.values()}
        file.nested = {
            name: found[0] for name, found in defined.items() if len(found) == 1 and id(found[0]) not in outer
        }
        file.inert = frozenset(inert - bound)
        file.globals_read = effects(tree.body).captures
        file._storing = Storing(tree, file.inert, late, oracle)
        file._collect(tree, None)
        return file

    def effects(self, node: ast.AST | Sequence[ast.AST]) -> Effects:
        """Return the effects of ``node``, those of the file's functions and methods that it calls included.

        What is stored into an object is stored under its other names as well.
        """
        found = effects(node, self.inert, self.quiet)
        if self._storing is not None:
            found = self._storing.extend(node, found)
        reads, touches = set(found.reads), set(found.touches)
        for name in found.reads:
            key = name.removeprefix("self") if name.startswith("self.") else name
            inner = self._called(key) if key in self.functions else None
            if inner is not None:
                reads |= inner.reads
                touches |= inner.touches
        return replace(found, reads=frozenset(reads), touches=frozenset(touches))

    def methods(self, name: str) -> list[FunctionNode]:
        """Return the methods of this name of all classes of the file."""
        return self._methods.get(name, [])

    def origins(self, scope: ast.Module | FunctionNode, path: str) -> set[str]:
        """Return the paths that one of a scope may be, or lie inside of, itself included."""
        return {path} if self._storing is None else self._storing.origins(scope, path)

    def _called(self, key: str) -> Effects:
        """Return what calling a function of the file reads and changes outside of itself."""
        if key not in self._inside:
            self._inside[key] = Effects()  # for recursion
            function = self.functions[key]
            shell = effects(function, self.inert)
            body = self.effects(function.body)
            own = {path for path in body.reads if path.startswith("self.")} if key.startswith(".") else set()
            stored = {path for path in body.mutates | body.touches | body.shared if path.startswith("self.")}
            self._inside[key] = Effects(reads=shell.reads | own, touches=shell.touches | (stored if own else set()))
        return self._inside[key]

    def _collect(self, node: ast.AST, owner: FunctionNode | None) -> None:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                self._assign(target, node.value, owner)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            self._assign(node.target, node.value, owner)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            if node.func.attr in ("append", "extend", "insert", "appendleft"):
                either = node.func.value  # (no_decay if p.ndim == 1 else decay).append(p)
                for target in (either.body, either.orelse) if isinstance(either, ast.IfExp) else (either,):
                    if (path := base_path(target)) is not None:
                        self.stores.append(Assignment(path, node.args[-1], owner))
        elif isinstance(node, ast.For):
            names = [part for part in walk(node.target) if isinstance(part, ast.Name)]
            self.loops.extend(Assignment(part.id, node.iter, owner) for part in names)
        inner = node if isinstance(node, FunctionNode) else owner
        for child in children(node):
            self._collect(child, inner)

    def _assign(self, target: ast.expr, value: ast.expr, owner: FunctionNode | None) -> None:
        if isinstance(target, (ast.Tuple, ast.List)):
            same = isinstance(value, (ast.Tuple, ast.List)) and len(target.elts) == len(value.elts)
            values = value.elts if same and isinstance(value, (ast.Tuple, ast.List)) else [value] * len(target.elts)
            for part, item in zip(target.elts, values, strict=True):
                if same:
                    self._assign(part, item, owner)
                elif (path := base_path(part)) is not None:
                    self.stores.append(Assignment(path, item, owner))
            return
        path = dotted_path(target)
        if path is not None:
            self.assignments.append(Assignment(path, value, owner))
        elif (base := base_path(target)) is not None:
            self.stores.append(Assignment(base, value, owner))

    def values_of(self, path: str, scope: Scope) -> list[ast.expr]:
        """Return every expression assigned to ``path`` as ``scope`` sees it; none when it is handed in."""
        return [item.value for item in self.assigned_to(path, scope)]

    def assigned_to(self, path: str, scope: Scope) -> list[Assignment]:
        """Return every assignment to ``path`` as ``scope`` sees it; none when it is handed in."""
        return self._seen(self.assignments, path, scope)

    def bindings_of(self, path: str, scope: Scope) -> list[Assignment]:
        """Return what is assigned to ``path``, put into it, or looped over with it, as ``scope`` sees it."""
        return self._seen([*self.assignments, *self.stores, *self.loops], path, scope)

    def scope_of(self, assignment: Assignment, scope: Scope) -> Scope:
        """Return the scope an assignment stands in, where its names are to be looked up."""
        if assignment.owner is scope.node or (assignment.owner is None and scope.is_module):
            return scope
        return Scope(assignment.owner or self.tree)

    @staticmethod
    def _seen(items: Sequence[Assignment], path: str, scope: Scope) -> list[Assignment]:
        found = [item for item in items if item.path == path]
        if path != root(path):
            return found
        if path in scope.parameters:
            return []
        return [item for item in found if item.owner is scope.node] or [item for item in found if item.owner is None]

    def scopes(self) -> list[Scope]:
        """Return the module's scope and that of every function, in source order."""
        found = [Scope(self.tree)]
        self._scopes(self.tree.body, None, found)
        return found

    def _scopes(self, body: Sequence[ast.AST], owner: ast.ClassDef | None, found: list[Scope]) -> None:
        for node in body:
            if isinstance(node, FunctionNode):
                found.append(Scope(node, owner))
                self._scopes(node.body, None, found)
            elif isinstance(node, ast.ClassDef):
                self._scopes(node.body, node, found)
            elif isinstance(node, (ast.stmt, ast.ExceptHandler, ast.match_case)):
                self._scopes(list(children(node)), owner, found)
