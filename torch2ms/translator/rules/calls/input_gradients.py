"""The gradient of a network's output by its input that is differentiated again: the penalty of WGAN-GP.

PyNative forgets parts of second derivatives (see ``LeafUnit.loses_second_derivatives``), graph mode does not. Where a
unit is no more than one call of a network, the runtime compiles the network's gradient, once.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from torch2ms.translator.context import Context
from torch2ms.translator.effects.output_arguments import is_ones
from torch2ms.translator.syntax.ast_walk import walk
from torch2ms.translator.training.leaf_model import LeafUnit

__all__ = ["NetworkInput", "is_network", "network_input"]


@dataclass(frozen=True, slots=True)
class NetworkInput:
    """``network(*inputs)``: which input the gradient is by, and what the output is weighed with."""

    call: ast.Call
    place: int
    seed: ast.expr | None  # None: ones


def network_input(unit: LeafUnit, ctx: Context) -> NetworkInput | None:
    """Return what a unit is if it is one call of a network, whose gradient by an input is differentiated again."""
    if not unit.loses_second_derivatives or unit.is_backward or unit.weights or unit.network or unit.aux or unit.kept:
        return None
    call, name = _summed(unit), ""
    if unit.body:
        made = unit.body[0]
        if len(unit.body) > 1 or not isinstance(made, ast.Assign) or ast.unparse(made.targets[0]) != ast.unparse(call):
            return None
        call, name = made.value, ast.unparse(call)
    if not isinstance(call, ast.Call) or call.keywords or len(unit.tensors) != 1 or not is_network(call.func, ctx):
        return None
    if not all(isinstance(arg, (ast.Name, ast.Attribute, ast.Constant)) for arg in call.args):
        return None
    places = [index for index, arg in enumerate(call.args) if ast.unparse(arg) == unit.tensors[0]]
    if len(places) != 1:
        return None
    seed = None if unit.seed is None or is_ones(unit.seed) else unit.seed
    if seed is not None and any(isinstance(node, ast.Name) and node.id == name for node in walk(seed)):
        return None
    return NetworkInput(call, places[0], seed)


def _summed(unit: LeafUnit) -> ast.expr:
    """Return what is summed: ``out`` of ``out``, whose elements all count, and of ``out.sum()``."""
    loss = unit.loss
    if isinstance(loss, ast.Call) and isinstance(loss.func, ast.Attribute) and loss.func.attr == "sum":
        return loss.func.value if unit.seed is None and not loss.args and not loss.keywords else loss
    return loss


def is_network(func: ast.expr, ctx: Context) -> bool:
    """Whether what is called is a network, or of unknown kind: a parameter ``netD``, ``self.critic``."""
    if not isinstance(func, (ast.Name, ast.Attribute)):
        return False
    kind = ctx.kind(func)
    return kind.name == "Module" or (kind.name == "unknown" and not isinstance(getattr(func, "value", None), ast.Call))
