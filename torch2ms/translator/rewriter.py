"""The rewriter: one bottom-up walk over libcst's tree that hands each node to its pass.

Only what changes is rebuilt; everything else comes back as the very node it was, so that untouched code stays byte for
byte. Passes see the original node through its ``ast`` twin (facts) and the node with its parts already translated.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Sequence
from operator import is_not
from typing import Any

import libcst as cst

from torch2ms.translator.context import Context, Frame
from torch2ms.translator.rules import detached_members
from torch2ms.translator.rules.calls import (
    counterpart_calls,
    network_gradients,
    optimizers,
    release_differences,
    torch_calls,
)
from torch2ms.translator.rules.expressions import attributes, formatting, indexing, names, sliced_layers
from torch2ms.translator.rules.recipes.switches import put_setting
from torch2ms.translator.rules.statements import (
    checkpointing,
    constant_conditions,
    definitions,
    devices,
    element_assignment,
    exception_handlers,
    imports,
    initial_modes,
)
from torch2ms.translator.rules.statements.graph_mode import advise
from torch2ms.translator.rules.statements.simple_statements import drops_setting, rewrite_small
from torch2ms.translator.rules.statements.third_party import report_packages
from torch2ms.translator.syntax.cst_builders import child_fields, code_of, comments, is_node, parenthesised
from torch2ms.translator.training.plan import file_plan
from torch2ms.translator.training.write import leaf_gradients, steps

__all__ = ["rewrite_module"]

MARK = "# TORCH2MS "


def rewrite_module(module: cst.Module, ctx: Context) -> cst.Module:
    """Return the translated module; diagnostics and references are left in ``ctx``."""
    ctx.training = file_plan.plan_training(ctx)
    for left in ctx.training.left:
        ctx.leave(left.code, left.node, left.reason)
    advise(ctx)
    report_packages(ctx)
    rewriter = _Rewriter(ctx)
    body = _marked_once(rewriter.body(module.body, ctx.analysis.tree.body), module)
    module = module.with_changes(body=body) if body is not module.body else module
    return imports.rewrite_imports(module, ctx)


def _marked_once(body: Sequence[Any], module: cst.Module) -> Sequence[Any]:
    """Take marks off the first statement that an earlier translation left: they are the header of the module."""
    header = {x.comment.value for x in module.header if x.comment is not None and x.comment.value.startswith(MARK)}
    if not header or not body or body[0] is module.body[0]:
        return body
    lines = [x for x in body[0].leading_lines if x.comment is None or x.comment.value not in header]
    return [body[0].with_changes(leading_lines=lines), *body[1:]]


class _Rewriter:
    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx
        self.divided: set[int] = set()  # small statements that got lines of their own
        ctx.visit = self.visit

    def visit(self, node: cst.CSTNode) -> Any:
        """Return the translated node."""
        kind = node.__class__
        if kind in _NUMBERS:
            return node
        tree = self.ctx.alignment.tree(node)
        special = _SPECIAL.get(kind)
        if special is not None:
            return special(self, node, tree)
        updated = self._children(node)
        return updated if tree is None or kind not in _OPERATORS else self._operator(node, updated, tree)

    def _operator(self, node: cst.CSTNode, updated: Any, tree: ast.AST) -> Any:
        """Return what a string, or an expression with an operator, becomes once its parts are translated."""
        if isinstance(tree, ast.BinOp) and tree.op.__class__ is ast.Mod and type(node) is cst.BinaryOperation:
            updated = formatting.rewrite_percent(node, updated, self.ctx)
        if isinstance(node, cst.IfExp) and isinstance(updated, cst.IfExp) and updated is not node:
            updated = devices.one_value(node, constant_conditions.settled_value(node, updated))
            if not isinstance(updated, cst.IfExp):
                return _on_its_lines(node, updated)
        if isinstance(node, cst.UnaryOperation) and isinstance(updated, cst.UnaryOperation):
            updated = constant_conditions.settled_negation(node, updated)
            if not isinstance(updated, cst.UnaryOperation):
                return updated
        if tree in self.ctx.training.leaves.inner:
            return cst.Name(self.ctx.training.leaves.inner[tree])
        if isinstance(tree, ast.Subscript) and isinstance(updated, cst.Subscript):
            first = network_gradients.first_of(updated, tree, self.ctx)
            if first is None:
                first = release_differences.old_number(updated, tree, self.ctx)
            if first is not None:
                return first
            updated = indexing.rewrite_index(updated, tree, self.ctx)
            if isinstance(updated, cst.Subscript):
                updated = sliced_layers.sliced_part(updated, tree, self.ctx)
        made = names.rewrite_expression(node, updated, tree, self.ctx)
        return optimizers.as_parameter(made, tree, self.ctx) if isinstance(tree, ast.BinOp) else made

    def _children(self, node: cst.CSTNode) -> Any:
        changes: dict[str, Any] = {}
        visit = self.visit
        for name in child_fields(node.__class__):
            value = getattr(node, name)
            if value is None or value.__class__ is str:
                continue
            if value.__class__ is list or value.__class__ is tuple:
                if value and is_node(value[0]):
                    items = [visit(item) for item in value]
                    if any(map(is_not, items, value)):
                        changes[name] = items
            elif is_node(value):
                new = visit(value)
                if new is not value:
                    changes[name] = new
        if not changes:
            return node
        if node.__class__ in _SPACES and not getattr(node, _SPACES[node.__class__]).value:
            changes = {name: _kept_apart(getattr(node, name), new) for name, new in changes.items()}
        try:
            return node.with_changes(**changes)
        except cst.CSTValidationError:  # ``return(x.data)``: the parentheses went that stood for a space
            return node.with_changes(**{name: _kept_apart(getattr(node, name), new) for name, new in changes.items()})

    # ---- expressions

    def _reference(self, node: cst.Name | cst.Attribute, tree: ast.AST | None) -> Any:
        if tree is None:
            return node if type(node) is cst.Name else self._children(node)
        kind = self.ctx.kind(tree)
        read = tree if isinstance(tree, (ast.Name, ast.Attribute)) and isinstance(tree.ctx, ast.Load) else None
        if read is not None and kind.name == "api" and self.ctx.is_import_root(read):
            if id(node) in self.ctx.callees:
                return node
            new = names.rewrite_value(node, read, self.ctx)
            is_same = type(new) is cst.Name and type(node) is cst.Name and new.value == node.value
            return node if is_same and not node.lpar else new
        if type(node) is not cst.Attribute:
            return node
        value = self.visit(node.value)
        updated = node.with_changes(value=value) if value is not node.value else node
        if id(node) in self.ctx.callees or not isinstance(tree, ast.Attribute):
            return updated
        return _on_its_lines(node, attributes.rewrite_attribute(node, updated, tree, self.ctx))

    def _call(self, node: cst.Call, tree: ast.AST | None) -> Any:
        if not isinstance(tree, ast.Call):
            return self._children(node)
        if not torch_calls.is_wrapped_network(tree.func, self.ctx):
            self.ctx.callees.add(id(node.func))
        updated = formatting.rewrite_format(node, self._children(node), tree, self.ctx)
        updated = counterpart_calls.with_named_outputs(updated, tree, self.ctx)
        encoded = counterpart_calls.as_encoded(updated, tree, self.ctx)
        new = _on_its_lines(node, encoded or torch_calls.rewrite_call(node, updated, tree, self.ctx))
        return optimizers.as_parameter(initial_modes.in_train_mode(new, tree, self.ctx), tree, self.ctx)

    # ---- statements

    def _field(self, node: cst.FormattedStringExpression, tree: ast.AST | None) -> Any:
        return formatting.rewrite_field(node, self._children(node), self.ctx)

    def _text(self, node: cst.FormattedString, tree: ast.AST | None) -> Any:
        return formatting.rewrite_text(node, self._children(node), self.ctx)

    def _suite(self, node: cst.IndentedBlock | cst.SimpleStatementSuite, tree: ast.AST | None = None) -> Any:
        if isinstance(node, cst.SimpleStatementSuite) and any(map(self.ctx.training.concerns, self._trees(node))):
            lines = [cst.SimpleStatementLine([part]) for part in node.body]
            lines[-1] = lines[-1].with_changes(trailing_whitespace=node.trailing_whitespace)
            self.divided.update(map(id, node.body))
            node = cst.IndentedBlock(lines)
        if isinstance(node, cst.SimpleStatementSuite):
            body = self._small(node.body)
            return node if body is node.body else node.with_changes(body=body or [cst.Pass()])
        statements = [tree for s in node.body for tree in self._trees(s)]
        body = self.body(node.body, statements)
        if body is node.body:
            return node
        return node.with_changes(body=body or [cst.SimpleStatementLine([cst.Pass()])])

    def _trees(self, statement: cst.BaseStatement | cst.SimpleStatementSuite) -> list[ast.stmt]:
        parts: Sequence[cst.CSTNode] = [statement]
        if isinstance(statement, (cst.SimpleStatementLine, cst.SimpleStatementSuite)):
            parts = statement.body
        return [tree for part in parts if isinstance(tree := self.ctx.alignment.tree(part), ast.stmt)]

    def body(self, statements: Sequence[Any], trees: Sequence[ast.stmt]) -> Sequence[Any]:
        """Return the translated statements of one block."""
        results: list[tuple[cst.BaseStatement, list[cst.BaseStatement]]] = []
        for statement in self._split(statements):
            results.append((statement, self._statement(statement)))
        new = _attach(steps.rewrite_block(results, trees, self.ctx))
        if len(new) == len(statements) and all(a is b for a, b in zip(new, statements, strict=True)):
            return statements
        return new

    def _split(self, statements: Sequence[Any]) -> Sequence[Any]:
        """Give every small statement that a training step touches a line of its own."""
        plan = self.ctx.training
        if not (plan.changes or plan.leaves.units or plan.starts) or all(
            isinstance(s, cst.BaseCompoundStatement) or len(s.body) == 1 for s in statements
        ):
            return statements
        split: list[Any] = []
        for statement in statements:
            several = isinstance(statement, cst.SimpleStatementLine) and len(statement.body) > 1
            if several and any(plan.concerns(tree) for tree in self._trees(statement)):
                first, *rest = statement.body
                self.divided.update(map(id, statement.body))
                split.append(statement.with_changes(body=[first]))
                split.extend(cst.SimpleStatementLine([part]) for part in rest)
            else:
                split.append(statement)
        return split

    def _statement(self, node: Any) -> list[cst.BaseStatement]:
        if isinstance(node, cst.SimpleStatementLine):
            frame = self._open(self.ctx.alignment.tree(node.body[0]) if node.body else None)
            small = self._small(node.body)
            self.ctx.frames.pop()
            if not small:
                return _with_lines(frame.before, node) if frame.before else _orphans(node)
            line = node if small is node.body else node.with_changes(body=small)
            made = _finish(node, line, frame, self.ctx.commented)
            return element_assignment.guarded(made, self._trees(node), self.ctx)
        frame = self._open(self.ctx.alignment.tree(node))
        updated = self._with_frame(node)
        self.ctx.frames.pop()
        if frame.drop:
            return frame.before or _orphans(node)
        return _finish(node, updated, frame, self.ctx.commented)

    def _open(self, tree: ast.AST | None) -> Frame:
        frame = Frame(tree)
        self.ctx.frames.append(frame)
        self.ctx.settle(tree)
        return frame

    def _with_frame(self, node: Any) -> Any:
        tree = self.ctx.alignment.tree(node)
        if isinstance(node, cst.FunctionDef) and isinstance(tree, (ast.FunctionDef, ast.AsyncFunctionDef)):
            if checkpointing.drops_backward(tree, self.ctx):
                self.ctx.frame.drop = True
                return node
            self.ctx.functions.append(self.ctx.analysis.function_of.get(tree))
            updated = devices.drop_decorators(self._children(node))
            updated = definitions.rewrite_function(node, updated, tree, self.ctx)
            updated = network_gradients.with_parameter(updated, tree, self.ctx)
            updated = leaf_gradients.with_gradients(updated, tree, self.ctx.training.leaves)
            self.ctx.functions.pop()
            return updated
        if isinstance(tree, ast.Try):
            exception_handlers.report_handlers(tree, self.ctx)
        elif isinstance(tree, (ast.With, ast.AsyncWith)):
            exception_handlers.report_expected(tree, self.ctx)
        updated = self._children(node)
        if isinstance(node, cst.ClassDef) and isinstance(tree, ast.ClassDef):
            return definitions.rewrite_class(node, devices.drop_decorators(updated), tree, self.ctx)
        if isinstance(node, cst.For) and isinstance(tree, (ast.For, ast.AsyncFor)):
            updated = leaf_gradients.over_gradients(updated, tree, self.ctx.training.leaves)
            if detached_members.detaches_members(tree, self.ctx):
                return detached_members.detached_members(updated, tree, self.ctx)
            if updated is not node and isinstance(tree, ast.For):
                self.ctx.frame.drop = devices.goes_over_nothing(node, updated, tree, self.ctx)
            return definitions.rewrite_for(node, updated, tree, self.ctx)
        if isinstance(node, cst.While):
            return constant_conditions.with_simple_test(node, updated)
        if isinstance(node, cst.With) and isinstance(tree, ast.With):
            return devices.rewrite_with(node, updated, tree, self.ctx)
        if updated is not node and isinstance(node, cst.Try):
            self.ctx.frame.drop = devices.tries_nothing(node, updated)
        if updated is not node and isinstance(node, cst.If) and isinstance(tree, ast.If):
            updated = devices.rewrite_if(node, updated)
            self.ctx.frame.drop = devices.is_emptied(node, updated, tree, self.ctx)
            updated = devices.one_branch(node, updated)
        if (
            updated is not node
            and isinstance(node, cst.If)
            and isinstance(updated, cst.If)
            and isinstance(tree, ast.If)
        ):
            updated = constant_conditions.settled(node, updated, tree, self.ctx)
        return updated

    def _elif(self, node: cst.If, tree: ast.AST | None) -> Any:
        """Rewrite an ``elif``, the one statement that is reached through another: its marks stand in front of it."""
        frame = self._open(tree)
        updated = constant_conditions.with_simple_test(node, self._children(node))
        self.ctx.frames.pop()
        if frame.marks:
            updated = updated.with_changes(leading_lines=[*updated.leading_lines, *_lines(frame.marks, updated)])
        if self.ctx.frames:
            self.ctx.frame.before.extend(frame.before)
        return updated

    def _small(self, body: Sequence[Any]) -> Any:
        results: list[Any] = []
        for statement in body:
            tree = self.ctx.alignment.tree(statement)
            self.ctx.small = tree
            if drops_setting(tree, self.ctx) or network_gradients.drops_mark(tree, self.ctx):
                continue
            if put := put_setting(statement, tree, self.ctx):
                results.extend(put)
                continue
            updated = self._children(statement)
            kept = rewrite_small(statement, updated, tree, self.ctx) if tree is not None else updated
            if kept is not None:
                results.append(kept if kept is statement or not _has_lines(tree) else _in_parentheses(kept))
        same = len(results) == len(body) and all(a is b for a, b in zip(results, body, strict=True))
        if same and not (body and id(body[-1]) in self.divided):
            return body
        if results:
            results[-1] = results[-1].with_changes(semicolon=cst.MaybeSentinel.DEFAULT)
        return results


_NUMBERS = frozenset({cst.Integer, cst.Float})
# the space before an expression, where libcst does not ask for it if the expression has no parentheses
_SPACES: dict[type[cst.CSTNode], str] = {cst.Match: "whitespace_after_match", cst.MatchCase: "whitespace_after_if"}
_OPERATORS = frozenset(
    {cst.SimpleString, cst.BinaryOperation, cst.UnaryOperation, cst.Comparison, cst.IfExp, cst.Subscript}
)
_SPECIAL: dict[type[cst.CSTNode], Callable[[_Rewriter, Any, ast.AST | None], Any]] = {
    cst.Name: _Rewriter._reference,
    cst.Attribute: _Rewriter._reference,
    cst.Call: _Rewriter._call,
    cst.IndentedBlock: _Rewriter._suite,
    cst.SimpleStatementSuite: _Rewriter._suite,
    cst.If: _Rewriter._elif,
    cst.FormattedStringExpression: _Rewriter._field,
    cst.FormattedString: _Rewriter._text,
}


def _lines(marks: Sequence[str], node: Any) -> list[cst.EmptyLine]:
    # What an earlier translation said of the statement stands: its words may name what it then rewrote.
    present = {_code(line.comment.value) for line in node.leading_lines if line.comment is not None}
    return [cst.EmptyLine(comment=cst.Comment(mark)) for mark in marks if _code(mark) not in present]


def _code(comment: str) -> str:
    return comment.partition(":")[0] if comment.startswith(MARK) else ""


def _finish(node: Any, updated: Any, frame: Frame, commented: Collection[int]) -> list[cst.BaseStatement]:
    if isinstance(updated, cst.FlattenSentinel):  # the block of a context that went
        first, *rest = list(updated)
        return [*_finish(node, first, frame, commented), *rest]
    if updated is node and not frame.marks and not frame.before:
        return [node]
    if updated is not node and isinstance(node, cst.SimpleStatementLine) and _has_comments(frame.tree, commented):
        updated = _with_comments_of(node, updated)
    marks = _lines(frame.marks, updated)
    if frame.before:
        first = frame.before[0].with_changes(leading_lines=[*node.leading_lines, *marks])
        return [first, *frame.before[1:], updated.with_changes(leading_lines=[])]
    if marks:
        updated = updated.with_changes(leading_lines=[*updated.leading_lines, *marks])
    return [updated]


def _has_comments(tree: ast.AST | None, commented: Collection[int]) -> bool:
    """Whether there may be comments inside a statement, before its last line ends."""
    first, last = getattr(tree, "lineno", 0), getattr(tree, "end_lineno", 0)
    return first != last and any(line in commented for line in range(first, last + 1))


def _with_comments_of(node: cst.SimpleStatementLine, updated: Any) -> Any:
    """Return the updated statement; comments inside the old one that went with a part of it stand in front."""
    old = [comment for part in node.body for comment in comments(part)]
    if not old:
        return updated
    remaining = [comment.value for part in updated.body for comment in comments(part)]
    lost: list[cst.EmptyLine] = []
    for comment in old:
        if comment.value in remaining:
            remaining.remove(comment.value)
        else:
            lost.append(cst.EmptyLine(comment=comment))
    return updated.with_changes(leading_lines=[*updated.leading_lines, *lost]) if lost else updated


def _orphans(node: Any) -> list[cst.BaseStatement]:
    """Return what stays of a statement that goes: an empty one with its comments (see ``_attach``)."""
    lines = list(node.leading_lines)
    if isinstance(node, cst.SimpleStatementLine):
        trailing = node.trailing_whitespace.comment
        found = [comment for part in node.body for comment in comments(part)]
        found += [trailing] if trailing is not None else []
        lines.extend(cst.EmptyLine(comment=comment) for comment in found)
    if not any(line.comment is not None for line in lines):
        lines = lines[:1]
    return [cst.SimpleStatementLine([], leading_lines=lines)] if lines else []


def _attach(statements: Sequence[Any]) -> list[Any]:
    """Give the comments of statements that went to the statement that follows; at the end of a block they stay put."""
    kept: list[Any] = []
    waiting: list[cst.EmptyLine] = []
    for statement in statements:
        if isinstance(statement, cst.SimpleStatementLine) and not statement.body:
            waiting.extend(statement.leading_lines)
            continue
        if waiting:
            own = list(statement.leading_lines)
            if own and waiting and own[0].comment is None and waiting[0].comment is None:
                own = own[1:] if not any(line.comment for line in waiting) else own
            statement = statement.with_changes(leading_lines=[*waiting, *own])
            waiting = []
        kept.append(statement)
    if any(line.comment is not None for line in waiting):
        kept.append(cst.SimpleStatementLine([cst.Pass()], leading_lines=waiting))
    return kept


def _kept_apart(before: Any, after: Any) -> Any:
    """Return what became of an expression, or of comparisons with it, in parentheses if it stood in some."""
    if isinstance(after, list):
        return [_kept_apart(*pair) for pair in zip(before, after, strict=True)]
    if isinstance(before, cst.ComparisonTarget):
        return after.with_changes(comparator=_kept_apart(before.comparator, after.comparator))
    if not isinstance(before, cst.BaseExpression) or not before.lpar or after.lpar:
        return after
    return after.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])


def _on_its_lines(node: cst.BaseExpression, new: Any) -> Any:
    """Return what replaces an expression, with the parentheses that let it run over several lines."""
    if not node.lpar or new.lpar or new is node or "\n" not in code_of(new):
        return new
    return new.with_changes(lpar=node.lpar, rpar=node.rpar)


def _with_lines(before: list[cst.BaseStatement], node: Any) -> list[cst.BaseStatement]:
    """Return the statements that replace another, with the lines that stood before it."""
    return [before[0].with_changes(leading_lines=node.leading_lines), *before[1:]]


def _has_lines(tree: ast.AST | None) -> bool:
    """Whether a statement of the original runs over several lines."""
    return tree is None or getattr(tree, "lineno", 0) != getattr(tree, "end_lineno", 0)


def _in_parentheses(statement: Any) -> Any:
    """Return an assignment whose value, taken out of the parentheses of a call, may still run over several lines."""
    value = getattr(statement, "value", None) if isinstance(statement, (cst.Assign, cst.AugAssign)) else None
    if value is None or value.lpar or "\n" not in (text := code_of(value)):
        return statement
    try:
        ast.parse(text, mode="eval")
    except SyntaxError:
        return statement.with_changes(value=parenthesised(value))
    return statement
