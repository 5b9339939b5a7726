"""What recipes get and give."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from torch2ms.mapping_tables.schema import MappedTo, Row
from torch2ms.translator.syntax.argument_binding import BoundArgument, BoundCall
from torch2ms.translator.values.kinds import Kind

if TYPE_CHECKING:
    from torch2ms.translator.context import Context

__all__ = [
    "ASSERTED",
    "BY_NAME_ALONE",
    "DROPPED",
    "NO_CLASS",
    "RECIPES",
    "SPLAT_SAFE",
    "CallSite",
    "Leave",
    "Outcome",
    "Recipe",
    "Replace",
    "recipe",
]


@dataclass(frozen=True, slots=True)
class CallSite:
    """One call of a torch API: its row and target, both trees, its arguments, its receiver if it is a method."""

    row: Row
    option: MappedTo
    tree: ast.Call
    updated: cst.Call
    bound: BoundCall | None
    receiver: cst.BaseExpression | None = None
    receiver_kind: Kind | None = None

    @property
    def receiver_tree(self) -> ast.expr | None:
        """The receiver in the analysed tree."""
        return self.tree.func.value if self.receiver is not None and isinstance(self.tree.func, ast.Attribute) else None

    def argument(self, name: str) -> BoundArgument | None:
        """Return the argument bound to a parameter, or None."""
        return self.bound.get(name) if self.bound is not None else None


@dataclass(frozen=True, slots=True)
class Replace:
    """The call becomes ``code``; ``codes`` are the diagnostics to give, with their messages."""

    code: cst.BaseExpression
    codes: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Leave:
    """The call cannot be rewritten this way; ``message`` says why."""

    message: str


Outcome = Replace | Leave
Recipe = Callable[["CallSite", "Context"], Outcome]

RECIPES: dict[str, Recipe] = {}


SPLAT_SAFE: set[str] = set()  # recipes that may see calls with * and **
BY_NAME_ALONE: set[str] = set()  # recipes that look at no argument a * can hold


def recipe(name: str, *, takes_stars: bool = False, by_name_alone: bool = False) -> Callable[[Recipe], Recipe]:
    """Register a recipe under the name that rows use.

    ``takes_stars``: it handles ``f(*args, **kwargs)`` too. ``by_name_alone``: it looks only at arguments that have to
    be named, so that calls with a * are emitted as without the recipe.
    """

    def register(function: Recipe) -> Recipe:
        if name in RECIPES:
            raise ValueError(f"two recipes are called {name}")
        RECIPES[name] = function
        if takes_stars:
            SPLAT_SAFE.add(name)
        if by_name_alone:
            BY_NAME_ALONE.add(name)
        return function

    return register


ASSERTED = "assert"  # the name that is called in what becomes an assert statement: ``assert(condition, message)``


DROPPED = cst.Name("__dropped__")  # stands for a call whose statement goes


NO_CLASS = cst.Name("__no_class__")  # stands for a class that nothing is an instance of: a wrapper that goes
