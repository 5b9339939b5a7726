"""An optimizer's parameter groups, with learning rates that read as numbers and are set where the optimizer looks.

``optimizer.param_groups[0]["lr"]`` of ``mindspore.experimental.optim`` is a Parameter: it cannot be formatted, and
another value put into the group is seen neither by schedulers nor, when it is a tensor, by the optimizer.
"""

from __future__ import annotations

from typing import Any, Dict, Iterable, Iterator, List, Mapping, MutableMapping

import mindspore as ms
import numpy as np
from mindspore import ops

__all__ = ["ParameterGroup", "defaults", "param_groups", "put"]


def _number(value: Any) -> float:
    """Return a float32 scalar as the shortest number that rounds to it."""
    array = value.asnumpy() if isinstance(value, ms.Tensor) else np.asarray(value)
    return float(str(np.float32(array))) if array.dtype == np.float32 else float(array)


# What PyTorch's groups hold besides, in its order; these choose between kernels, of which MindSpore has one.
_ADAM = "lr betas eps weight_decay amsgrad maximize foreach capturable differentiable fused decoupled_weight_decay"
_SETTINGS: Dict[str, List[str]] = {
    name: settings.split()
    for name, settings in {
        "SGD": "lr momentum dampening weight_decay nesterov maximize foreach differentiable fused",
        "Adam": _ADAM,
        "SparseAdam": "lr betas eps maximize",
        "AdamW": _ADAM,
        "RMSprop": "lr momentum alpha eps centered weight_decay capturable foreach maximize differentiable",
        "Adagrad": "lr lr_decay eps weight_decay initial_accumulator_value foreach maximize differentiable fused",
        "Adadelta": "lr rho eps weight_decay maximize capturable foreach differentiable",
        "Adamax": "lr betas eps weight_decay foreach maximize differentiable capturable",
        "NAdam": "lr betas eps weight_decay momentum_decay decoupled_weight_decay maximize foreach capturable "
        "differentiable",
        "RAdam": "lr betas eps weight_decay maximize foreach capturable decoupled_weight_decay differentiable",
        "Rprop": "lr etas step_sizes foreach maximize differentiable capturable",
        "Adafactor": "lr beta2_decay eps d weight_decay foreach maximize",
        "LBFGS": "lr max_iter max_eval tolerance_grad tolerance_change history_size line_search_fn",
        "ASGD": "lr lambd alpha t0 weight_decay foreach maximize differentiable capturable",
    }.items()
}
_INERT: Dict[str, Any] = {"foreach": None, "fused": None, "capturable": False, "differentiable": False}
_FOLLOWED = frozenset(["maximize", "decoupled_weight_decay"])  # what an update does otherwise, if it can

# PyTorch's defaults of these are the int 0
_ZERO = frozenset(["weight_decay", "lr_decay", "momentum", "dampening", "initial_accumulator_value"])


def _read(name: str, value: Any, default: Any = 0) -> Any:
    """Return a setting as PyTorch has it; ``default`` is what the optimizer was made with."""
    if name == "lr" or (isinstance(value, ms.Tensor) and value.ndim == 0):  # a scheduler keeps "initial_lr" as well
        return _number(value)
    return 0 if name in _ZERO and isinstance(value, float) and value == 0 and default == 0 else value


def _complete(optimizer: Any, held: Mapping[str, Any]) -> Dict[str, Any]:
    """Return the settings of a group, those that PyTorch has besides among them, in PyTorch's order."""
    kind = next((cls.__name__ for cls in type(optimizer).__mro__ if cls.__name__ in _SETTINGS), "")
    inert = {**_INERT, "maximize": False, "decoupled_weight_decay": kind == "AdamW"}
    known = [name for name in _SETTINGS.get(kind, []) if name in held or name in inert]
    # MindSpore's own settings, which PyTorch's groups of this kind do not hold, are not shown
    own = {*optimizer.defaults, "weight_decay"}.difference(known) if kind else ()
    names = dict.fromkeys([*_given(list(held), list(optimizer.defaults)), *known, *held])
    return {name: held[name] if name in held else inert[name] for name in names if name not in own}


def _given(names: List[str], defaults: List[str]) -> List[str]:
    """Return the settings that a group was given: those that it has by default stand behind them, in their order."""
    for start, first in enumerate(names):
        places = [defaults.index(name) for name in names[start:] if name in defaults]
        if first in defaults and places == sorted(places):
            return names[:start]
    return []


