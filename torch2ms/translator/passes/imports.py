"""Imports: torch's go, MindSpore's come, at the place where the first torch import stood."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

import libcst as cst
from libcst.helpers import get_full_name_for_node

from torch2ms.translator.context import Context
from torch2ms.translator.names import is_torch_name
from torch2ms.translator.references import Needed

__all__ = ["rewrite_imports"]

_ORDER = ("numpy", "math", "mindspore")


def rewrite_imports(module: cst.Module, ctx: Context) -> cst.Module:
    """Return the module with the imports that the rewritten code needs."""
    rewriter = _ImportRewriter(ctx)
    new = module.visit(rewriter) if rewriter.relevant else module
    kept = sorted(ctx.imports.kept - rewriter.guarded)
    return _insert(new, [*_lines(ctx), *(_guarded(name) for name in kept)], rewriter.found)


def _guarded(name: str) -> cst.BaseStatement:
    """Import torch where it is installed: the file must load without it, and only what is marked needs it."""
    return cst.parse_statement(
        f"try:  # only for what is marked TORCH2MS below\n    import {name}\nexcept ImportError:\n    {name} = None\n"
    )


class _ImportRewriter(cst.CSTTransformer):
    """Takes the torch names out of import statements; leaves a marker where the first one stood."""

    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx
        self.found = False
        self.depth = 0
        self.guarded: set[str] = set()  # imports that a translated file has already
        self.relevant = any(
            isinstance(node, (ast.Import, ast.ImportFrom)) for node in ast.walk(ctx.analysis.tree)
        )

    def visit_IndentedBlock(self, node: cst.IndentedBlock) -> bool:
        """Count how deep the statement stands."""
        self.depth += 1
        return True

    def leave_IndentedBlock(self, original_node: cst.IndentedBlock, updated_node: cst.IndentedBlock) -> cst.IndentedBlock:
        """Put ``pass`` where nothing is left."""
        self.depth -= 1
        if original_node.body and not updated_node.body:
            return updated_node.with_changes(body=[cst.SimpleStatementLine([cst.Pass()])])
        return updated_node

    def visit_SimpleStatementLine(self, node: cst.SimpleStatementLine) -> bool:
        """Look into import lines only."""
        return False

    def leave_SimpleStatementLine(self, original_node: Any, updated_node: Any) -> Any:
        """Rewrite the import statements of a line."""
        if not any(isinstance(part, (cst.Import, cst.ImportFrom)) for part in updated_node.body):
            return updated_node
        kept: list[Any] = []
        changed = False
        for part in updated_node.body:
            new = self._import(part)
            changed = changed or new is not part
            if new is not None:
                kept.append(new)
        if not changed:
            return updated_node
        first = not self.found and self.depth == 0
        self.found = self.found or first
        if kept:
            kept[-1] = kept[-1].with_changes(semicolon=cst.MaybeSentinel.DEFAULT)
            guarded = updated_node.with_changes(body=kept)
            return cst.FlattenSentinel([_marker(updated_node), guarded]) if first else guarded
        if first:
            return _marker(updated_node)
        if any(line.comment is not None for line in updated_node.leading_lines):
            return updated_node.with_changes(body=[cst.Pass()])
        return cst.RemovalSentinel.REMOVE

    def _import(self, node: Any) -> Any:
        if isinstance(node, cst.Import):
            return self._plain(node)
        if isinstance(node, cst.ImportFrom):
            return self._from(node)
        return node

    def _plain(self, node: cst.Import) -> cst.Import | None:
        kept = []
        for alias in node.names:
            name = alias.evaluated_name
            bound = alias.evaluated_alias or name.partition(".")[0]
            guarded = self.depth > 0 and bound == name and name in self.ctx.imports.kept
            if not is_torch_name(name) or guarded:
                kept.append(alias)
                self.guarded |= {name} if guarded else set()
        return _with_names(node, kept, node.names)

    def _from(self, node: cst.ImportFrom) -> cst.ImportFrom | None:
        if node.relative or node.module is None:
            return node
        module = get_full_name_for_node(node.module) or ""
        if not is_torch_name(module):
            return node
        return None


def _with_names(node: Any, kept: Sequence[cst.ImportAlias], names: Sequence[cst.ImportAlias]) -> Any:
    if len(kept) == len(names):
        return node
    if not kept:
        return None
    last = kept[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
    return node.with_changes(names=[*kept[:-1], last])


_MARK = "# torch2ms imports"


def _marker(node: cst.SimpleStatementLine) -> cst.SimpleStatementLine:
    """Return the place where the new imports go; it keeps the lines before the old one."""
    return cst.SimpleStatementLine(
        [cst.Expr(cst.SimpleString(repr(_MARK)))],
        leading_lines=node.leading_lines,
        trailing_whitespace=node.trailing_whitespace,
    )


def _is_marker(node: Any) -> bool:
    return (
        isinstance(node, cst.SimpleStatementLine)
        and len(node.body) == 1
        and isinstance(node.body[0], cst.Expr)
        and isinstance(node.body[0].value, cst.SimpleString)
        and node.body[0].value.value == repr(_MARK)
    )


def _lines(ctx: Context) -> list[cst.SimpleStatementLine]:
    """Return one statement for each module imported from, in a fixed order."""
    groups: dict[str, list[Needed]] = {}
    for needed in ctx.imports.needed:
        groups.setdefault(needed.module or f"import {needed.name}", []).append(needed)
    texts = []
    for key in sorted(groups, key=_rank):
        group = sorted(groups[key])
        if not group[0].module:
            texts.append(f"import {group[0].name}" + (f" as {group[0].alias}" if group[0].alias != group[0].name else ""))
        else:
            names = ", ".join(n.name if n.name == n.alias else f"{n.name} as {n.alias}" for n in group)
            texts.append(f"from {key} import {names}")
    return [cst.ensure_type(cst.parse_statement(text), cst.SimpleStatementLine) for text in texts]


def _rank(key: str) -> tuple[int, str]:
    name = key.removeprefix("import ")
    root = name.partition(".")[0]
    position = _ORDER.index(root) if root in _ORDER else len(_ORDER)
    return position, f"{name.count('.')}{'0' if key.startswith('import') else '1'}{name}"


def _insert(module: cst.Module, lines: list[Any], found: bool) -> cst.Module:
    body = list(module.body)
    if found:
        return module.with_changes(body=_replace_marker(body, lines))
    if not lines:
        return module
    position = _after_header(body)
    return module.with_changes(body=[*body[:position], *lines, *body[position:]])


def _replace_marker(body: list[Any], lines: list[Any]) -> list[Any]:
    index = next(i for i, statement in enumerate(body) if _is_marker(statement))
    marker = body[index]
    rest = body[index + 1 :]
    if lines:
        new = [lines[0].with_changes(leading_lines=marker.leading_lines), *lines[1:]]
        if isinstance(new[-1], cst.SimpleStatementLine):
            new[-1] = new[-1].with_changes(trailing_whitespace=marker.trailing_whitespace)
        return [*body[:index], *new, *rest]
    if rest and marker.leading_lines:
        rest[0] = rest[0].with_changes(leading_lines=[*marker.leading_lines, *rest[0].leading_lines])
    return [*body[:index], *rest]


def _after_header(body: list[Any]) -> int:
    """Return the index after the docstring, ``__future__`` imports and the first run of imports."""
    position = 0
    for index, statement in enumerate(body):
        if not isinstance(statement, cst.SimpleStatementLine):
            break
        part = statement.body[0] if statement.body else None
        if isinstance(part, (cst.Import, cst.ImportFrom)):
            position = index + 1
        elif not (index == 0 and isinstance(part, cst.Expr)):
            break
        else:
            position = index + 1
    return position
