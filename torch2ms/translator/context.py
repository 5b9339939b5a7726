"""The context of one file's rewriting: facts to read, diagnostics to give, names to import, references to count."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

import libcst as cst

from torch2ms.config import Options, Target
from torch2ms.diagnostics import CODES, Diagnostic, Severity
from torch2ms.mapping_tables.lookup import Tables
from torch2ms.reports.escape import one_line, shortened
from torch2ms.reports.model import Place
from torch2ms.translator.alignment import Alignment
from torch2ms.translator.directives import Silence
from torch2ms.translator.inference import FileAnalysis, FunctionInfo, World
from torch2ms.translator.inference.families import BASE_ROWS
from torch2ms.translator.kinds import Kind
from torch2ms.translator.references import ImportPlan
from torch2ms.translator.syntax import dotted_name, parse_expression
from torch2ms.translator.trees import children

__all__ = ["Context", "Frame", "Trial", "Use"]


Found = TypeVar("Found")


@dataclass(slots=True)
class Frame:
    """What the statement being rewritten collects: marks to stand before it, statements to precede it."""

    tree: ast.AST | None
    marks: list[str] = field(default_factory=list)
    before: list[cst.BaseStatement] = field(default_factory=list)
    drop: bool = False


@dataclass(frozen=True, slots=True)
class Use:
    """One use of a torch API in the file, and what became of it."""

    name: str
    status: str  # mapped | kept | removed | unsupported | unknown
    target: str
    fidelity: str
    advice: str
    place: Place


@dataclass(frozen=True, slots=True)
class Trial:
    """What a block of ``Context.trial`` has said so far."""

    ctx: Context
    _said: int
    _bound: int
    _before: int

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """The diagnostics given in the block."""
        return self.ctx.diagnostics[self._said :]

    @property
    def has_statements(self) -> bool:
        """Whether the block would bind names anew or put statements before the present one."""
        return len(self.ctx.rebind) > self._bound or len(self.ctx.frame.before) > self._before


class Context:
    """Everything a pass or a recipe may ask and say while a file is rewritten."""

    def __init__(self, analysis: FileAnalysis, alignment: Alignment, world: World, options: Options) -> None:
        self.analysis = analysis
        self.alignment = alignment
        self.world = world
        self.options = options
        self.tables: Tables = world.tables
        self.target: Target = options.target
        self.path = analysis.path
        self.quote = "'"  # the commoner quote of the file
        self.commented: frozenset[int] = frozenset()  # the lines with a comment, or with a string that holds a "#"
        self.imports = ImportPlan(analysis, world, options)
        self.silence = Silence()
        self.diagnostics: list[Diagnostic] = []
        self.uses: list[Use] = []
        self.accounted: dict[ast.AST, None] = {}
        self.frames: list[Frame] = []
        self.functions: list[FunctionInfo | None] = [None]
        self._pending: dict[ast.AST | None, list[Callable[[], None]]] = {}
        self._parents: dict[ast.AST, ast.AST] | None = None
        self._found: dict[Callable[[Context], Any], Any] = {}
        self.small: ast.AST | None = None  # the small statement being rewritten
        self.rebind: list[str] = []  # targets (a name, "x[...]") that the small statement must also bind to its value
        self.puts_groups: set[ast.AST] = set()  # targets that give an optimizer parameter groups
        self.chain_starts: dict[ast.AST, cst.BaseExpression] = {}  # what chained in-place calls change, by call
        self.callees: set[int] = set()  # libcst callees: rewritten with their call, not as values
        self.visit: Callable[[cst.CSTNode], cst.CSTNode] = lambda node: node  # the rewriter's own traversal
        self.training: Any = None  # passes.training_plan.TrainingPlan, made before the walk

    def close(self) -> None:
        """Cut the cycle with the rewriter, so that the trees go at once."""
        self.visit = lambda node: node

    # ---- facts

    def kind(self, tree: ast.AST | None) -> Kind:
        """Return the kind of an expression."""
        return self.analysis.kind(tree) if tree is not None else Kind()

    def place(self, tree: ast.AST) -> Place:
        """Return where a node stands."""
        return Place(self.path, getattr(tree, "lineno", 1), getattr(tree, "col_offset", 0) + 1)

    @property
    def frame(self) -> Frame:
        """The statement being rewritten."""
        return self.frames[-1]

    def visit_apart(self, node: cst.CSTNode) -> cst.CSTNode:
        """Return the translation of a part of a statement that has been rewritten already, marks and all."""
        if self.frames:
            return self.visit(node)
        self.frames.append(Frame(None))
        made = self.visit(node)
        self.frames.pop()
        return made

    def world_owners(self, base: Kind) -> list[str]:
        """Return the torch classes whose rows answer for members of a value, nearest first."""
        found: list[str] = []
        if base.name not in ("Tensor", "dtype", "module"):
            for key in base.of.split("|") if base.of else ():
                found.extend(self.world.torch_bases(key) if ":" in key else [key])
        if base.name in BASE_ROWS:
            found.append(BASE_ROWS[base.name])
        return found

    @property
    def newest_portable(self) -> Target:
        """The target with the most APIs, to tell "not in this version" from "not on this device"."""
        return Target()

    def statement_tree(self, code: cst.CSTNode) -> ast.stmt | None:
        """Return the analysed statement of a libcst statement that holds just one."""
        if isinstance(code, cst.SimpleStatementLine):
            if len(code.body) != 1:
                return None
            code = code.body[0]
        tree = self.alignment.tree(code)
        return tree if isinstance(tree, ast.stmt) else None

    def parent(self, tree: ast.AST) -> ast.AST | None:
        """Return the node that holds a node."""
        if self._parents is None:
            self._parents = {child: node for node in self.analysis.nodes for child in children(node)}
        return self._parents.get(tree)

    def use_of(self, tree: ast.AST) -> str:
        """Return what a reference is for: ``base``, ``type`` (annotation, isinstance), ``decorator`` or ``value``."""
        child, parent = tree, self.parent(tree)
        while isinstance(parent, (ast.Tuple, ast.Subscript, ast.BinOp, ast.List, ast.Set, ast.Attribute)):
            if isinstance(parent, ast.Subscript) and child is parent.slice and _is_generic(parent.value):
                return "type"  # Images = List[torch.Tensor]
            child, parent = parent, self.parent(parent)
        if isinstance(parent, ast.ClassDef):
            return "base" if child in parent.bases else "decorator" if child in parent.decorator_list else "value"
        if isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return "type" if child is parent.returns else "decorator"
        if isinstance(parent, ast.arg) or (isinstance(parent, ast.AnnAssign) and child is parent.annotation):
            return "type"
        if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name):
            if parent.func.id in ("isinstance", "issubclass") and child in parent.args[1:]:
                return "type"
            if parent.func.id == "cast" and child in parent.args[:1]:
                return "type"
        if (
            isinstance(parent, ast.Call)
            and getattr(parent.func, "attr", "") == "isinstance"
            and child in parent.args[1:]
        ):
            return "type"  # torch.jit.isinstance
        if isinstance(parent, (ast.Compare, ast.ExceptHandler, ast.MatchClass)):
            return "type"
        if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Attribute) and parent.func.attr == "type":
            return "type" if child in parent.args else "value"  # x.type(torch.FloatTensor)
        if isinstance(parent, ast.Dict) and child in parent.keys:
            return "type"  # handlers[type(layer)]
        return "type" if self._is_for_tests(_bound(parent, child)) else "value"

    def _is_for_tests(self, names: frozenset[str]) -> bool:
        """Whether the value of some names is only what others are tested for: ``isinstance(m, layers)``."""
        loads = [node for name in names for node in self.once(_reads).get(name, ())]
        return bool(loads) and all(self._is_test(node) for node in loads)

    def once(self, find: Callable[[Context], Found]) -> Found:
        """Return what a function finds out about the file, asked once."""
        if find not in self._found:
            self._found[find] = find(self)
        found: Found = self._found[find]
        return found

    def _is_test(self, node: ast.AST) -> bool:
        """Whether a value is only what another is tested for: ``isinstance(m, kinds)``, ``type(m) in kinds``."""
        child, parent = node, self.parent(node)
        while isinstance(parent, (ast.Tuple, ast.List, ast.BinOp)):
            child, parent = parent, self.parent(parent)
        if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name):
            return parent.func.id in ("isinstance", "issubclass") and child in parent.args[1:]
        return isinstance(parent, ast.Compare) and _is_type(parent.left) and child is not parent.left

    def value_names(self, tree: ast.AST) -> frozenset[str]:
        """Return the names a value is first bound to (targets, parameter, keyword); empty when that is not certain."""
        child, parent = tree, self.parent(tree)
        while isinstance(parent, (ast.IfExp, ast.BoolOp)):
            child, parent = parent, self.parent(parent)
        return _bound(parent, child)

    # ---- saying

    def report(
        self,
        code: str,
        tree: ast.AST,
        message: str,
        *,
        symbol: str = "",
        advice: str = "",
        severity: Severity | None = None,
    ) -> None:
        """Give a diagnostic at a node; errors and warnings also mark the statement."""
        entry = CODES[code]
        level = entry.severity if severity is None else severity
        place = self.place(tree)
        message = shortened(message)
        instead = advice or (entry.advice.replace("NAME", symbol) if symbol else entry.advice)
        self.diagnostics.append(Diagnostic(self.path, place.line, place.column, code, level, symbol, message, instead))
        if level > Severity.NOTE and self.frames and not self.silence.hides(code, place.line):
            mark = f"# TORCH2MS {code}: {message}" + (f"; {advice}" if advice else "")
            line = one_line(mark)
            if line not in self.frame.marks:
                self.frame.marks.append(line)

    def leave(
        self,
        code: str,
        tree: ast.stmt,
        reason: str,
        severity: Severity | None = None,
        *,
        symbol: str = "",
        advice: str = "",
    ) -> None:
        """Say at a statement, before it is reached, why it stays as it is."""
        say = partial(self.report, code, tree, reason, symbol=symbol, advice=advice, severity=severity)
        self._pending.setdefault(tree, []).append(say)

    def settle(self, tree: ast.AST | None) -> None:
        """Give the diagnostics that wait for the statement now being rewritten."""
        for say in self._pending.pop(tree, ()):
            say()

    def account(
        self, tree: ast.AST, name: str, status: str, target: str = "", fidelity: str = "", advice: str = ""
    ) -> None:
        """Record what became of a torch reference; every reference must be accounted for."""
        self.accounted[tree] = None
        self.uses.append(Use(name, status, target, fidelity, advice, self.place(tree)))

    def left_call(self, updated: cst.Call, tree: ast.Call, name: str) -> cst.Call:
        """Return a call that stays torch's; a reference through an import is spelled out in full."""
        if self.options.on_unsupported == "raise":
            return cst.ensure_type(self._raising(name), cst.Call)
        if not self.is_import_root(tree.func):
            return updated
        return updated.with_changes(func=self.left(name))

    def _raising(self, name: str) -> cst.BaseExpression:
        """Return a call that raises where the program reaches it (``--on-unsupported raise``)."""
        function = self.reference("torch2ms.runtime.unsupported.unsupported")
        return cst.Call(function, [cst.Arg(self.literal(repr(name)))])

    def left(self, name: str) -> cst.BaseExpression:
        """Return the full name of a torch API that stays; the file then needs ``import torch``."""
        if self.options.on_unsupported == "raise":
            return self._raising(name)
        self.imports.keep(name)
        return dotted_name(name)

    @contextmanager
    def trial(self) -> Iterator[Trial]:
        """Let a block translate something to see what becomes of it, and forget all that it said and planned."""
        counts = len(self.diagnostics), len(self.uses), len(self.accounted)
        rebind, chains = list(self.rebind), dict(self.chain_starts)
        frame = self.frames[-1] if self.frames else Frame(None)
        marks, before, drop = list(frame.marks), list(frame.before), frame.drop
        plan = self.imports.state()
        try:
            yield Trial(self, counts[0], len(rebind), len(before))
        finally:
            del self.diagnostics[counts[0] :], self.uses[counts[1] :]
            while len(self.accounted) > counts[2]:
                self.accounted.popitem()
            self.rebind, self.chain_starts = rebind, chains
            frame.marks, frame.before, frame.drop = marks, before, drop
            self.imports.restore(plan)

    # ---- emitting

    def literal(self, text: str) -> cst.BaseExpression:
        """Return a literal of a table row, its strings quoted as the file quotes."""
        node = parse_expression(text)
        if isinstance(node, cst.SimpleString) and self.quote == '"' and '"' not in text:
            return node.with_changes(value='"' + text[1:-1] + '"')
        return node

    def reference(self, name: str, like: ast.AST | None = None) -> cst.BaseExpression:
        """Return an expression for a canonical name, imported as needed.

        ``like`` is the source's own reference: a bare name (``from torch.nn import Linear``) stays a bare name.
        """
        return self.imports.reference(name, like)

    def is_import_root(self, tree: ast.AST) -> bool:
        """Whether a reference starts at a name that an import binds (not at a local alias)."""
        whole = tree
        while isinstance(tree, ast.Attribute):
            tree = tree.value
            if isinstance(tree, ast.Attribute) and self._holds_module(tree):
                return True
        if not isinstance(tree, ast.Name):
            return False
        if self.imports.is_import(tree.id):
            return True
        # A local alias of a module (``layers = torch.nn``) is as good as an import: what follows it is certain.
        return tree is not whole and self._holds_module(tree)

    def _holds_module(self, tree: ast.expr) -> bool:
        """Whether a name or an attribute (``self.lib = torch``) stands for a module of torch's."""
        kind = self.kind(tree)
        return kind.name == "api" and self.tables.is_module(kind.of)


