"""Hooks that change a state dictionary before it is loaded: old names of weights, three of them joined in one.

MindSpore's own are given the state under MindSpore's names, and :func:`~.modules.load_state_dict` does not call them.
"""

from __future__ import annotations

import functools
from typing import Any, Callable, Dict, List

from mindspore import nn
from mindspore.common.hook_handle import HookHandle as RemovableHandle

from .names import parts

__all__ = ["RemovableHandle", "register_load_hook", "run_load_hooks"]

_HOOKS = "_torch2ms_load_hooks"


class _Handle(RemovableHandle):
    """Takes its hook away again."""

    def __init__(self, hooks: Dict[int, Callable[..., Any]], number: int) -> None:
        self._hooks, self._number = hooks, number

    def remove(self) -> None:
        """Take the hook away."""
        self._hooks.pop(self._number, None)


def register_load_hook(cell: nn.Cell, hook: Callable[..., Any], with_module: bool = False) -> _Handle:
    """Have ``hook(state_dict, prefix, metadata, strict, missing, unexpected, errors)`` called before a state is loaded.

    It is given the state under PyTorch's names, and may change it; ``with_module``: and the cell in front.
    """
    hooks = cell.__dict__.setdefault(_HOOKS, {})
    number = max(hooks, default=-1) + 1
    hooks[number] = functools.partial(hook, cell) if with_module else hook  # no closure: a copy hands itself over
    return _Handle(hooks, number)


def run_load_hooks(cell: nn.Cell, state: Dict[str, Any], strict: bool) -> List[str]:
    """Run the hooks of a network's parts on a state that is about to be loaded; return the errors that they tell."""
    errors: List[str] = []
    for path, part in parts(cell):
        for hook in list(part.__dict__.get(_HOOKS, {}).values()):
            hook(state, f"{path}." if path else "", {}, strict, [], [], errors)
    return errors
