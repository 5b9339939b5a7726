"""Packages built on PyTorch: their imports stay, and are reported: nothing of them works on MindSpore's objects."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Any

import libcst as cst
from libcst.helpers import get_full_name_for_node

from torch2ms.diagnostics import Severity
from torch2ms.translator.context import Context
from torch2ms.translator.effects.file_summary import is_main_guard, loaded_modules
from torch2ms.translator.effects.foreign_uses import handling_torch
from torch2ms.translator.project.packages import advice_for, compiled_modules, free_packages, packages, torch_package
from torch2ms.translator.syntax.ast_walk import children
from torch2ms.translator.syntax.names import TORCH_ROOTS

__all__ = ["MARK", "is_watch", "report_packages", "spare_missing"]

MARK = "# TORCH2MS "

# Functions of packages for any framework that look into PyTorch's networks, and refuse others
_WATCHES = frozenset({("wandb", "watch"), ("wandb", "unwatch")})
_WATCHED = frozenset(function for _, function in _WATCHES)


def is_watch(tree: ast.AST, ctx: Context) -> bool:
    """Whether a statement lets a logger look at a network's gradients, ``wandb.watch(net)``; says that it goes."""
    call = tree.value if isinstance(tree, ast.Expr) else None
    func = call.func if isinstance(call, ast.Call) else None
    if not isinstance(func, ast.Attribute) or func.attr not in _WATCHED or not isinstance(func.value, ast.Name):
        return False
    for node in ctx.analysis.all(ast.Import):
        for alias in node.names:
            if (alias.asname or alias.name) == func.value.id and (alias.name, func.attr) in _WATCHES:
                message = f"{alias.name}.{func.attr} takes PyTorch's networks only: gradients are not logged; dropped"
                ctx.report("T2M304", tree, message)
                return True
    return False


def report_packages(ctx: Context) -> None:
    """Give T2M307 at the first import of every package that is built on PyTorch.

    It is an error where a program reaches the import: there it stops, or misses what it needs.
    """
    said: set[str] = set()
    nodes = ctx.analysis.nodes
    for node in sorted(nodes, key=lambda node: _is_optional(node, ctx)):  # what must be there is said first
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            modules = [node.module] if node.module else []
        else:
            continue
        for module in compiled_modules(ctx.world.symbols, ctx.path, loaded_modules(node)):
            message = f"{module} is compiled: it is not taken along, and what uses it does not run"
            ctx.leave("T2M308", node, message, Severity.ERROR if _is_needed(node, ctx) else None, symbol=module)
        for module in modules:
            package = _package(module, getattr(node, "level", 0), ctx)
            if package is not None and package not in said:
                said.add(package)
                advice = advice_for(package, ctx.target)
                message = f"{package} works on PyTorch's tensors and modules; what uses it does not run on MindSpore's"
                severity = Severity.ERROR if _is_needed(node, ctx) else None
                ctx.leave("T2M307", node, message, severity, symbol=package, advice=advice)


def _is_needed(node: ast.AST, ctx: Context) -> bool:
    """Whether a program of the project cannot do without an import: every run makes it, as far as this file tells.

    What a function imports is needed where the file calls the function under no condition, or another file calls it.
    """
    symbols = ctx.world.symbols
    if _is_optional(node, ctx) or not symbols.is_run(ctx.path):
        return False
    functions = [
        parent for parent in _parents(node, ctx) if isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef))
    ]
    if not functions or functions[-1] in ctx.once(_always_called):
        return True
    others = (file for path, file in symbols.files.items() if path != ctx.path and symbols.is_run(path))
    return any(functions[-1].name in file.calls for file in others)


def _always_called(ctx: Context) -> set[ast.AST]:
    """Return the functions of a file that its own statements call under no condition, directly or through others."""
    functions = {node.name: node for node in ctx.analysis.tree.body if isinstance(node, ast.FunctionDef)}
    found: set[ast.AST] = set()
    queue: list[ast.AST] = list(ctx.analysis.tree.body)
    while queue:
        node = queue.pop()
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            called = functions.get(node.func.id)
            if called is not None and called not in found:
                found.add(called)
                queue += called.body
        if isinstance(node, (ast.If, ast.IfExp, ast.While)) and not is_main_guard(node):
            queue.append(node.test)
        elif isinstance(node, ast.BoolOp):
            queue.append(node.values[0])
        elif not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.ExceptHandler)):
            queue += children(node)
    return found


