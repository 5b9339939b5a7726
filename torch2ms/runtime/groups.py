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
        "ASGD": "lr lambd alpha t0 weight_decay foreach maximize differentiable capturable",
    }.items()
}
_INERT: Dict[str, Any] = {"foreach": None, "fused": None, "capturable": False, "differentiable": False}
_OWN = frozenset(["grad_centralization"])  # MindSpore's own, which PyTorch's groups do not hold

_ZERO = frozenset(["weight_decay", "lr_decay", "momentum", "dampening"])  # PyTorch's defaults of these are the int 0


def _read(name: str, value: Any, default: Any = 0) -> Any:
    """Return a setting as PyTorch has it; ``default`` is what the optimizer was made with."""
    if name == "lr" or (isinstance(value, ms.Tensor) and value.ndim == 0):  # a scheduler keeps "initial_lr" as well
        return _number(value)
    return 0 if name in _ZERO and isinstance(value, float) and value == 0 and default == 0 else value


def _complete(optimizer: Any, held: Mapping[str, Any]) -> Dict[str, Any]:
    """Return the settings of a group, those that PyTorch has besides among them, in PyTorch's order."""
    kind = next((cls.__name__ for cls in type(optimizer).__mro__ if cls.__name__ in _SETTINGS), "")
    inert = {**_INERT, "maximize": False, "decoupled_weight_decay": kind == "AdamW"}
    order = [name for name in _SETTINGS.get(kind, []) if name in held or name in inert]
    first = ["params"] if "params" in held else []
    rest = [name for name in held if name not in order and name != "params" and not (kind and _is_own(name, kind))]
    return {name: held[name] if name in held else inert[name] for name in [*first, *order, *rest]}


def _is_own(name: str, kind: str) -> bool:
    return name in _OWN or (name == "weight_decay" and name not in _SETTINGS[kind])


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
        self._group[name] = value

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
