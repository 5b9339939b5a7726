"""The text of a rewritten module: statements that nobody touched come from the source, all else from libcst."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

import libcst as cst
from libcst._nodes.internal import CodegenState

from torch2ms.translator.syntax.alignment import Alignment

__all__ = ["Generated", "generate"]

_NOWHERE = nullcontext()
_COMPOUND = (cst.FunctionDef, cst.ClassDef, cst.If, cst.For, cst.While, cst.With, cst.Try, cst.TryStar, cst.Match)
_STATEMENTS = frozenset({cst.SimpleStatementLine, *_COMPOUND})


class Generated(NamedTuple):
    """The text of a module, and of those of its statements that are not the source's own, with all that is in them."""

    text: str
    anew: str


def generate(module: cst.Module, alignment: Alignment, text: str) -> Generated:
    """Return ``module.code``; ``alignment`` is that of the parser's tree of ``text``."""
    state = _State(module, alignment, text)
    cst.CSTNode._codegen = _codegen  # type: ignore[method-assign, assignment]
    try:
        module._codegen(state)
    finally:
        cst.CSTNode._codegen = _LIBCST  # type: ignore[method-assign]
    return Generated("".join(state.tokens), "".join("".join(state.tokens[a:b]) for a, b in state.anew))


class _State(CodegenState):
    """Collects the tokens of one module; positions are recorded for nobody."""

    def __init__(self, module: cst.Module, alignment: Alignment, text: str) -> None:
        super().__init__(module.default_indent, module.default_newline)
        self._spans = {span[0]: span[1:] for block in alignment.blocks for span in _spans(block, alignment)}
        self._lines = text.split("\n")
        self.anew: list[tuple[int, int]] = []  # where the tokens of new statements of the module start and end
        self.is_within = False  # one of these

    def record_syntactic_position(  # type: ignore[override]
        self, *nodes: Any, **ends: Any
    ) -> AbstractContextManager[None]:
        """Record nothing, without making a context for each expression."""
        return _NOWHERE

    def source(self, statement: Any) -> str:
        """Return the text of a statement that is the parser's own and stands as deep as it did; "" for others."""
        start, end = self._spans.get(id(statement), (0, 0))
        lines = self._lines[start:end]
        if not lines:
            return ""
        code, indent = lines[len(statement.leading_lines)], "".join(self.indent_tokens)
        start_of_code = code[len(indent) : len(indent) + 1]
        stands = code.startswith(indent) and bool(start_of_code.strip())
        if getattr(statement, "decorators", ()):  # ``@(``, and the decorator on the next line, is not measured right
            stands = stands and start_of_code == "@"
        is_whole = not (lines[-1].endswith("\\") or self._lines[start - 1].endswith("\\"))
        return "\n".join(lines) if stands and is_whole else ""


def _spans(block: Sequence[Any], alignment: Alignment) -> Iterator[tuple[int, int, int]]:
    """Yield the statements of a block (their id) with the lines that are theirs: the first, from 0, and the end.

    Each ends where the next one's start; a compound one that is the last of its block is left out.
    """
    end = 0
    for statement in reversed(block):
        is_line = statement.__class__ is cst.SimpleStatementLine
        tree: Any = alignment.tree(statement.body[0] if is_line else statement)
        line: int = min([tree.lineno, *(decorator.lineno for decorator in getattr(tree, "decorator_list", ()))])
        if is_line and not end:
            last: Any = alignment.tree(statement.body[-1])
            end = last.end_lineno
        start = line - len(statement.leading_lines) - 1
        if end:
            yield id(statement), start, end
        end = start


_LIBCST = cst.CSTNode._codegen


def _codegen(node: Any, state: CodegenState, **options: Any) -> None:
    """Stand in for libcst's method, which also calls two hooks at every node."""
    if state.__class__ is not _State:
        _LIBCST(node, state, **options)
        return
    is_statement = node.__class__ in _STATEMENTS
    text = state.source(node) if is_statement else ""
    if text:
        state.tokens += (text, "\n")
    elif not is_statement or state.is_within:
        node._codegen_impl(state, **options)
    else:
        start, state.is_within = len(state.tokens), True
        node._codegen_impl(state, **options)
        state.anew.append((start, len(state.tokens)))
        state.is_within = False