_GENERICS = frozenset(
    {"Callable", "ClassVar", "Collection", "Dict", "Final", "Generator", "Iterable", "Iterator", "List", "Mapping",
     "Optional", "Sequence", "Set", "Tuple", "Type", "Union", "dict", "list", "set", "tuple", "type"}
)  # fmt: skip


def _is_generic(node: ast.expr) -> bool:
    """Whether what is subscripted is a type with parameters: ``List``, ``typing.Union``."""
    return getattr(node, "attr", getattr(node, "id", "")) in _GENERICS


def _is_type(node: ast.expr) -> bool:
    """Whether an expression is the class of a value: ``type(m)``, ``m.__class__``."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id == "type"
    return isinstance(node, ast.Attribute) and node.attr == "__class__"


def _reads(ctx: Context) -> dict[str, list[ast.AST]]:
    """Return every place of the file that reads a name or an attribute, by its identifier."""
    found: dict[str, list[ast.AST]] = {}
    for node in ctx.analysis.nodes:
        if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load):
            found.setdefault(node.id if isinstance(node, ast.Name) else node.attr, []).append(node)
    return found


def _bound(parent: ast.AST | None, child: ast.AST) -> frozenset[str]:
    """Return the names that a statement, keyword or default binds a value to; empty when that is not certain."""
    if isinstance(parent, (ast.Assign, ast.AnnAssign)):
        targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
        names = {getattr(t, "id", "") or getattr(t, "attr", "") for t in targets}
        return frozenset(names) if "" not in names else frozenset()
    if isinstance(parent, ast.keyword) and parent.arg:
        return frozenset({parent.arg})
    if isinstance(parent, ast.arguments):
        return _default_of(parent, child)
    return frozenset()


def _default_of(arguments: ast.arguments, default: ast.AST) -> frozenset[str]:
    """Return the parameter that a default belongs to."""
    positional = [*arguments.posonlyargs, *arguments.args]
    for arg, value in zip(reversed(positional), reversed(arguments.defaults), strict=False):
        if value is default:
            return frozenset({arg.arg})
    for arg, kw_value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if kw_value is default:
            return frozenset({arg.arg})
    return frozenset()
