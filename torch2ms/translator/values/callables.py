"""Functions without a name, and what iterating gives: ``map(lambda x: ..., xs)``, a loader's batches."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from torch2ms.translator.values.builtin_calls import literal_name
from torch2ms.translator.values.containers import batch_of, common, element_of
from torch2ms.translator.values.kinds import UNKNOWN, Kind, candidates, join
from torch2ms.translator.values.scopes import uses_of

if TYPE_CHECKING:
    from torch2ms.translator.values.world import World

__all__ = ["Callables"]


class Callables:
    """Runs lambdas with what they are called with; Expressions adds the rest."""

    world: World
    env: dict[str, Kind]
    handed: dict[ast.Lambda, list[Kind]]  # to lambdas, by their calls
    lambdas: dict[str, ast.Lambda]  # bound to a name

    def expr(self, node: ast.expr) -> Kind:
        """Return and record the kind of an expression (Expressions)."""
        raise NotImplementedError

    def scope(self) -> tuple[dict[str, Kind], dict[str, Kind]]:
        """Open a scope of its own (Expressions)."""
        raise NotImplementedError

    def restore(self, saved: tuple[dict[str, Kind], dict[str, Kind]]) -> None:
        """Close a scope (Expressions)."""
        raise NotImplementedError

    def _api_result(self, callee: Kind, arguments: list[Kind]) -> Kind:
        """Return the kind of what a function of torch gives (Expressions)."""
        raise NotImplementedError

    def iterated(self, kind: Kind) -> Kind:
        """Return what iterating over a value gives; a loader gives the elements of its dataset in batches."""
        if kind.name == "DataLoader" and kind.items and kind.items[0].name == "function":
            made = common([self.world.returns(key) for key in candidates(kind.items[0])])
            return made if made.known else element_of(kind)
        if kind.name == "DataLoader" and kind.items and ":" in kind.items[0].of:
            methods = [self.world.method(key, "__getitem__") for key in candidates(kind.items[0])]
            rows = [self.world.returns(method) for method in methods if method is not None]
            return batch_of(common(rows)) if rows else element_of(kind)
        if kind.name == "dict":
            return Kind("str") if kind.of else UNKNOWN  # its keys
        return element_of(kind)

    def run_lambda(self, node: ast.Lambda, given: list[Kind]) -> Kind:
        """Return what a lambda gives; what several calls hand over is joined."""
        saved = self.scope()
        before = self.handed.get(node, [])
        kinds = [join(a, b) for a, b in zip(before, given, strict=False)] if before else given
        if given:
            self.handed[node] = kinds
        for position, arg in enumerate([*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]):
            kind = kinds[position] if position < len(kinds) else UNKNOWN
            if not kind.known:
                uses = uses_of(node.body).get(arg.arg)
                kind = self.world.evidence.of_uses(uses) if uses is not None else UNKNOWN
            self.env[arg.arg] = kind
        result = self.expr(node.body)
        self.restore(saved)
        return result

    def called_lambda(self, node: ast.Call, arguments: list[Kind]) -> Kind | None:
        """Return what a call of a lambda gives, or of a function that calls one on each element of something."""
        if isinstance(node.func, ast.Lambda):
            return self.run_lambda(node.func, arguments)
        if isinstance(node.func, ast.Name) and node.func.id in self.lambdas:
            return self.run_lambda(self.lambdas[node.func.id], arguments)
        name = literal_name(node.func)
        if name in ("map", "filter") and len(node.args) == 2:
            element = self.iterated(arguments[1])
            function, made = node.args[0], UNKNOWN
            if isinstance(function, ast.Lambda):
                made = self.run_lambda(function, [element])
            elif arguments[0].name == "function":
                made = common([self.world.returns(key) for key in candidates(arguments[0])])
            elif arguments[0].name == "api":
                made = self._api_result(arguments[0], [element])
            return Kind("iterator", items=(made if name == "map" else element,))
        key = next((k.value for k in node.keywords if k.arg == "key"), None)
        if isinstance(key, ast.Lambda) and name in ("sorted", "max", "min") and arguments:
            self.run_lambda(key, [self.iterated(arguments[0])])
        return None
