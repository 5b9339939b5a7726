"""Declarations: the functions and classes of a file, its calls, and what it does with plain names."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Container
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from torch2ms.translator.syntax.ast_walk import children, walk
from torch2ms.translator.syntax.names import imported
from torch2ms.translator.values.kinds import UNKNOWN, Kind
from torch2ms.translator.values.leaf_tensors import hand_trained, marked_anew
from torch2ms.translator.values.scopes import Uses, root_of

if TYPE_CHECKING:
    from torch2ms.translator.values.flow import Flow

__all__ = ["ClassInfo", "FileAnalysis", "FunctionInfo", "declare", "is_abstract", "is_map"]

Node = TypeVar("Node", bound=ast.AST)


@dataclass(slots=True)
class FunctionInfo:
    """One function or method: its node, its class if it is a method, the function it stands in."""

    key: str
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    owner: ClassInfo | None
    outer: FunctionInfo | None
    flows: dict[int, Flow] = field(default_factory=dict)  # by depth
    uses: dict[str, Uses] = field(default_factory=lambda: defaultdict(Uses))  # what is done with each plain name in it
    locals: frozenset[str] = frozenset()  # the names it binds itself
    stores: bool | None = None  # whether it sets attributes of ``self``, once asked
    has_inner: bool = False  # whether functions are defined in it
    passed: int | None = None  # the position of the parameter that it gives back, -1 for none, once asked
    renewed: frozenset[ast.AST] | None = None  # the targets ``self.m`` of ``self.m = self.m.to(d)``, once asked

    @property
    def name(self) -> str:
        """The function's own name."""
        return getattr(self.node, "name", "<lambda>")

    @property
    def is_static(self) -> bool:
        """Whether it is a static method: called on an object or on the class, it gets neither."""
        return self._is_made("staticmethod")

    @property
    def is_of_class(self) -> bool:
        """Whether it is a class method."""
        return self._is_made("classmethod")

    def _is_made(self, decorator: str) -> bool:
        decorators = getattr(self.node, "decorator_list", ())
        return self.owner is not None and any(getattr(d, "id", "") == decorator for d in decorators)

    @property
    def filled(self) -> list[str]:
        """The parameters that the arguments of a call fill by position: ``self`` is none of them."""
        names = [arg.arg for arg in [*self.node.args.posonlyargs, *self.node.args.args]]
        return names if self.owner is None or self.is_static else names[1:]


@dataclass(slots=True)
class ClassInfo:
    """One class of the project."""

    key: str
    node: ast.ClassDef
    path: str
    bases: tuple[Kind, ...] = ()
    methods: dict[str, FunctionInfo] = field(default_factory=dict)
    constants: dict[str, Kind] = field(default_factory=dict)  # attributes set in the body of the class


