"""Effects: what a statement or expression reads, binds and changes.

Works on the standard library's ``ast``. A *path* is a dotted chain that starts at a name, ``"x"`` or
``"self.optimizer"``; its *root* is the name. Two paths *overlap* when one is a prefix of the other.

What is certain and what is possible are kept apart: ``binds`` and ``mutates`` are stores the text shows, ``touches``
is what a call might change.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from torch2ms.translator.syntax.ast_walk import children

__all__ = ["TAKERS", "Effects", "base_path", "dotted_path", "effects", "overlap", "overlaps", "root"]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Methods that change the object they are called on, whatever the object is.
_MUTATORS = _words("""
    append appendleft extend insert pop popleft popitem remove clear sort reverse update add discard
    setdefault load_state_dict
""")

# Of them, those that a tensor has too; a collection's return None, so that nobody goes on with their results.
_TAKEN = _words("add sort")
TAKERS = (ast.Assign, ast.AnnAssign, ast.Return, ast.BinOp, ast.Compare, ast.Call)

# Methods that only read their receiver and their arguments: logging, formatting, tensor queries.
_READERS = _words("""
    item tolist numpy size dim numel cpu cuda detach clone mean sum max min argmax format join items keys
    values get parameters named_parameters state_dict print log info debug warning warn error critical write
    flush log_metrics add_scalar add_scalars add_audio add_image add_images add_histogram add_figure add_text display
    set_description set_postfix set_postfix_str log_scalar log_dict barrier synchronize
""")

# Functions that only read their arguments.
_READING_FUNCTIONS = _words("""
    print len isinstance issubclass repr str float int bool abs min max sum round sorted range enumerate zip
    map filter list tuple dict set id type hash hasattr callable pprint all any format vars
""")


def root(path: str) -> str:
    """Return the name a path starts at."""
    return path.partition(".")[0]


def overlap(a: str, b: str) -> bool:
    """Whether one path is a prefix of the other, so that a store to one may be seen through the other."""
    return a == b or a.startswith(b + ".") or b.startswith(a + ".")


def overlaps(left: Iterable[str], right: Collection[str]) -> bool:
    """Whether any path of ``left`` overlaps any path of ``right``."""
    return any(overlap(a, b) for a in left for b in right)


def dotted_path(node: ast.expr) -> str | None:
    """Return ``"a.b.c"`` for a chain of attributes on a name, else None."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return ".".join([node.id, *reversed(parts)])


def base_path(node: ast.expr) -> str | None:
    """Return the path of the object a chain of attributes, subscripts and calls starts from, as far as it is dotted."""
    while True:
        path = dotted_path(node)
        if path is not None:
            return path
        if isinstance(node, (ast.Attribute, ast.Subscript, ast.Starred, ast.Await)):
            node = node.value
        elif isinstance(node, ast.Call):
            node = node.func.value if isinstance(node.func, ast.Attribute) else node.func
        else:
            return None


@dataclass(frozen=True, slots=True)
class Effects:
    """What one statement, expression or sequence of statements does to names and objects."""

    reads: frozenset[str] = frozenset()  # paths, as long as the text spells them
    binds: frozenset[str] = frozenset()  # names bound, deleted included; perhaps on some paths only
    mutates: frozenset[str] = frozenset()  # paths whose object is changed: x.a = v, x[i] = v, x.add_(v), x.append(v)
    touches: frozenset[str] = frozenset()  # paths a call made for its effect may change
    inner: frozenset[str] = frozenset()  # of both, those whose parts may change inside: x[i].a = v, keep(x)
    shared: frozenset[str] = frozenset()  # paths of the same objects under other names, where somebody knows them
    captures: frozenset[str] = frozenset()  # names a nested function or lambda reads, now or later
    jumps: frozenset[str] = frozenset()  # break, continue, return, yield, await that leave the node
    raises: bool = False  # an explicit raise or assert
    acts: bool = False  # a call made for its effect on something other than its receiver: print, log, display

    @property
    def changes(self) -> frozenset[str]:
        """All paths that may hold something else afterwards."""
        return self.binds | self.mutates | self.touches | self.shared

    @property
    def names_read(self) -> frozenset[str]:
        """The roots of all paths read."""
        return frozenset(root(path) for path in self.reads)


@dataclass(slots=True)
class _Found:
    """What a collector has gathered so far."""

    reads: set[str] = field(default_factory=set)
    binds: set[str] = field(default_factory=set)
    mutates: set[str] = field(default_factory=set)
    touches: set[str] = field(default_factory=set)
    inner: set[str] = field(default_factory=set)
    captures: set[str] = field(default_factory=set)
    jumps: set[str] = field(default_factory=set)
    walrus: set[str] = field(default_factory=set)
    outer: set[str] = field(default_factory=set)  # names declared global or nonlocal
    raises: bool = False
    acts: bool = False


