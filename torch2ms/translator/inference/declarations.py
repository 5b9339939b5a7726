"""Declarations: the functions and classes of a file, its calls, and what it does with plain names."""

from __future__ import annotations

import ast
from collections.abc import Container
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from torch2ms.translator.inference.scopes import Uses, root_of
from torch2ms.translator.kinds import UNKNOWN, Kind
from torch2ms.translator.trees import children, walk

if TYPE_CHECKING:
    from torch2ms.translator.inference.flow import Flow

__all__ = ["ClassInfo", "FileAnalysis", "FunctionInfo", "declare"]


@dataclass(slots=True)
class FunctionInfo:
    """One function or method: its node, its class if it is a method, the function it stands in."""

    key: str
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    owner: ClassInfo | None
    outer: FunctionInfo | None
    flows: dict[int, Flow] = field(default_factory=dict)  # by depth
    uses: dict[str, Uses] = field(default_factory=dict)  # what is done with each plain name in it
    locals: frozenset[str] | None = None

    @property
    def name(self) -> str:
        """The function's own name."""
        return getattr(self.node, "name", "<lambda>")


@dataclass(slots=True)
class ClassInfo:
    """One class of the project."""

    key: str
    node: ast.ClassDef
    path: str
    bases: tuple[Kind, ...] = ()
    methods: dict[str, FunctionInfo] = field(default_factory=dict)
    constants: dict[str, Kind] = field(default_factory=dict)  # attributes set in the body of the class
    inplace: dict[str, str] = field(default_factory=dict)  # layers with inplace=True: relu, block[0]; and their class


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
    sites: dict[str, list[tuple[str, int]]] = field(default_factory=dict)  # identifier -> where in ``calls``, in order
    uses: dict[str, Uses] = field(default_factory=dict)  # what is done with each plain name at module level
    applied: set[str] = field(default_factory=set)  # functions handed to ``network.apply``
    complete: bool = False
    # Answers found while the module level is being run, which may change: where they are kept, and under what
    provisional: list[tuple[dict[Any, Any], object]] = field(default_factory=list)
    _nodes: list[ast.AST] | None = None
    _module_kinds: dict[ast.AST, Kind] | None = None

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

    def open(self) -> None:
        """Make room for the kinds of every expression, which only the translation of this file needs."""
        self._module_kinds = self.kinds
        self.kinds = dict(self.kinds)

    def release(self, depth: int) -> None:
        """Forget what only the translation of this file, at this depth, needed."""
        self._nodes = None
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
    scope = outer if outer is not None else analysis
    stack = [(child, owner) for child in reversed(children(node))]
    while stack:
        child, owner = stack.pop()
        kind = child.__class__
        if kind is ast.Name:
            if isinstance(child, ast.Name) and child.ctx.__class__ is ast.Store:
                scope.uses.setdefault(child.id, Uses()).bound.append(child.lineno)
        elif isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
            name = _unique(f"{prefix}{child.name}", analysis.functions)
            info = FunctionInfo(f"{analysis.path}:{name}", child, owner, outer)
            analysis.functions[name] = info
            analysis.function_of[child] = info
            if owner is not None and not _is_setter(child):
                owner.methods[child.name] = info
            _declare_below(analysis, child, f"{name}.", None, info, defined)
        elif isinstance(child, ast.ClassDef):
            name = _unique(f"{prefix}{child.name}", analysis.classes)
            made = ClassInfo(f"{analysis.path}:{name}", child, analysis.path)
            analysis.classes[name] = made
            analysis.class_of[child] = made
            _declare_below(analysis, child, f"{name}.", made, outer, defined)
        elif kind is not ast.Constant:
            if isinstance(child, ast.Call):
                _index_call(analysis, child, outer, defined)
            if isinstance(child, (ast.Call, ast.Attribute)):
                _index_use(analysis, child, outer)
            inner = owner if isinstance(child, (ast.If, ast.Try)) else None
            stack += [(below, inner) for below in reversed(children(child))]


def _is_setter(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a method only sets or deletes the property of its name."""
    return any(getattr(decorator, "attr", "") in ("setter", "deleter") for decorator in node.decorator_list)


def _index_call(analysis: FileAnalysis, call: ast.Call, outer: FunctionInfo | None, defined: Container[str]) -> None:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if name == "apply" and len(call.args) == 1 and isinstance(call.args[0], ast.Name):
        analysis.applied.add(call.args[0].id)
    if name in defined:
        function = outer.key if outer is not None else ""
        found = analysis.calls.setdefault(function, {}).setdefault(name, [])
        analysis.sites.setdefault(name, []).append((function, len(found)))
        found.append(call)


def _index_use(analysis: FileAnalysis, node: ast.Call | ast.Attribute, outer: FunctionInfo | None) -> None:
    """Record what is done with a plain name, in its function and in those around it."""
    root = root_of(node)
    if root is None:
        return
    scope: FunctionInfo | FileAnalysis = outer if outer is not None else analysis
    while True:
        scope.uses.setdefault(root, Uses()).see(node)
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