@dataclass(slots=True)
class FileAnalysis:
    """What is known of one file: the kind of every expression looked at, its functions and classes."""

    path: str
    tree: ast.Module
    kinds: dict[ast.AST, Kind] = field(default_factory=dict)
    names: dict[str, Kind] = field(default_factory=dict)  # module level, joined over all assignments
    placed: dict[str, Kind] = field(default_factory=dict)  # attributes set at module level: ``args.weight``
    functions: dict[str, FunctionInfo] = field(default_factory=dict)
    classes: dict[str, ClassInfo] = field(default_factory=dict)
    function_of: dict[ast.AST, FunctionInfo] = field(default_factory=dict)  # function node -> info
    class_of: dict[ast.AST, ClassInfo] = field(default_factory=dict)
    # Calls of what the project may define: function ("": the module level) -> last identifier of the callee -> calls
    calls: dict[str, dict[str, list[ast.Call]]] = field(default_factory=dict)
    early: list[tuple[str, int]] = field(default_factory=list)  # questions that were asked before all calls were known
    sites: dict[str, list[tuple[str, int]]] = field(default_factory=dict)  # identifier -> where in ``calls``, in order
    uses: dict[str, Uses] = field(default_factory=lambda: defaultdict(Uses))  # the same at module level
    rebound: set[str] = field(default_factory=set)  # names that functions bind for others: ``global grid``
    applied: set[str] = field(default_factory=set)  # functions handed to ``network.apply``
    complete: bool = False
    # Answers found while the module level is being run, which may change: where they are kept, and under what
    provisional: list[tuple[dict[Any, Any], object]] = field(default_factory=list)
    _nodes: list[ast.AST] | None = None
    _by_class: dict[type[ast.AST], list[Any]] = field(default_factory=dict)
    _module_kinds: dict[ast.AST, Kind] | None = None
    _trained: frozenset[ast.AST] | None = None
    _remade: dict[ast.stmt, str] | None = None
    marks: bool = True  # whether anything in it speaks of ``requires_grad``
    trains_all: bool = False  # what its gradients are asked of by hand was no function: all of it is recorded
    is_trained_elsewhere: bool = False  # another file asks the tensors that it lists for their gradients

    @property
    def trained(self) -> frozenset[ast.AST]:
        """The calls that make tensors which the file trains by hand."""
        if self._trained is None:
            settings = {"is_whole": self.trains_all, "is_handed": self.is_trained_elsewhere}
            self._trained = hand_trained(self.tree, **settings) if self.marks else frozenset()
        return self._trained

    @property
    def remade(self) -> dict[ast.stmt, str]:
        """The statements that make parameters of the tensors which they mark, with their variables."""
        if self._remade is None:
            self._remade = marked_anew(self.tree) if self.trains_all and self.marks else {}
        return self._remade

    @property
    def lines(self) -> int:
        """Lines of source, as a measure of memory."""
        return (self.tree.body[-1].end_lineno or 1) if self.tree.body else 1

    @property
    def nodes(self) -> list[ast.AST]:
        """Every node of the tree, found once; ``release`` lets go of it."""
        if self._nodes is None:
            self._nodes = list(walk(self.tree))
        return self._nodes

    def all(self, kind: type[Node]) -> list[Node]:
        """Return every node of a class, in the order of ``nodes``."""
        if not self._by_class:
            for node in self.nodes:
                self._by_class.setdefault(node.__class__, []).append(node)
        return self._by_class.get(kind, [])

    def open(self) -> None:
        """Make room for the kinds of every expression, which only the translation of this file needs."""
        self._module_kinds = self.kinds
        self.kinds = dict(self.kinds)

    def release(self, depth: int) -> None:
        """Forget what only the translation of this file, at this depth, needed."""
        self._nodes = None
        self._by_class = {}
        if self._module_kinds is not None:
            self.kinds, self._module_kinds = self._module_kinds, None
        for function in self.functions.values():
            function.flows.pop(depth, None)

    def close(self) -> None:
        """Cut the cycles between files, functions and flows, so that the trees go at once."""
        for function in self.functions.values():
            function.flows.clear()
            function.owner = function.outer = None
        for info in self.classes.values():
            info.methods.clear()
        self.functions.clear()
        self.classes.clear()

    def kind(self, node: ast.AST) -> Kind:
        """Return the kind of an expression; UNKNOWN when nothing was found."""
        return self.kinds.get(node, UNKNOWN)


def declare(analysis: FileAnalysis, defined: Container[str]) -> None:
    """Register every function and class of the file, and every call of something named as one of ``defined``."""
    _declare_below(analysis, analysis.tree, "", None, None, defined)


# No function inside another: one that calls itself is a cycle, and would keep the whole analysis alive.
def _declare_below(
    analysis: FileAnalysis,
    node: ast.AST,
    prefix: str,
    owner: ClassInfo | None,
    outer: FunctionInfo | None,
    defined: Container[str],
) -> None:
    """Declare what stands below a module, a class (then ``owner``) or a function (then ``outer``)."""
    scope = outer if outer is not None else analysis
    methods = _methods(node) if isinstance(node, ast.ClassDef) else frozenset()
    bound: set[str] = set()  # by definitions and imports
    outside: set[str] = set()
    stack = children(node)
    stack.reverse()
    while stack:
        child = stack.pop()
        kind = child.__class__
        if kind is ast.Constant:
            continue
        if isinstance(child, ast.Name):
            if child.ctx.__class__ is ast.Store:
                uses = scope.uses[child.id]
                uses.bound.append(child.lineno)
                uses.inner += owner is not None
            continue
        if kind in _DEFINITIONS:
            assert isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
            bound.add(child.name)
            _define(analysis, child, prefix, owner if child in methods else None, outer, defined)
            continue
        if isinstance(child, ast.Call):
            _index_call(analysis, child, outer, defined)
            _index_use(analysis, child, outer)
        elif kind is ast.Attribute:
            if child.value.__class__ is ast.Name:  # type: ignore[attr-defined]
                _index_use(analysis, child, outer)  # type: ignore[arg-type]
        elif isinstance(child, ast.comprehension):
            for name in walk(child.target):
                if isinstance(name, ast.Name):
                    scope.uses[name.id].inner += 1
        elif isinstance(child, (ast.Import, ast.ImportFrom)):
            bound.update(name for name, _, _ in imported(child))
        elif isinstance(child, (ast.Global, ast.Nonlocal)):
            outside.update(child.names)
            analysis.rebound.update(child.names)
        below = children(child)
        below.reverse()
        stack += below
    if outer is not None and owner is None:
        bound.update(name for name, uses in outer.uses.items() if len(uses.bound) > uses.inner)
        outer.locals = frozenset(bound.union(_parameters(outer.node.args)) - outside)