_CATCHING = frozenset({"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})


def _is_optional(node: ast.AST, ctx: Context) -> bool:
    """Whether the file can do without an import: its failure is caught, or it is for a type checker only."""
    if not isinstance(node, (ast.Import, ast.ImportFrom)):
        return False
    child: ast.AST = node
    for parent in _parents(node, ctx):
        if isinstance(parent, ast.Try) and child in parent.body and any(map(_catches, parent.handlers)):
            return True
        if isinstance(parent, ast.If) and child in parent.body and "TYPE_CHECKING" in ast.unparse(parent.test):
            return True
        child = parent
    return False


def _parents(node: ast.AST, ctx: Context) -> Iterator[ast.AST]:
    parent = ctx.parent(node)
    while parent is not None:
        yield parent
        parent = ctx.parent(parent)


def _catches(handler: ast.ExceptHandler) -> bool:
    """Whether a handler catches an import that fails, and does not give up."""
    caught = {name.id for name in ast.walk(handler.type) if isinstance(name, ast.Name)} if handler.type else _CATCHING
    return not _CATCHING.isdisjoint(caught) and not any(isinstance(node, ast.Raise) for node in ast.walk(handler))


_OWN = frozenset({"torch2ms", "torch2ms_runtime"})


def _package(module: str, level: int, ctx: Context) -> str | None:
    """Return the package built on PyTorch that an import names: by the tables, its own word, or its use in the file."""
    known = torch_package(ctx.world.symbols, ctx.path, module, level)
    root = module.partition(".")[0]
    return root if known is None and not level and root in ctx.once(_by_use) else known


def _by_use(ctx: Context) -> set[str]:
    """Return the packages of which nothing is known but that the file hands torch's objects to, or gets them from."""
    symbols = ctx.world.symbols
    names = [alias.name for node in ctx.analysis.all(ast.Import) for alias in node.names]
    names += [node.module or "" for node in ctx.analysis.all(ast.ImportFrom) if not node.level]
    roots = {name.partition(".")[0] for name in names}
    roots -= {"", *_OWN, *free_packages(), *TORCH_ROOTS, *packages()}
    return handling_torch({root for root in roots if symbols.find_module(ctx.path, root, 0) is None}, ctx)


def spare_missing(node: cst.SimpleStatementLine, ctx: Context) -> Sequence[Any]:
    """Return an import of packages built on PyTorch in a ``try``, with names that raise where they are used.

    Where PyTorch is not installed, such a package cannot be imported; most programs need it for a profile, a log or one
    of several networks, and the rest of them runs.
    """
    if len(node.body) != 1 or not isinstance(node.body[0], (cst.Import, cst.ImportFrom)):
        return [node]
    statement = node.body[0]
    if isinstance(statement, cst.ImportFrom):
        module = (get_full_name_for_node(statement.module) or "") if statement.module is not None else ""
        level = len(statement.relative)
        if isinstance(statement.names, cst.ImportStar) or _package(module, level, ctx) is None:
            return [node]
        return [_spared(node, statement, [_bound(alias, alias.evaluated_name) for alias in statement.names], ctx)]
    left = [x for x in statement.names if _package(x.evaluated_name, 0, ctx) is not None]
    if not left:
        return [node]
    others = [x.with_changes(comma=cst.MaybeSentinel.DEFAULT) for x in statement.names if x not in left]
    names = [_bound(alias, alias.evaluated_name.partition(".")[0]) for alias in left]
    import_ = statement.with_changes(names=[x.with_changes(comma=cst.MaybeSentinel.DEFAULT) for x in left])
    spared = _spared(node.with_changes(body=[import_]), import_, names, ctx)
    return [cst.SimpleStatementLine([cst.Import(others)]), spared] if others else [spared]


def _bound(alias: cst.ImportAlias, name: str) -> str:
    return f"{name} as {alias.evaluated_alias}" if alias.evaluated_alias else name


def _spared(node: cst.SimpleStatementLine, statement: Any, names: Sequence[str], ctx: Context) -> cst.Try:
    """Return the ``try``: marks go inside, where a second translation finds them, other comments stay outside."""
    marks = [x for x in node.leading_lines if x.comment is not None and x.comment.value.startswith(MARK)]
    outside = [x for x in node.leading_lines if x not in marks]
    inside = node.with_changes(body=[statement], leading_lines=marks)
    text = f"try:\n    pass\nexcept ImportError:\n    from {ctx.imports.runtime}.missing import {', '.join(names)}\n"
    made = cst.ensure_type(cst.parse_statement(text), cst.Try)
    return made.with_changes(leading_lines=outside, body=made.body.with_changes(body=[inside]))