def _like(held: Any, value: Any) -> Any:
    """Return a setting in the type that the update wants, which is the one it was made with."""
    if isinstance(held, float) and type(value) is int:
        return float(value)
    if isinstance(held, tuple) and isinstance(value, (tuple, list)):
        return tuple(_like(old, new) for old, new in zip(held, value))
    return value


class ParameterGroup(MutableMapping[str, Any]):
    """One group: its settings by name. What is set here holds from the next step on."""

    def __init__(self, optimizer: Any, index: int) -> None:
        self._optimizer, self._index = optimizer, index

    @property
    def _group(self) -> Dict[str, Any]:
        return self._optimizer.param_groups[self._index]  # type: ignore[no-any-return]

    def __getitem__(self, name: str) -> Any:
        held = self._group if name in self._group else _complete(self._optimizer, self._group)
        return _read(name, held[name], self._optimizer.defaults.get(name, 0))

    def __setitem__(self, name: str, value: Any) -> None:
        if name == "lr":
            ops.assign(self._optimizer.lrs[self._index], ms.Tensor(_number(value), ms.float32))
            return
        if name == "params":
            raise ValueError("the parameters of an optimizer cannot be exchanged: make a new one")
        held = self._group.get(name)
        if name in _FOLLOWED and held is None and name in self and bool(self[name]) != bool(value):
            raise ValueError(f"{type(self._optimizer).__name__} of MindSpore cannot be given {name}={value}")
        if name == "initial_lr":  # schedulers of MindSpore compute with it
            value = ms.Tensor(_number(value), ms.float32)
        self._group[name] = _like(held, value)

    def restore(self, saved: Mapping[str, Any]) -> None:
        """Take over all settings of a saved group, but its parameters; what it does not have goes.

        Raises ValueError for the group of another kind of optimizer: it lacks a number. Switches came with releases.
        """
        needed = [name for name in self if name in self._optimizer.defaults and not isinstance(self[name], bool)]
        if missing := [name for name in needed if name not in saved and self[name] is not None]:
            kind = type(self._optimizer).__name__
            raise ValueError(f"the optimizer state does not fit {kind}: its groups have no {', '.join(missing)}")
        for name in [name for name in self._group if name not in (*saved, *self._optimizer.defaults, "lr")]:
            del self._group[name]
        for name, value in saved.items():
            if name != "params":
                self[name] = value

    def __delitem__(self, name: str) -> None:
        del self._group[name]

    def __iter__(self) -> Iterator[str]:
        return iter(_complete(self._optimizer, self._group))

    def __len__(self) -> int:
        return len(_complete(self._optimizer, self._group))

    def __repr__(self) -> str:
        return repr(dict(self))


def param_groups(optimizer: Any) -> List[ParameterGroup]:
    """Return the parameter groups of an optimizer of ``mindspore.experimental.optim``.

    An optimizer of the program's own may have taken over those of the one it holds. What another object calls its
    groups is given as it is.
    """
    groups: Any = optimizer.param_groups
    if not isinstance(groups, (list, tuple)) or not all(_is_of_mindspore(group) for group in groups):
        return list(groups) if _are_groups(groups) else groups
    return [ParameterGroup(optimizer, index) for index in range(len(groups))]


def _is_of_mindspore(group: Any) -> bool:
    return isinstance(group, dict) and isinstance(group.get("lr"), (ms.Tensor, ms.Parameter))


def _are_groups(groups: Any) -> bool:
    return isinstance(groups, list) and bool(groups) and all(isinstance(group, ParameterGroup) for group in groups)


def put(optimizer: Any, groups: Iterable[Mapping[str, Any]]) -> None:
    """Give an optimizer the settings of these groups, which are its own or have the same parameters.

    Raises ValueError where they have others, and for the groups of another optimizer, whose changes it would not see.
    """
    given, own = list(groups), param_groups(optimizer)
    if len(given) != len(own):
        raise ValueError(f"an optimizer with {len(own)} parameter groups cannot be given {len(given)}")
    for group, new in zip(own, given):
        if isinstance(new, ParameterGroup):
            if new._group is not group._group:
                raise ValueError("an optimizer cannot share the parameter groups of another: set what they hold")
            continue
        if [id(weight) for weight in new["params"]] != [id(weight) for weight in group["params"]]:
            raise ValueError("the parameters of an optimizer cannot be exchanged: make a new one")
        for name, value in new.items():
            if name != "params":
                group[name] = value


def defaults(optimizer: Any) -> Dict[str, Any]:
    """Return the settings that an optimizer was made with, by name."""
    return {name: _read(name, value) for name, value in _complete(optimizer, optimizer.defaults).items()}
