"""Networks that run themselves while they are built: PyTorch's are in train mode then, a Cell is not."""

from __future__ import annotations

import ast
from typing import Any

import libcst as cst

from torch2ms.translator.context import Context
from torch2ms.translator.rules.statements.initial_modes import is_sensitive_file
from torch2ms.translator.syntax.ast_walk import walk

__all__ = ["in_mode_of_birth"]


def in_mode_of_birth(updated: cst.FunctionDef, tree: ast.AST, ctx: Context) -> cst.FunctionDef:
    """Return a constructor with ``self.set_train()`` in front of the first statement that runs the network itself."""
    arguments = getattr(tree, "args", None)
    first = arguments.args[0].arg if arguments is not None and arguments.args else ""
    # In the lighter tree first: hardly any constructor does.
    if not first or not _may_run(tree, first) or _sets_mode(tree, first):
        return updated
    if not is_sensitive_file(ctx) and not _has_parts_from_elsewhere(ctx):
        return updated
    body, found = _with_mode(updated.body, first)
    return updated.with_changes(body=body) if found else updated


def _has_parts_from_elsewhere(ctx: Context) -> bool:
    """Whether the file knows networks of other files of the project, whose layers it need not name."""
    keys = (kind.of for kind in ctx.analysis.names.values() if kind.name == "class")
    foreign = (key for key in keys if ":" in key and key.partition(":")[0] != ctx.path)
    return any(ctx.world.family(key).name == "Module" for key in foreign)


def _may_run(tree: ast.AST, name: str) -> bool:
    """Whether the constructor calls ``self(x)`` or ``self.forward(x)``."""
    called = [node.func for node in walk(tree) if isinstance(node, ast.Call)]
    owners = [f.value if isinstance(f, ast.Attribute) and f.attr == "forward" else f for f in called]
    return any(isinstance(owner, ast.Name) and owner.id == name for owner in owners)


def _sets_mode(tree: ast.AST, name: str) -> bool:
    """Whether the constructor calls ``self.train()`` or ``self.eval()``."""
    attributes = (node for node in walk(tree) if isinstance(node, ast.Attribute) and node.attr in ("train", "eval"))
    return any(isinstance(node.value, ast.Name) and node.value.id == name for node in attributes)


def _with_mode(block: Any, name: str) -> tuple[Any, bool]:
    """Return a block, or a compound statement, with the call in front of the first run; and whether there is one."""
    if isinstance(block, cst.IndentedBlock):
        lines, found = list(block.body), False
        for position, line in enumerate(lines):
            if not _runs(line, name):
                continue
            inner, found = (line, False) if isinstance(line, cst.FunctionDef) else _with_mode(line, name)
            lines[position : position + 1] = [inner] if found else _behind_call(line, name)
            if not isinstance(line, cst.If):  # whose other branch may not run it
                return block.with_changes(body=lines), True
        return block.with_changes(body=lines), found
    changes: dict[str, Any] = {}
    for field in ("body", "orelse", "finalbody"):
        part = getattr(block, field, None)
        if isinstance(part, (cst.IndentedBlock, cst.If, cst.Else, cst.Finally)):
            inner, found = _with_mode(part, name)
            changes.update({field: inner} if found else {})
    return (block.with_changes(**changes), True) if changes else (block, False)


def _behind_call(line: Any, name: str) -> list[Any]:
    """Return a statement with the call in front of it, which gets its comments; a function keeps its own."""
    call = cst.ensure_type(cst.parse_statement(f"{name}.set_train()"), cst.SimpleStatementLine)
    if isinstance(line, cst.FunctionDef):
        blank = () if line.leading_lines else (cst.EmptyLine(indent=False),)
        return [call, line.with_changes(leading_lines=(*blank, *line.leading_lines))]
    return [call.with_changes(leading_lines=line.leading_lines), line.with_changes(leading_lines=())]


def _runs(node: cst.CSTNode, name: str) -> bool:
    finder = _Runs(name)
    node.visit(finder)
    return finder.found


class _Runs(cst.CSTVisitor):
    """Looks for ``self(x)`` and ``self.construct(x)``."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name, self.found = name, False

    def visit_Call(self, node: cst.Call) -> None:
        """See whether a call runs the network."""
        func = node.func
        if isinstance(func, cst.Attribute) and func.attr.value in ("construct", "forward"):
            func = func.value
        self.found = self.found or (isinstance(func, cst.Name) and func.value == self.name)
