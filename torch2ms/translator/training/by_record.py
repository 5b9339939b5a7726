"""Gradients that a program asks for and that no function holds: ``torch.autograd.grad(loss, weights)``, by a record.

Where the statements in front of the call show all that leads from its inputs to its outputs, they become a function
(``leaves.py``). Else MindSpore records the operations as they run, and ``recording.grad`` asks it, as torch does.
"""

from __future__ import annotations

import ast

__all__ = ["GRADIENT", "is_recordable", "may_keep_graph"]

GRADIENT = "torch.autograd.grad"


def is_recordable(call: ast.Call) -> bool:
    """Whether the record gives what a call asks for: a constant, not what is differentiated once more."""
    words = {keyword.arg: keyword.value for keyword in call.keywords}
    if None in words or any(isinstance(arg, ast.Starred) for arg in call.args):
        return False
    return not any(_is_set(words.get(name)) for name in ("create_graph", "is_grads_batched")) and len(call.args) < 5


def may_keep_graph(call: ast.Call) -> bool:
    """Whether it is decided when the program runs that a gradient is differentiated once more."""
    return any(word.arg == "create_graph" and not isinstance(word.value, ast.Constant) for word in call.keywords)


def _is_set(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Constant) and bool(value.value)
