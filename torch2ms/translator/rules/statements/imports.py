"""Imports: torch's go, MindSpore's come, at the place where the first torch import stood."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import libcst as cst
from libcst.helpers import get_full_name_for_node

from torch2ms.mapping_tables.counterparts import is_staying, moved
from torch2ms.translator.context import Context, Frame
from torch2ms.translator.import_plan import GUARD, Needed, hands_on
from torch2ms.translator.rules.module_values import MODULES, SAME_CALLS
from torch2ms.translator.rules.statements.devices import tries_nothing
from torch2ms.translator.rules.statements.third_party import spare_missing
from torch2ms.translator.syntax.cst_builders import comments, names_read

__all__ = ["rewrite_imports"]

_ORDER = ("numpy", "math", "mindspore")


def rewrite_imports(module: cst.Module, ctx: Context) -> cst.Module:
    """Return the module with the imports that the rewritten code needs."""
    rewriter = _ImportRewriter(ctx)
    body = rewriter.block(module.body, 0)
    wanted = {needed.alias for needed in ctx.imports.needed} | {name.partition(".")[0] for name in ctx.imports.kept}
    used = names_read(module.with_changes(body=body), wanted) if wanted else set()
    kept = sorted(name for name in ctx.imports.kept - rewriter.guarded if name.partition(".")[0] in used)
    roots = sorted({name.partition(".")[0] for name in kept})
    lines = [
        *_lines(ctx, used),
        *(_guarded(ctx, root, [name for name in kept if f"{name}.".startswith(f"{root}.")]) for root in roots),
    ]
    if body is module.body and not lines:
        return module
    aliases = {needed.alias for needed in ctx.imports.needed} | set(roots)
    return _insert(module.with_changes(body=body), lines, rewriter.found, aliases)


def _guarded(ctx: Context, root: str, names: Sequence[str]) -> cst.BaseStatement:
    """Import torch where it is installed: the file must load without it, and only what is marked needs it."""
    missing = f"{ctx.imports.runtime}.missing"
    imports = "".join(f"    import {name}\n" for name in names)
    return cst.parse_statement(f"{GUARD}\n{imports}except ImportError:\n    from {missing} import {root}\n")


class _ImportRewriter:
    """Takes the torch names out of import statements; leaves a marker where the first one stood at the top level."""

    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx
        self.found = False
        self.depth = 0
        self.tried = False  # whether an import that fails here is caught
        self.marks: list[cst.EmptyLine] = []  # of the line at hand
        self.guarded: set[str] = set()  # imports that a translated file has already

    def block(self, statements: Sequence[Any], depth: int) -> Sequence[Any]:
        """Return the statements of a block; ``depth`` counts the blocks around it."""
        new: list[Any] = []
        waiting: list[cst.EmptyLine] = []  # comments of imports that went: the next statement takes them
        for statement in statements:
            self.depth = depth
            if isinstance(statement, cst.SimpleStatementLine):
                updated = self._line(statement)
                if not updated:
                    waiting.extend(_comment_lines(statement))
                elif updated == [statement] and depth == 0:
                    updated = [*spare_missing(statement, self.ctx)]
            else:
                changed = self._compound(statement, depth)
                is_idle = (
                    changed is not statement and isinstance(changed, cst.Try) and tries_nothing(statement, changed)
                )
                updated = [] if is_idle else [changed]
                waiting.extend(
                    line for line in (statement.leading_lines if is_idle else ()) if line.comment is not None
                )
            if updated and waiting:
                updated[0] = updated[0].with_changes(leading_lines=[*waiting, *updated[0].leading_lines])
                waiting = []
            new.extend(updated)
        if waiting:
            new.append(cst.SimpleStatementLine([cst.Pass()], leading_lines=waiting))
        if len(new) == len(statements) and all(a is b for a, b in zip(new, statements, strict=True)):
            return statements
        return new or [cst.SimpleStatementLine([cst.Pass()])]

    def _compound(self, node: Any, depth: int) -> Any:
        changes: dict[str, Any] = {}
        for name in ("body", "orelse", "finalbody", "handlers"):
            part = getattr(node, name, None)
            if part.__class__ is cst.IndentedBlock:
                tried, self.tried = self.tried, self.tried or bool(getattr(node, "handlers", ()))
                body = self.block(part.body, depth + 1)
                self.tried = tried
                if body is not part.body:
                    changes[name] = part.with_changes(body=body)
            elif part.__class__ in (cst.If, cst.Else, cst.Finally):
                new = self._compound(part, depth)
                if new is not part:
                    changes[name] = new
            elif name == "handlers" and part:
                handlers = [self._compound(handler, depth) for handler in part]
                if any(a is not b for a, b in zip(handlers, part, strict=True)):
                    changes[name] = handlers
        return node.with_changes(**changes) if changes else node

    def _line(self, node: cst.SimpleStatementLine) -> list[Any]:
        if not any(part.__class__ in (cst.Import, cst.ImportFrom) for part in node.body):
            return [node]
        imports = [(part, self._import(part)) for part in node.body]
        if all(new is part for part, new in imports):
            return [node]
        kept: list[Any] = [part for _, new in imports for part in (new if isinstance(new, list) else [new]) if part]
        marks, self.marks = self.marks, []
        if marks:
            node = node.with_changes(leading_lines=[*node.leading_lines, *marks])
        first = not self.found and self.depth == 0
        self.found = self.found or first
        if kept:
            kept[-1] = kept[-1].with_changes(semicolon=cst.MaybeSentinel.DEFAULT)
            updated = node.with_changes(body=kept if len(node.body) > 1 else kept[:1])
            more = [cst.SimpleStatementLine([part]) for part in kept[len(updated.body) :]]
            return [_marker(node), updated.with_changes(leading_lines=[]), *more] if first else [updated, *more]
        if first:
            return [_marker(node)]
        return []

    def _is_torch(self, module: str) -> bool:
        return self.ctx.world.symbols.is_torch(self.ctx.path, module)

    def _import(self, node: Any) -> Any:
        if isinstance(node, cst.Import):
            return self._plain(node)
        if isinstance(node, cst.ImportFrom):
            return self._from(node)
        return node

    def _plain(self, node: cst.Import) -> Any:
        kept = []
        for alias in node.names:
            name = alias.evaluated_name
            guarded = self.tried and alias.evaluated_alias is None and name in self.ctx.imports.kept
            if not self._is_torch(name) or guarded:
                kept.append(alias)
                self.guarded |= {name} if guarded else set()
        bound = [line for alias in node.names if alias not in kept and (line := self._module(node, alias)) is not None]
        if not bound:
            return _with_names(node, kept, node.names)
        rest = _with_names(node, kept, node.names)
        return [*([rest] if rest is not None else []), *bound]

    def _module(self, node: cst.Import, alias: cst.ImportAlias) -> cst.BaseSmallStatement | None:
        """Return what keeps the name of a module bound that another branch imports from elsewhere.

        ``try: import pyro.distributions as d``, ``except ImportError: import torch.distributions as d``.
        """
        name = alias.evaluated_alias
        here = self.ctx.analysis.names.get(name or "")
        if self.depth == 0 or name is None or here is None or here.name in ("api", "module"):
            return None
        target = MODULES.get(alias.evaluated_name)
        if target is None or alias.evaluated_name not in SAME_CALLS:
            self._mark(node, alias.evaluated_name)
            return cst.Assign([cst.AssignTarget(cst.Name(name))], self.ctx.left(alias.evaluated_name))
        return cst.Assign([cst.AssignTarget(cst.Name(name))], self.ctx.reference(target))

    def _from(self, node: cst.ImportFrom) -> Any:
        if isinstance(node.names, cst.ImportStar):
            return None if not node.relative and self._is_torch(_module_of(node)) else node
        if node.relative or not self._is_torch(_module_of(node)):
            kept = [alias for alias in node.names if not self._hands_on(node, alias)]
            return _with_names(node, kept, node.names)
        stays = [alias for alias in node.names if is_staying(_module_of(node), alias.evaluated_name)]
        goes = [alias for alias in node.names if alias not in stays]
        # an import within a block stays there: its package may be missing where the block does not run
        moves = [(alias, moved(_module_of(node), alias.evaluated_name)) for alias in goes if self.depth]
        there = [_import_of(alias, *place) for alias, place in moves if place is not None]
        bound = [line for alias in goes if (line := self._fallback(node, alias)) is not None]
        rest = node if not goes else _on_one_line(node, stays) if stays else None
        return [*([rest] if rest is not None else []), *there, *bound] if bound or there else rest

    def _hands_on(self, node: cst.ImportFrom, alias: cst.ImportAlias) -> bool:
        """Whether a name of torch's is taken from a file of the project: its uses name MindSpore's themselves."""
        here = self.ctx.analysis.names.get(alias.evaluated_alias or alias.evaluated_name)
        if self.depth == 0 and here is not None and here.name != "api":
            return False
        level = len(node.relative)
        return hands_on(self.ctx.world, self.ctx.path, _module_of(node), level, alias.evaluated_name)

    def _fallback(self, node: cst.ImportFrom, alias: cst.ImportAlias) -> cst.BaseSmallStatement | None:
        """Return what keeps a name bound that the file binds otherwise as well: ``try: from torch import x``.

        Its uses stay as they are, since they may mean either. Where MindSpore has nothing, the import fails as it does
        where torch lacks the name, and the source's own fallback is taken; where nothing catches that, the name stays.
        """
        name = alias.evaluated_alias or alias.evaluated_name
        here = self.ctx.analysis.names.get(name)
        if self.depth == 0 or here is None or here.name == "api" or moved(_module_of(node), alias.evaluated_name):
            return None
        canonical = self.ctx.tables.canonical(f"{_module_of(node)}.{alias.evaluated_name}")
        target = _target_of(self.ctx, canonical)
        if target is None and not self.tried:
            self._mark(node, canonical)
            return cst.Assign([cst.AssignTarget(cst.Name(name))], self.ctx.left(canonical))
        if target is None:
            return cst.ensure_type(_statement(f"raise ImportError({alias.evaluated_name!r})").body[0], cst.Raise)
        return cst.Assign([cst.AssignTarget(cst.Name(name))], self.ctx.reference(target))

    def _mark(self, node: cst.Import | cst.ImportFrom, name: str) -> None:
        """Say of a name that stays torch's why it does, before the line that binds it."""
        tree = self.ctx.alignment.tree(node)
        row = self.ctx.tables.row(name)
        self.ctx.frames.append(Frame(tree))
        if tree is not None and row is None:
            is_module = self.ctx.tables.is_module(name)
            message = (
                f"the module {name} is handed on as a value" if is_module else f"{name} is not in the mapping tables"
            )
            self.ctx.report("T2M202", tree, message, symbol=name)
        elif tree is not None and row is not None:
            message = f"{name} has no MindSpore equivalent that stands for it where another name may"
            self.ctx.report("T2M201", tree, message, symbol=name, advice=row.unsupported or "")
        self.marks += [cst.EmptyLine(comment=cst.Comment(mark)) for mark in self.ctx.frames.pop().marks]


