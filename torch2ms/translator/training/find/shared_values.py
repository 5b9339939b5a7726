"""Values that two backward calls go through: where no graph is kept, they carry no gradients.

PyTorch frees a graph with the first backward call and refuses to go through it again. So a batch that one method call
gave, and that two losses are computed from, is data: whatever is not known of the call, the program would not run else.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from torch2ms.translator.training.find.differentiable import differentiable_reads
from torch2ms.translator.training.find.events import Event
from torch2ms.translator.training.find.gradient_flow import GradientFlow
from torch2ms.translator.training.find.scope import Scope
from torch2ms.translator.training.find.vocabulary import RETAINING

__all__ = ["find_used_twice"]


def find_used_twice(scope: Scope, flow: GradientFlow, backwards: Sequence[Event]) -> set[int]:
    """Return the ids of the statements whose values two backward calls of one round go through."""
    found: set[int] = set()
    plain = [event for event in backwards if event.target is not None and not event.problem and not _keeps(event.call)]
    for place, second in enumerate(plain):
        for first in plain[:place]:
            if all(guard in scope.guards(second.statement) for guard in scope.guards(first.statement)):
                both = _reached(scope, flow, first) & _reached(scope, flow, second)
                found |= {id(s) for s in scope.statements if id(s) in both and flow.is_in_doubt(s)}
    return found


def _keeps(call: ast.Call) -> bool:
    return any(word.arg in RETAINING for word in call.keywords)


def _reached(scope: Scope, flow: GradientFlow, event: Event) -> set[int]:
    """Return the ids of the statements that a loss is computed from, up to the innermost loop."""
    assert event.target is not None
    needed = differentiable_reads(event.target)
    place = scope.location(event.statement)
    found: set[int] = set()
    while True:
        block = place.block
        found |= {id(block[index]) for index in flow.demanded(block, range(place.index), needed)}
        parent = scope.location(block[0]).parent
        if parent is None or isinstance(parent, (ast.For, ast.AsyncFor, ast.While)):
            return found
        place = scope.location(parent)
