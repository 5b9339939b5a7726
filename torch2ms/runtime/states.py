"""States and types of what may be a network, an optimizer, a tensor or an object of the program's own: it tells."""

from __future__ import annotations

from typing import Any

from mindspore import nn

from . import modules, optim, schedules

__all__ = ["load_state_dict", "of_type", "state_dict"]


def state_dict(target: Any, *args: Any, **options: Any) -> Any:
    """Return ``target.state_dict()`` as PyTorch has it: with its names for the weights of a network."""
    found = _functions(target)
    return target.state_dict(*args, **options) if found is None else found.state_dict(target, *args, **options)


def load_state_dict(target: Any, *args: Any, **options: Any) -> Any:
    """Load a state into ``target``, whatever it is; what it has of its own for that is called."""
    found = _functions(target)
    return (
        target.load_state_dict(*args, **options) if found is None else found.load_state_dict(target, *args, **options)
    )


def _functions(target: Any) -> Any:
    """Return the module with the functions for MindSpore's own classes; None for what has methods of its own."""
    bases = [base for base in type(target).__mro__ if base.__module__.startswith(("mindspore.", __package__))]
    names = {base.__name__ for base in bases}
    if any(base.__module__ == schedules.__name__ or base.__module__.endswith(".lr_scheduler") for base in bases):
        return schedules
    if not isinstance(target, nn.Cell) or not _keeps(type(target), "load_state_dict"):
        return None
    return optim if "Optimizer" in names else modules


def _keeps(own: type, method: str) -> bool:
    """Whether a network's class has no such method of its own."""
    return getattr(own, method, None) is getattr(nn.Cell, method, None)


def of_type(value: Any, dtype: Any) -> Any:
    """Return a tensor of another dtype, or a network whose weights are given it, as ``x.type(dtype)`` does.

    ``None`` leaves it as it is, as in ``x.to(dtype=None)``.
    """
    if dtype is None:
        return value
    return modules.cast(value, dtype) if isinstance(value, nn.Cell) else value.astype(dtype)