def _import_of(alias: cst.ImportAlias, module: str, name: str) -> cst.ImportFrom:
    """Return ``from module import name``, under the name that an import binds."""
    bound = alias.evaluated_alias or alias.evaluated_name
    statement = _statement(f"from {module} import {name}" + (f" as {bound}" if bound != name else ""))
    return cst.ensure_type(statement.body[0], cst.ImportFrom)


def _module_of(node: cst.ImportFrom) -> str:
    return (get_full_name_for_node(node.module) or "") if node.module is not None else ""


def _target_of(ctx: Context, name: str) -> str | None:
    """Return what takes torch's arguments in a name's place, or None."""
    row = ctx.tables.row(name)
    options = ctx.tables.select(row, ctx.target) if row is not None and not row.unsupported else ()
    if row is None or not options:
        return None
    first = options[0]
    changed = first.recipe or first.rename or first.transform or first.write_default or first.add or first.drop
    plain = not changed and not first.target.startswith("@") and "Tensor." not in first.target
    return row.adapter or (first.target if plain else None)


def _with_names(node: Any, kept: Sequence[cst.ImportAlias], names: Sequence[cst.ImportAlias]) -> Any:
    if len(kept) == len(names):
        return node
    if not kept:
        return None
    last = kept[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
    return node.with_changes(names=[*kept[:-1], last])


def _on_one_line(node: cst.ImportFrom, names: Sequence[cst.ImportAlias]) -> cst.ImportFrom:
    """Return an import of fewer names without the lines that the others stood on."""
    plain = [name.with_changes(comma=cst.MaybeSentinel.DEFAULT) for name in names]
    short = node.with_changes(names=plain, lpar=None, rpar=None)
    fits = len(cst.Module([cst.SimpleStatementLine([short])]).code) <= 120
    return short if fits else cst.ensure_type(_with_names(node, names, ()), cst.ImportFrom)


def _comment_lines(node: cst.SimpleStatementLine) -> list[cst.EmptyLine]:
    """Return the comments of a statement that goes, each on a line of its own."""
    lines = list(node.leading_lines) if any(line.comment is not None for line in node.leading_lines) else []
    inside = [cst.EmptyLine(comment=comment) for part in node.body for comment in comments(part)]
    trailing = node.trailing_whitespace.comment
    return [*lines, *inside, *([cst.EmptyLine(comment=trailing)] if trailing is not None else [])]


_MARK = "# torch2ms imports"


def _marker(node: cst.SimpleStatementLine) -> cst.SimpleStatementLine:
    """Return the place where the new imports go; it keeps the lines before the old one."""
    inside = [cst.EmptyLine(comment=comment) for part in node.body for comment in comments(part)]
    return cst.SimpleStatementLine(
        [cst.Expr(cst.SimpleString(repr(_MARK)))],
        leading_lines=[*node.leading_lines, *inside],
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


def _lines(ctx: Context, used: set[str]) -> list[cst.SimpleStatementLine]:
    """Return one statement for each module imported from, in a fixed order; what nothing names any more is left out."""
    groups: dict[str, list[Needed]] = {}
    for needed in ctx.imports.needed:
        if needed.alias not in used:
            continue
        groups.setdefault(needed.module or f"import {needed.name}", []).append(needed)
    texts = []
    for key in sorted(groups, key=_rank):
        group = sorted(groups[key])
        if not group[0].module:
            texts.append(
                f"import {group[0].name}" + (f" as {group[0].alias}" if group[0].alias != group[0].name else "")
            )
        else:
            names = ", ".join(n.name if n.name == n.alias else f"{n.name} as {n.alias}" for n in group)
            texts.append(f"from {key} import {names}")
    runtime = ctx.imports.runtime
    if groups and not any(f"{key}.".startswith(f"{runtime}.") for key in groups):
        reasons = (
            (_seeds_numpy, "layers draw first weights from a stream of their own, not from np.random"),
            (_pickles, "Cells can be pickled"),
        )
        texts += [f"import {runtime}  # {reason}\n" for holds, reason in reasons if holds(ctx)][:1]
    return [_statement(text) for text in texts]


def _pickles(ctx: Context) -> bool:
    """Whether the file pickles objects, which MindSpore's layers alone do not allow."""
    return any(ctx.kind(call.func).of.startswith("pickle.dump") for call in ctx.analysis.all(ast.Call))


def _seeds_numpy(ctx: Context) -> bool:
    """Whether a file of the project sets the state of NumPy's global random stream, which MindSpore's layers draw from.

    In the file at hand this is what ``numpy.random.seed`` resolves to; of the others the index tells.
    """
    states = ("seed", "set_state")
    here = any(
        ctx.kind(call.func).of in [f"numpy.random.{name}" for name in states] for call in ctx.analysis.all(ast.Call)
    )
    symbols = ctx.world.symbols
    files = symbols.files.items()
    others = (
        index
        for path, index in files
        if path != ctx.path and (0, "numpy") in index.imports and symbols.meets(ctx.path, path)
    )
    return here or any(not index.calls.keys().isdisjoint(states) for index in others)


@lru_cache(maxsize=1024)
def _statement(text: str) -> cst.SimpleStatementLine:
    return cst.ensure_type(cst.parse_statement(text), cst.SimpleStatementLine)


def _rank(key: str) -> tuple[int, str]:
    name = key.removeprefix("import ")
    root = name.partition(".")[0]
    position = _ORDER.index(root) if root in _ORDER else len(_ORDER)
    return position, f"{'0' if key.startswith('import ') else '1'}{name}"


def _insert(module: cst.Module, lines: list[Any], found: bool, aliases: set[str]) -> cst.Module:
    body = list(module.body)
    if found:
        index = next(i for i, statement in enumerate(body) if _is_marker(statement))
        early = (i for i, statement in enumerate(body[:index]) if lines and aliases & _read_at_once(statement))
        first = next(early, None)  # such as the fallback of a ``try: import``
        if first is None:
            return module.with_changes(body=_replace_marker(body, lines))
        body = _replace_marker(body, [])
        return module.with_changes(body=[*body[:first], *lines, *body[first:]])
    if not lines:
        return module
    position = _after_header(body)
    return module.with_changes(body=[*body[:position], *lines, *body[position:]])


def _read_at_once(statement: cst.CSTNode) -> set[str]:
    """Return the names that a statement of the module reads when it runs; a function reads its own later."""
    return names_read(statement) if isinstance(statement, (cst.Try, cst.If, cst.With, cst.For)) else set()


def _replace_marker(body: list[Any], lines: list[Any]) -> list[Any]:
    index = next(i for i, statement in enumerate(body) if _is_marker(statement))
    marker = body[index]
    rest = body[index + 1 :]
    if lines:
        new = list(lines)
        last = new[-1]
        above = list(marker.leading_lines)
        if isinstance(last, cst.SimpleStatementLine) and last.trailing_whitespace.comment is None:
            new[-1] = last.with_changes(trailing_whitespace=marker.trailing_whitespace)
        elif marker.trailing_whitespace.comment is not None:
            above.append(cst.EmptyLine(comment=marker.trailing_whitespace.comment))
        new[0] = new[0].with_changes(leading_lines=above)
        return [*body[:index], *new, *rest]
    above = list(marker.leading_lines)
    if marker.trailing_whitespace.comment is not None:
        above.append(cst.EmptyLine(comment=marker.trailing_whitespace.comment))
    if rest and above:
        rest[0] = rest[0].with_changes(leading_lines=[*above, *rest[0].leading_lines])
    elif above:
        rest = [cst.SimpleStatementLine([cst.Pass()], leading_lines=above)]
    return [*body[:index], *rest]


_TEXTS = (cst.SimpleString, cst.ConcatenatedString)


def _after_header(body: list[Any]) -> int:
    """Return the index after the docstring, ``__future__`` imports and the first run of imports."""
    position = 0
    for index, statement in enumerate(body):
        if not isinstance(statement, cst.SimpleStatementLine):
            break
        part = statement.body[0] if statement.body else None
        if isinstance(part, (cst.Import, cst.ImportFrom)):
            position = index + 1
        elif not (index == 0 and isinstance(part, cst.Expr) and isinstance(part.value, _TEXTS)):
            break
        else:
            position = index + 1
    return position
