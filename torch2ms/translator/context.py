"""The context of one file's rewriting: facts to read, diagnostics to give, names to import, references to count."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

import libcst as cst

from torch2ms.config import Options
from torch2ms.diagnostics import CODES, Diagnostic, Severity
from torch2ms.reports.escape import one_line, shortened
from torch2ms.reports.model import Place
from torch2ms.translator.import_plan import ImportPlan
from torch2ms.translator.project.directives import Silence
from torch2ms.translator.syntax.alignment import Alignment
from torch2ms.translator.syntax.cst_builders import dotted_name, parse_expression
from torch2ms.translator.values.file_facts import FileFacts
from torch2ms.translator.values.world import FileAnalysis, World

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


class Context(FileFacts):
    """Everything a pass or a recipe may ask and say while a file is rewritten."""

    def __init__(self, analysis: FileAnalysis, alignment: Alignment, world: World, options: Options) -> None:
        super().__init__(analysis, alignment, world, options)
        self.quote = "'"  # the commoner quote of the file
        self.commented: frozenset[int] = frozenset()  # the lines with a comment, or with a string that holds a "#"
        self.imports: ImportPlan = ImportPlan(analysis, world, options)
        self.silence = Silence()
        self.diagnostics: list[Diagnostic] = []
        self.uses: list[Use] = []
        self.accounted: dict[ast.AST, None] = {}
        self.frames: list[Frame] = []
        self._pending: dict[ast.AST | None, list[Callable[[], None]]] = {}
        self.rebind: list[str] = []  # targets (a name, "x[...]") that the small statement must also bind to its value
        self.puts_groups: set[ast.AST] = set()  # targets that give an optimizer parameter groups
        self.chain_starts: dict[ast.AST, cst.BaseExpression] = {}  # what chained in-place calls change, by call
        self.callees: set[int] = set()  # libcst callees: rewritten with their call, not as values
        self.visit: Callable[[cst.CSTNode], cst.CSTNode] = lambda node: node  # the rewriter's own traversal

    def close(self) -> None:
        """Cut the cycle with the rewriter, so that the trees go at once."""
        self.visit = lambda node: node

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
