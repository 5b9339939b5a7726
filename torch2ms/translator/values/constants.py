"""Constants: the value an expression has when the program runs with its defaults, as far as the text shows it.

Follows names to their only assignment, parameters to their default or to the one value the project passes, and
``args.x`` to the default of its argparse option. Used for the checklist and the generated program, never for rewriting.
"""

from __future__ import annotations

import ast
import enum
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from torch2ms.translator.syntax.ast_walk import children, walk

__all__ = ["NOT_CONSTANT", "Constants"]


class _NotConstant(enum.Enum):
    """A marker that survives pickling as itself."""

    NOT_CONSTANT = enum.auto()


NOT_CONSTANT = _NotConstant.NOT_CONSTANT
MAX_DEPTH = 12


class Constants:
    """Evaluates expressions of one file with the values that its text fixes."""

    def __init__(self, tree: ast.Module, nodes: Sequence[ast.AST] = ()) -> None:
        self.tree = tree
        self._nodes = nodes or list(walk(tree))
        self._locals: dict[str, dict[str, ast.expr]] = {}

    # Most files ask for few of these: each is found when it is first asked for.

    @cached_property
    def options(self) -> dict[str, object]:
        """The defaults of the argparse options, by attribute."""
        return dict(_argparse_defaults(self._nodes))

    @cached_property
    def _module(self) -> dict[str, ast.expr]:
        return _single_assignments(self.tree.body)

    @cached_property
    def _functions(self) -> dict[str, ast.FunctionDef]:
        return {node.name: node for node in self._nodes if isinstance(node, ast.FunctionDef)}

    @cached_property
    def _owner(self) -> dict[ast.AST, str]:
        return {child: name for name, function in self._functions.items() for child in walk(function)}

    @cached_property
    def _calls(self) -> dict[str, list[ast.Call]]:
        found: dict[str, list[ast.Call]] = {}
        for node in self._nodes:
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                found.setdefault(node.func.id, []).append(node)
        return found

    def assigned(self, name: str, function: str) -> ast.expr | None:
        """Return the one expression assigned to a name in a function or in the module."""
        if function not in self._locals and function in self._functions:
            self._locals[function] = _single_assignments(self._functions[function].body)
        return self._locals.get(function, {}).get(name) or self._module.get(name)

    def resolve(self, node: ast.expr) -> ast.expr:
        """Return the expression a name stands for."""
        for _ in range(MAX_DEPTH):
            if not isinstance(node, ast.Name):
                break
            function = self._owner.get(node, "")
            found = self.assigned(node.id, function) or self._argument(node.id, function)
            if found is None:
                break
            node = found
        return node

    def value(self, node: ast.expr | None, depth: int = 0) -> object:
        """Return the value of an expression, or NOT_CONSTANT."""
        if node is None or depth > MAX_DEPTH:
            return NOT_CONSTANT
        try:
            return ast.literal_eval(node)
        except (ValueError, TypeError, SyntaxError, MemoryError):
            pass
        if isinstance(node, ast.Name):
            found = self.resolve(node)
            return (
                self.value(found, depth + 1) if found is not node and not isinstance(found, ast.Name) else NOT_CONSTANT
            )
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            return self.options.get(node.attr, NOT_CONSTANT)
        if isinstance(node, (ast.Tuple, ast.List)):
            values = [self.value(element, depth + 1) for element in node.elts]
            return NOT_CONSTANT if any(v is NOT_CONSTANT for v in values) else values
        if isinstance(node, ast.BinOp):
            return _arithmetic(node.op, self.value(node.left, depth + 1), self.value(node.right, depth + 1))
        return NOT_CONSTANT

    def _argument(self, name: str, function: str) -> ast.expr | None:
        """Return what every call in the file passes for a parameter, or its default."""
        node = self._functions.get(function)
        if node is None:
            return None
        names = [arg.arg for arg in node.args.args]
        if name not in names and name not in [arg.arg for arg in node.args.kwonlyargs]:
            return None
        passed: list[ast.expr] = []
        for call in self._calls.get(function, ()):
            keyword = next((k.value for k in call.keywords if k.arg == name), None)
            position = names.index(name) if name in names else len(call.args)
            if keyword is not None:
                passed.append(keyword)
            elif position < len(call.args):
                passed.append(call.args[position])
        if passed:
            return passed[0] if len({ast.unparse(p) for p in passed}) == 1 else None
        defaults: Mapping[str, ast.expr] = dict(zip(reversed(names), reversed(node.args.defaults), strict=False))
        return defaults.get(name)


def _arithmetic(op: ast.operator, left: object, right: object) -> object:
    if not isinstance(left, (int, float)) or not isinstance(right, (int, float)):
        return NOT_CONSTANT
    if isinstance(op, ast.Add):
        return left + right
    if isinstance(op, ast.Sub):
        return left - right
    if isinstance(op, ast.Mult):
        return left * right
    if isinstance(op, ast.Div) and right:
        return left / right
    if isinstance(op, ast.FloorDiv) and right:
        return left // right
    return NOT_CONSTANT


def _single_assignments(body: list[ast.stmt]) -> dict[str, ast.expr]:
    """Return the names that a body binds exactly once, by a plain assignment, with the value."""
    found: dict[str, ast.expr] = {}
    count: dict[str, int] = {}
    stack: list[ast.AST] = list(body)
    while stack:
        node = stack.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            continue
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            found[node.targets[0].id] = node.value
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            count[node.id] = count.get(node.id, 0) + 1
        stack.extend(children(node))
    return {name: value for name, value in found.items() if count.get(name) == 1}


def _argparse_defaults(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, object]]:
    """Yield (attribute of args, default) for every ``add_argument`` with a literal default."""
    for node in nodes:
        if not (
            isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "add_argument"
        ):
            continue
        names = [a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
        keywords = {k.arg: k.value for k in node.keywords if k.arg}
        if not names:
            continue
        long = next((n for n in names if n.startswith("--")), names[0])
        dest = keywords.get("dest")
        attribute = dest.value if isinstance(dest, ast.Constant) else long.lstrip("-").replace("-", "_")
        default = keywords.get("default")
        action = keywords.get("action")
        if default is not None:
            try:
                yield str(attribute), ast.literal_eval(default)
            except (ValueError, TypeError, SyntaxError):
                continue
        elif isinstance(action, ast.Constant) and action.value == "store_true":
            yield str(attribute), False