class _Collector:
    """Gathers the effects of nodes; comprehension variables and nested functions' locals stay inside."""

    def __init__(self, inert: Collection[str], quiet: Collection[int] = ()) -> None:
        self.found = _Found()
        self.inert = inert
        self.quiet = quiet
        self.loops = 0
        self.thrown: set[ast.AST] = set()  # what statements are made of, whose values nobody takes
        self.taken: set[ast.AST] = set()  # calls of such methods whose results are taken

    def visit(self, node: ast.AST) -> None:
        method = _VISITS.get(node.__class__)
        if method is None:
            self.generic_visit(node)
        else:
            method(self, node)

    def generic_visit(self, node: ast.AST) -> None:
        takes = isinstance(node, TAKERS)
        for child in children(node):
            if takes and child.__class__ is ast.Call:
                self.taken.add(child)
            self.visit(child)

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self.found.reads.add(node.id)
        else:
            self.found.binds.add(node.id)
            if isinstance(node.ctx, ast.Del):
                self.found.reads.add(node.id)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        path = dotted_path(node)
        if isinstance(node.ctx, ast.Load):
            if path is not None:
                self.found.reads.add(path)
            else:
                self.taken.add(node.value)
                self.visit(node.value)
            return
        if path is not None:
            self.found.mutates.add(path)
            self.found.reads.add(root(path))
        else:
            self._mutate(node.value)
            self.visit(node.value)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        if not isinstance(node.ctx, ast.Load):
            self._mutate(node.value)
        self.visit(node.value)
        self.visit(node.slice)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.visit(node.value)
        self.visit(node.target)
        path = dotted_path(node.target)
        if path is not None:
            self.found.reads.add(path)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self.visit(node.value)
        self.found.binds.add(node.target.id)
        self.found.walrus.add(node.target.id)

    def visit_Expr(self, node: ast.Expr) -> None:
        call = node.value.value if isinstance(node.value, ast.Await) else node.value
        if isinstance(call, ast.Call) and id(call) not in self.quiet:
            self._touch(call)
        self.thrown.add(call)
        self.visit(node.value)

    def visit_Call(self, node: ast.Call) -> None:
        func = node.func
        if isinstance(func, ast.Attribute):
            imported = root(base_path(func) or "") in self.inert
            inplace = func.attr.endswith("_") and not func.attr.startswith("_")
            if imported and inplace and node.args:  # nn.init.normal_(weight)
                self._mutate(node.args[0])
            elif not imported and (inplace or (func.attr in _MUTATORS and not self._is_taken(node, func.attr))):
                self._mutate(func.value, is_tensor=inplace)
        elif isinstance(func, ast.Name) and func.id in ("next", "setattr", "delattr") and node.args:
            self._mutate(node.args[0])
        for keyword in node.keywords:
            if keyword.arg == "out":
                self._mutate(keyword.value)
        self.generic_visit(node)

    def _is_taken(self, call: ast.Call, name: str) -> bool:
        """Whether a program goes on with what ``x.add(1)`` or ``x.sort()`` returns: then it is a tensor's."""
        return name in _TAKEN and call in self.taken

    def _mutate(self, node: ast.expr, *, is_tensor: bool = False) -> None:
        if is_tensor and isinstance(node, ast.Attribute) and node.attr == "data" and dotted_path(node) != "self.data":
            node = node.value  # x.data.copy_(y): the memory of x
        path = base_path(node)
        if path is not None:
            self.found.mutates.add(path)
            if dotted_path(node) is None:
                self.found.inner.add(path)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):  # vars(state)["loss"] = loss
            self.found.touches |= {given for value in node.args if (given := dotted_path(value)) is not None}

    def _touch(self, call: ast.Call) -> None:
        """A call whose result is thrown away is made for its effect: on its receiver, or on what it is given."""
        func = call.func
        method = func.attr if isinstance(func, ast.Attribute) else ""
        self.found.acts |= method not in _MUTATORS - {"update"} and not method.endswith("_")
        if isinstance(func, ast.Attribute):
            if func.attr in _READERS:
                return
            receiver = base_path(func.value)
            if receiver is not None and root(receiver) not in self.inert:
                self.found.touches.add(receiver)
        elif isinstance(func, ast.Name) and func.id in _READING_FUNCTIONS:
            return
        for argument in [*call.args, *(keyword.value for keyword in call.keywords)]:
            path = dotted_path(argument.value if isinstance(argument, ast.Starred) else argument)
            if path is not None and root(path) not in self.inert:
                self.found.touches.add(path)

    def _nested(self, nodes: Iterable[ast.AST]) -> _Found:
        inner = _Collector(self.inert, self.quiet)
        for node in nodes:
            inner.visit(node)
        return inner.found

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> None:
        self.visit(node.generators[0].iter)  # evaluated outside of the comprehension's scope
        parts: list[ast.AST] = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        if node in self.thrown:
            parts = [ast.Expr(part) for part in parts if isinstance(part, ast.expr)]
        for position, generator in enumerate(node.generators):
            parts.extend([generator.target, *generator.ifs, *([generator.iter] if position else [])])
        inner = self._nested(parts)
        local = inner.binds - inner.walrus
        if any(root(path) in local for path in inner.mutates | inner.touches):  # an element changes
            paths_of = (base_path(generator.iter) for generator in node.generators)
            self.found.touches |= {path for path in paths_of if path is not None and root(path) not in local}
        for name in ("reads", "mutates", "touches", "inner", "captures"):
            paths: set[str] = getattr(inner, name)
            getattr(self.found, name).update(path for path in paths if root(path) not in local)
        self.found.binds |= inner.walrus
        self.found.walrus |= inner.walrus

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._function(node.args, [node.body])

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self.found.binds.add(node.name)
        for part in [*node.decorator_list, *([node.returns] if node.returns else [])]:
            self.visit(part)
        self._function(node.args, node.body)

    visit_AsyncFunctionDef = visit_FunctionDef

    def _function(self, arguments: ast.arguments, body: Sequence[ast.AST]) -> None:
        for default in [*arguments.defaults, *arguments.kw_defaults]:
            if default is not None:
                self.visit(default)
        parameters = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        parameters += [extra for extra in (arguments.vararg, arguments.kwarg) if extra is not None]
        for parameter in parameters:
            if parameter.annotation is not None:
                self.visit(parameter.annotation)
        inner = self._nested(body)
        local = (inner.binds - inner.outer) | {parameter.arg for parameter in parameters}
        free = {path for path in inner.reads if root(path) not in local}
        self.found.reads |= free
        self.found.captures |= {root(path) for path in free} | (inner.captures - local) | (inner.outer & inner.binds)
        self.found.touches |= {path for path in inner.mutates | inner.touches if root(path) not in local}
        self.found.touches |= inner.outer & inner.binds

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.found.binds.add(node.name)
        for part in [*node.decorator_list, *node.bases, *node.keywords]:
            self.visit(part)
        inner = self._nested(node.body)
        self.found.reads |= {path for path in inner.reads if root(path) not in inner.binds}
        self.found.captures |= inner.captures
        self.found.touches |= {path for path in inner.touches | inner.mutates if root(path) not in inner.binds}

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            self.found.binds.add(alias.asname or root(alias.name))

    visit_ImportFrom = visit_Import

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.name:
            self.found.binds.add(node.name)
        self.generic_visit(node)

    def visit_MatchAs(self, node: ast.MatchAs | ast.MatchStar) -> None:
        if node.name:
            self.found.binds.add(node.name)
        self.generic_visit(node)

    visit_MatchStar = visit_MatchAs

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        if node.rest:
            self.found.binds.add(node.rest)
        self.generic_visit(node)

    def visit_Global(self, node: ast.Global | ast.Nonlocal) -> None:
        self.found.outer.update(node.names)

    visit_Nonlocal = visit_Global

    def _loop(self, node: ast.For | ast.AsyncFor | ast.While) -> None:
        heads = [node.test] if isinstance(node, ast.While) else [node.iter, node.target]
        for part in heads:
            self.visit(part)
        self.loops += 1
        for statement in node.body:
            self.visit(statement)
        self.loops -= 1
        for statement in node.orelse:
            self.visit(statement)

    visit_For = visit_AsyncFor = visit_While = _loop

    def _jump(self, node: ast.AST) -> None:
        kind = type(node).__name__.lower()
        if kind in ("break", "continue"):
            if not self.loops:
                self.found.jumps.add(kind)
        elif kind in ("raise", "assert"):
            self.found.raises = True
        else:
            self.found.jumps.add("yield" if kind == "yieldfrom" else kind)
        self.generic_visit(node)

    visit_Break = visit_Continue = visit_Return = visit_Raise = visit_Assert = _jump
    visit_Yield = visit_YieldFrom = visit_Await = _jump


_VISITS: dict[type[ast.AST], Callable[[_Collector, Any], None]] = {
    getattr(ast, name[len("visit_") :]): method for name, method in vars(_Collector).items() if name[:6] == "visit_"
}


def effects(node: ast.AST | Sequence[ast.AST], inert: Collection[str] = (), quiet: Collection[int] = ()) -> Effects:
    """Return what ``node`` (or a sequence of nodes) reads, binds and changes.

    ``inert`` are names of imported modules and functions: calling through them changes their arguments at most,
    never the module. ``quiet`` are the ids of calls that change no value: ``loss.backward(seed)``.
    """
    collector = _Collector(inert, quiet)
    for item in [node] if isinstance(node, ast.AST) else node:
        collector.visit(item)
    found = collector.found
    return Effects(
        frozenset(found.reads),
        frozenset(found.binds),
        frozenset(found.mutates),
        frozenset(found.touches),
        frozenset(found.inner | (found.touches - found.mutates)),
        frozenset(),
        frozenset(found.captures),
        frozenset(found.jumps),
        found.raises,
        found.acts,
    )
