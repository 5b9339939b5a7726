"""The join of the two trees of one file: libcst's (lossless, rewritten) and ``ast``'s (fast, exact, analysed).

Both come from the same text, so they have the same shape up to how each spells it; ``align`` walks them in lock-step
and returns, for every libcst node that has one, its ``ast`` node. Nothing is matched by position or by text.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import libcst as cst

from torch2ms.errors import InternalError

__all__ = ["Alignment", "align"]

Matcher = Callable[["Alignment", Any, Any], None]


class Alignment:
    """The ``ast`` node of each libcst node, and back for statements and expressions."""

    def __init__(self) -> None:
        self._tree_of: dict[int, ast.AST] = {}
        self._code_of: dict[ast.AST, cst.CSTNode] = {}
        self.blocks: list[Sequence[Any]] = []  # the statements of each block that has lines of its own

    def tree(self, code: cst.CSTNode) -> ast.AST | None:
        """Return the ``ast`` node of a libcst node, or None where libcst has no counterpart (whitespace, commas)."""
        return self._tree_of.get(id(code))

    def code(self, tree: ast.AST) -> cst.CSTNode | None:
        """Return the libcst node of an ``ast`` node."""
        return self._code_of.get(tree)

    def expression(self, code: cst.BaseExpression | None, tree: ast.AST | None) -> None:
        """Match one expression."""
        if code is None or tree is None:
            return
        self._tree_of[id(code)] = tree
        self._code_of[tree] = code
        matcher = _EXPRESSIONS.get(type(code))
        if matcher is not None:
            matcher(self, code, tree)

    def expressions(self, codes: Sequence[Any], trees: Sequence[ast.AST]) -> None:
        """Match the ``value`` of each element with the tree at the same place."""
        for code, tree in _pairs(codes, trees):
            if isinstance(code, (cst.StarredElement, cst.Element)):
                self.element(code, tree)
            else:
                self.expression(code, tree)

    def element(self, code: cst.BaseElement, tree: ast.AST) -> None:
        """Match an element of a display or a subscript tuple."""
        self._tree_of[id(code)] = tree
        if isinstance(code, cst.StarredElement) and isinstance(tree, ast.Starred):
            self._code_of[tree] = code
            self.expression(code.value, tree.value)
        else:
            self.expression(code.value, tree)

    def statement(self, code: cst.CSTNode, tree: ast.AST) -> None:
        """Match one statement."""
        self._tree_of[id(code)] = tree
        self._code_of[tree] = code
        matcher = _STATEMENTS.get(type(code))
        if matcher is not None:
            matcher(self, code, tree)

    def block(self, code: cst.BaseSuite | cst.Module, trees: Sequence[ast.stmt]) -> None:
        """Match the statements of a body."""
        self.statements(_flat(code), trees)
        if not isinstance(code, cst.SimpleStatementSuite):
            self.blocks.append(code.body)

    def statements(self, codes: Iterator[cst.CSTNode], trees: Sequence[ast.stmt]) -> None:
        """Match statements one by one."""
        for code, tree in _pairs(list(codes), trees):
            self.statement(code, tree)


def align(module: cst.Module, tree: ast.Module) -> Alignment:
    """Return the join of both trees of one file; InternalError when their shapes differ."""
    alignment = Alignment()
    alignment.block(module, tree.body)
    return alignment


def _pairs(codes: Sequence[Any], trees: Sequence[ast.AST]) -> Iterator[tuple[Any, ast.AST]]:
    if len(codes) != len(trees):
        line = getattr(trees[0], "lineno", 0) if trees else 0
        raise InternalError(f"the two parsers disagree near line {line}: {len(codes)} and {len(trees)} parts")
    return zip(codes, trees, strict=True)


def _flat(body: cst.BaseSuite | cst.Module) -> Iterator[cst.CSTNode]:
    """Yield the statements of a suite as ``ast`` counts them: small statements on one line are separate."""
    if isinstance(body, cst.SimpleStatementSuite):
        yield from body.body
        return
    for statement in body.body:
        if isinstance(statement, cst.SimpleStatementLine):
            yield from statement.body
        else:
            yield statement


# ---- expressions


def _attribute(a: Alignment, code: cst.Attribute, tree: ast.Attribute) -> None:
    a.expression(code.value, tree.value)


def _call(a: Alignment, code: cst.Call, tree: ast.Call) -> None:
    a.expression(code.func, tree.func)
    positional, keywords = iter(tree.args), iter(tree.keywords)
    for arg in code.args:
        if arg.keyword is not None or arg.star == "**":
            keyword = next(keywords)
            a._tree_of[id(arg)] = keyword
            a._code_of[keyword] = arg
            a.expression(arg.value, keyword.value)
        else:
            value = next(positional)
            a._tree_of[id(arg)] = value
            inner = value.value if arg.star == "*" and isinstance(value, ast.Starred) else value
            if inner is not value:
                a._code_of[value] = arg
            a.expression(arg.value, inner)


def _binary(a: Alignment, code: cst.BinaryOperation, tree: ast.BinOp) -> None:
    a.expression(code.left, tree.left)
    a.expression(code.right, tree.right)


def _unary(a: Alignment, code: cst.UnaryOperation, tree: ast.UnaryOp) -> None:
    if isinstance(tree, ast.UnaryOp):
        a.expression(code.expression, tree.operand)


def _boolean(a: Alignment, code: cst.BooleanOperation, tree: ast.BoolOp) -> None:
    _boolean_values(a, code, tree.values)


def _boolean_values(a: Alignment, code: cst.BooleanOperation, values: list[ast.expr]) -> None:
    """``a and b and c`` is nested to the left in libcst and flat in ``ast``."""
    a.expression(code.right, values[-1])
    left = code.left
    if len(values) == 2:
        a.expression(left, values[0])
    elif isinstance(left, cst.BooleanOperation):
        _boolean_values(a, left, values[:-1])


def _comparison(a: Alignment, code: cst.Comparison, tree: ast.Compare) -> None:
    a.expression(code.left, tree.left)
    for target, comparator in _pairs(code.comparisons, tree.comparators):
        a.expression(target.comparator, comparator)


def _if_exp(a: Alignment, code: cst.IfExp, tree: ast.IfExp) -> None:
    a.expression(code.test, tree.test)
    a.expression(code.body, tree.body)
    a.expression(code.orelse, tree.orelse)


def _display(a: Alignment, code: cst.Tuple | cst.List | cst.Set, tree: ast.Tuple | ast.List | ast.Set) -> None:
    a.expressions(code.elements, tree.elts)


def _dict(a: Alignment, code: cst.Dict, tree: ast.Dict) -> None:
    for element, (key, value) in zip(code.elements, zip(tree.keys, tree.values, strict=True), strict=True):
        if isinstance(element, cst.DictElement):
            a.expression(element.key, key)
        a.expression(element.value, value)


def _subscript(a: Alignment, code: cst.Subscript, tree: ast.Subscript) -> None:
    a.expression(code.value, tree.value)
    index = tree.slice
    single = len(code.slice) == 1 and not isinstance(code.slice[0].comma, cst.Comma)
    starred = single and isinstance(code.slice[0].slice, cst.Index) and code.slice[0].slice.star == "*"
    trees = [index] if single and not starred else getattr(index, "elts", [index])
    for element, part in _pairs(code.slice, trees):
        a._tree_of[id(element)] = part
        inner = element.slice
        if isinstance(inner, cst.Index):
            a.expression(inner.value, part.value if isinstance(part, ast.Starred) else part)
        elif isinstance(part, ast.Slice):
            a.expression(inner.lower, part.lower)
            a.expression(inner.upper, part.upper)
            a.expression(inner.step, part.step)


def _lambda(a: Alignment, code: cst.Lambda, tree: ast.Lambda) -> None:
    _parameters(a, code.params, tree.args)
    a.expression(code.body, tree.body)


def _parameters(a: Alignment, code: cst.Parameters, tree: ast.arguments) -> None:
    positional = [*code.posonly_params, *code.params]
    names = [*tree.posonlyargs, *tree.args]
    for param, arg in _pairs(positional, names):
        _parameter(a, param, arg)
    with_default = [param for param in positional if param.default is not None]
    for param, default in _pairs(with_default, tree.defaults):
        a.expression(param.default, default)
    for param, arg, kw_default in zip(code.kwonly_params, tree.kwonlyargs, tree.kw_defaults, strict=True):
        _parameter(a, param, arg)
        a.expression(param.default, kw_default)
    if isinstance(code.star_arg, cst.Param) and tree.vararg is not None:
        _parameter(a, code.star_arg, tree.vararg)
    if code.star_kwarg is not None and tree.kwarg is not None:
        _parameter(a, code.star_kwarg, tree.kwarg)


def _parameter(a: Alignment, code: cst.Param, tree: ast.AST) -> None:
    a._tree_of[id(code)] = tree
    a._code_of[tree] = code
    if code.annotation is not None:
        a.expression(code.annotation.annotation, getattr(tree, "annotation", None))


def _comprehension(a: Alignment, code: cst.BaseSimpleComp, tree: Any) -> None:
    a.expression(code.elt, tree.elt)
    _generators(a, code.for_in, tree.generators)


def _dict_comp(a: Alignment, code: cst.DictComp, tree: ast.DictComp) -> None:
    a.expression(code.key, tree.key)
    a.expression(code.value, tree.value)
    _generators(a, code.for_in, tree.generators)


def _generators(a: Alignment, code: cst.CompFor | None, generators: list[ast.comprehension]) -> None:
    for generator in generators:
        if code is None:
            raise InternalError("the two parsers disagree about a comprehension")
        a.expression(code.target, generator.target)
        a.expression(code.iter, generator.iter)
        for condition, test in _pairs(code.ifs, generator.ifs):
            a.expression(condition.test, test)
        code = code.inner_for_in


def _await(a: Alignment, code: cst.Await, tree: ast.Await) -> None:
    a.expression(code.expression, tree.value)


def _yield(a: Alignment, code: cst.Yield, tree: ast.Yield | ast.YieldFrom) -> None:
    value = code.value.item if isinstance(code.value, cst.From) else code.value
    a.expression(value, tree.value)


def _named(a: Alignment, code: cst.NamedExpr, tree: ast.NamedExpr) -> None:
    a.expression(code.target, tree.target)
    a.expression(code.value, tree.value)


def _formatted(a: Alignment, code: cst.FormattedString | cst.ConcatenatedString, tree: ast.AST) -> None:
    """Match the ``{...}`` of f-strings in order; literal parts differ in how both trees cut them."""
    codes = list(_format_parts(code))
    trees = list(_format_values(tree))
    if len(codes) == len(trees):
        for part, value in zip(codes, trees, strict=True):
            a.expression(part.expression, value.value)


def _format_parts(code: cst.CSTNode) -> Iterator[cst.FormattedStringExpression]:
    if isinstance(code, cst.ConcatenatedString):
        yield from _format_parts(code.left)
        yield from _format_parts(code.right)
    elif isinstance(code, cst.FormattedString):
        for part in code.parts:
            if isinstance(part, cst.FormattedStringExpression):
                yield part
                for inner in part.format_spec or ():
                    if isinstance(inner, cst.FormattedStringExpression):
                        yield inner


def _format_values(tree: ast.AST) -> Iterator[ast.FormattedValue]:
    if isinstance(tree, ast.JoinedStr):
        for value in tree.values:
            if isinstance(value, ast.FormattedValue):
                yield value
                if value.format_spec is not None:
                    yield from _format_values(value.format_spec)


_EXPRESSIONS: dict[type[cst.CSTNode], Matcher] = {
    cst.Attribute: _attribute,
    cst.Call: _call,
    cst.BinaryOperation: _binary,
    cst.UnaryOperation: _unary,
    cst.BooleanOperation: _boolean,
    cst.Comparison: _comparison,
    cst.IfExp: _if_exp,
    cst.Tuple: _display,
    cst.List: _display,
    cst.Set: _display,
    cst.Dict: _dict,
    cst.Subscript: _subscript,
    cst.Lambda: _lambda,
    cst.GeneratorExp: _comprehension,
    cst.ListComp: _comprehension,
    cst.SetComp: _comprehension,
    cst.DictComp: _dict_comp,
    cst.Await: _await,
    cst.Yield: _yield,
    cst.NamedExpr: _named,
    cst.FormattedString: _formatted,
    cst.ConcatenatedString: _formatted,
}


# ---- statements


def _expr(a: Alignment, code: cst.Expr, tree: ast.Expr) -> None:
    a.expression(code.value, tree.value)


def _assign(a: Alignment, code: cst.Assign, tree: ast.Assign) -> None:
    for target, part in _pairs(code.targets, tree.targets):
        a.expression(target.target, part)
    a.expression(code.value, tree.value)


def _aug_assign(a: Alignment, code: cst.AugAssign, tree: ast.AugAssign) -> None:
    a.expression(code.target, tree.target)
    a.expression(code.value, tree.value)


def _ann_assign(a: Alignment, code: cst.AnnAssign, tree: ast.AnnAssign) -> None:
    a.expression(code.target, tree.target)
    a.expression(code.annotation.annotation, tree.annotation)
    a.expression(code.value, tree.value)


def _return(a: Alignment, code: cst.Return, tree: ast.Return) -> None:
    a.expression(code.value, tree.value)


def _raise(a: Alignment, code: cst.Raise, tree: ast.Raise) -> None:
    a.expression(code.exc, tree.exc)
    if code.cause is not None:
        a.expression(code.cause.item, tree.cause)


def _assert(a: Alignment, code: cst.Assert, tree: ast.Assert) -> None:
    a.expression(code.test, tree.test)
    a.expression(code.msg, tree.msg)


def _delete(a: Alignment, code: cst.Del, tree: ast.Delete) -> None:
    if len(tree.targets) == 1 and not (
        isinstance(code.target, cst.Tuple) and not isinstance(tree.targets[0], ast.Tuple)
    ):
        a.expression(code.target, tree.targets[0])
    elif isinstance(code.target, cst.Tuple):
        a.expressions(code.target.elements, tree.targets)


def _function(a: Alignment, code: cst.FunctionDef, tree: ast.FunctionDef) -> None:
    _decorators(a, code.decorators, tree.decorator_list)
    _parameters(a, code.params, tree.args)
    if code.returns is not None:
        a.expression(code.returns.annotation, tree.returns)
    a.block(code.body, tree.body)


def _class(a: Alignment, code: cst.ClassDef, tree: ast.ClassDef) -> None:
    _decorators(a, code.decorators, tree.decorator_list)
    for arg, base in zip(code.bases, tree.bases, strict=True):
        a.expression(arg.value, base.value if isinstance(base, ast.Starred) else base)
    for arg, keyword in zip(code.keywords, tree.keywords, strict=True):
        a.expression(arg.value, keyword.value)
    a.block(code.body, tree.body)


def _decorators(a: Alignment, codes: Sequence[cst.Decorator], trees: list[ast.expr]) -> None:
    for decorator, tree in _pairs(codes, trees):
        a.expression(decorator.decorator, tree)


def _if(a: Alignment, code: cst.If, tree: ast.If) -> None:
    a.expression(code.test, tree.test)
    a.block(code.body, tree.body)
    if isinstance(code.orelse, cst.If):
        a.statement(code.orelse, tree.orelse[0])
    elif code.orelse is not None:
        a.block(code.orelse.body, tree.orelse)


def _for(a: Alignment, code: cst.For, tree: ast.For) -> None:
    a.expression(code.target, tree.target)
    a.expression(code.iter, tree.iter)
    a.block(code.body, tree.body)
    if code.orelse is not None:
        a.block(code.orelse.body, tree.orelse)


def _while(a: Alignment, code: cst.While, tree: ast.While) -> None:
    a.expression(code.test, tree.test)
    a.block(code.body, tree.body)
    if code.orelse is not None:
        a.block(code.orelse.body, tree.orelse)


def _with(a: Alignment, code: cst.With, tree: ast.With) -> None:
    for item, part in zip(code.items, tree.items, strict=True):
        a._tree_of[id(item)] = part
        a._code_of[part] = item
        a.expression(item.item, part.context_expr)
        if item.asname is not None:
            a.expression(item.asname.name, part.optional_vars)
    a.block(code.body, tree.body)


def _try(a: Alignment, code: cst.Try, tree: ast.Try) -> None:
    a.block(code.body, tree.body)
    for handler, part in zip(code.handlers, tree.handlers, strict=True):
        a._tree_of[id(handler)] = part
        a._code_of[part] = handler
        a.expression(handler.type, part.type)
        a.block(handler.body, part.body)
    if code.orelse is not None:
        a.block(code.orelse.body, tree.orelse)
    if code.finalbody is not None:
        a.block(code.finalbody.body, tree.finalbody)


def _match(a: Alignment, code: cst.Match, tree: Any) -> None:
    a.expression(code.subject, tree.subject)
    for case, part in zip(code.cases, tree.cases, strict=True):
        _pattern(a, case.pattern, part.pattern)
        a.expression(case.guard, part.guard)
        a.block(case.body, part.body)


def _pattern(a: Alignment, code: Any, tree: Any) -> None:
    """Match the expressions in a pattern: classes, values and keys."""
    if isinstance(code, cst.MatchValue):
        a.expression(code.value, tree.value)
    elif isinstance(code, cst.MatchAs) and code.pattern is not None:
        _pattern(a, code.pattern, tree.pattern)
    elif isinstance(code, cst.MatchOr):
        _patterns(a, [element.pattern for element in code.patterns], tree.patterns)
    elif isinstance(code, cst.MatchSequence):
        _patterns(a, [getattr(element, "value", None) for element in code.patterns], tree.patterns)
    elif isinstance(code, cst.MatchMapping):
        for element, key in _pairs(code.elements, tree.keys):
            a.expression(element.key, key)
        _patterns(a, [element.pattern for element in code.elements], tree.patterns)
    elif isinstance(code, cst.MatchClass):
        a.expression(code.cls, tree.cls)
        _patterns(a, [element.value for element in code.patterns], tree.patterns)
        _patterns(a, [element.pattern for element in code.kwds], tree.kwd_patterns)


def _patterns(a: Alignment, codes: Sequence[Any], trees: Sequence[ast.AST]) -> None:
    for code, tree in _pairs(codes, trees):
        _pattern(a, code, tree)


_STATEMENTS: dict[type[cst.CSTNode], Matcher] = {
    cst.Expr: _expr,
    cst.Assign: _assign,
    cst.AugAssign: _aug_assign,
    cst.AnnAssign: _ann_assign,
    cst.Return: _return,
    cst.Raise: _raise,
    cst.Assert: _assert,
    cst.Del: _delete,
    cst.FunctionDef: _function,
    cst.ClassDef: _class,
    cst.If: _if,
    cst.For: _for,
    cst.While: _while,
    cst.With: _with,
    cst.Try: _try,
    cst.TryStar: _try,
    cst.Match: _match,
}