_DEFINITIONS = frozenset({ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef})


def _define(
    analysis: FileAnalysis,
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef,
    prefix: str,
    owner: ClassInfo | None,
    outer: FunctionInfo | None,
    defined: Container[str],
) -> None:
    """Declare a class, or a function (a method, when it has an owner), and what stands below it."""
    if isinstance(node, ast.ClassDef):
        name = _unique(f"{prefix}{node.name}", analysis.classes)
        made = ClassInfo(f"{analysis.path}:{name}", node, analysis.path)
        analysis.classes[name] = made
        analysis.class_of[node] = made
        _declare_below(analysis, node, f"{name}.", made, outer, defined)
        return
    name = _unique(f"{prefix}{node.name}", analysis.functions)
    info = FunctionInfo(f"{analysis.path}:{name}", node, owner, outer)
    if outer is not None:
        outer.has_inner = True
    analysis.functions[name] = info
    analysis.function_of[node] = info
    if owner is not None and not _is_setter(node):
        owner.methods[node.name] = info
    _declare_below(analysis, node, f"{name}.", None, info, defined)


def _methods(node: ast.ClassDef) -> frozenset[ast.AST]:
    """Return the functions in the body of a class, also those that a condition there chooses."""
    found: set[ast.AST] = set()
    stack: list[ast.AST] = list(node.body)
    while stack:
        statement = stack.pop()
        if isinstance(statement, (ast.If, ast.Try)):
            stack += children(statement)
        elif statement.__class__ in _DEFINITIONS:
            found.add(statement)
    return frozenset(found)


def _parameters(arguments: ast.arguments) -> list[str]:
    """Return the names of all parameters."""
    rest = [arg for arg in (arguments.vararg, arguments.kwarg) if arg is not None]
    return [arg.arg for arg in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *rest]]


def _is_setter(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a method only sets or deletes the property of its name."""
    return any(getattr(decorator, "attr", "") in ("setter", "deleter") for decorator in node.decorator_list)


def _index_call(analysis: FileAnalysis, call: ast.Call, outer: FunctionInfo | None, defined: Container[str]) -> None:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if name == "apply" and len(call.args) == 1 and isinstance(call.args[0], ast.Name):
        analysis.applied.add(call.args[0].id)
    if is_map(call):
        name = getattr(call.args[0], "id", "")
    if name in defined:
        function = outer.key if outer is not None else ""
        found = analysis.calls.setdefault(function, {}).setdefault(name, [])
        analysis.sites.setdefault(name, []).append((function, len(found)))
        found.append(call)


def is_map(call: ast.Call) -> bool:
    """Whether a call hands elements to a function, one by one: ``map(f, tensors)``."""
    named = isinstance(call.func, ast.Name) and call.func.id == "map"
    return named and len(call.args) > 1 and isinstance(call.args[0], ast.Name)


def _index_use(analysis: FileAnalysis, node: ast.Call | ast.Attribute, outer: FunctionInfo | None) -> None:
    """Record what is done with a plain name, in its function and in those around it."""
    root = root_of(node)
    if root is None:
        return
    scope: FunctionInfo | FileAnalysis = outer if outer is not None else analysis
    while True:
        scope.uses[root].see(node)
        if not isinstance(scope, FunctionInfo) or scope.outer is None:
            return
        scope = scope.outer


def _unique(name: str, taken: dict[str, FunctionInfo] | dict[str, ClassInfo]) -> str:
    """Return ``name``, or with a number where a file defines it more than once."""
    if name not in taken:
        return name
    number = 2
    while f"{name}#{number}" in taken:
        number += 1
    return f"{name}#{number}"


def is_abstract(node: ast.AST) -> bool:
    """Whether a method only raises NotImplementedError, or does nothing: its overrides say what it returns."""
    body = node.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) else []
    told = [part for part in body if not (isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant))]
    if all(isinstance(part, ast.Pass) or _is_nothing(part) for part in told):
        return bool(body)
    raised = told[0].exc if isinstance(told[0], ast.Raise) else None
    raised = raised.func if isinstance(raised, ast.Call) else raised
    return isinstance(raised, ast.Name) and raised.id == "NotImplementedError"


def _is_nothing(part: ast.stmt) -> bool:
    """Whether a statement returns nothing: ``return``, ``return None``."""
    if not isinstance(part, ast.Return):
        return False
    return part.value is None or (isinstance(part.value, ast.Constant) and part.value.value is None)
