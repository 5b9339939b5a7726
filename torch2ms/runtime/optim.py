"""Build optimizers from a configuration, and save and restore their state.

The numbers are PyTorch's: ``mindspore.experimental.optim`` follows its formulas, and :mod:`.adam` does for Adam;
:mod:`.sgd` has them sooner.
MindSpore 2.0 does not have that module; there SGD and Adam come from ``mindspore.nn``, and others are refused.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, Iterable, List, Mapping, Sequence, Tuple, Union

import mindspore as ms
import numpy as np
from mindspore import nn, ops

from .groups import param_groups
from .optimizer_state import OptimizerState

try:
    from mindspore.experimental import optim as _optim
except ImportError:  # MindSpore 2.0
    _optim = None

__all__ = [
    "create_optimizer",
    "get_lr",
    "group_parameters",
    "load_state_dict",
    "numeric_options",
    "set_lr",
    "state_dict",
    "step",
]


def group_parameters(
    network: nn.Cell, weight_decay: float, skip: Sequence[str] = ("beta", "gamma", "bias")
) -> List[Dict[str, Any]]:
    """Return two parameter groups: with ``weight_decay``, and without it (normalisation parameters and biases).

    ``skip``: last parts of the names that are left without decay.
    """
    decayed: List[ms.Parameter] = []
    plain: List[ms.Parameter] = []
    for parameter in network.trainable_params():
        (plain if parameter.name.rsplit(".", 1)[-1] in skip else decayed).append(parameter)
    groups = [{"params": decayed, "weight_decay": weight_decay}, {"params": plain, "weight_decay": 0.0}]
    return [group for group in groups if group["params"]]


_TUNING = frozenset({"foreach", "fused", "capturable", "differentiable"})


def numeric_options(options: Mapping[str, Any]) -> Dict[str, Any]:
    """Return the options of an optimizer without those that only say how PyTorch's kernels are to compute."""
    return {name: value for name, value in options.items() if name not in _TUNING}


def create_optimizer(name: str, parameters: Iterable[Any], **options: Any) -> Any:
    """Return the optimizer ``name`` ("SGD", "Adam", "AdamW", ...) over ``parameters`` (or groups of them).

    ``options`` are those of ``mindspore.experimental.optim``: ``lr``, ``weight_decay``, ``momentum``, ``betas``, ...
    Raises ValueError for an unknown name, or, in MindSpore 2.0, one without an equivalent.
    """
    if _optim is None:
        return _create_classic(name, list(parameters), dict(options))
    if name not in _names():
        raise ValueError(f"unknown optimizer {name!r}: choose one of {', '.join(_names())}")
    if "betas" in options:
        options["betas"] = tuple(options["betas"])
    return getattr(_better(name) or _optim, name)(list(parameters), **options)


def _better(name: str) -> Any:
    """Return the module with an optimizer of the runtime's own, which MindSpore 2.0 cannot import; None for others."""
    from . import adam, sgd

    return {"Adam": adam, "SGD": sgd}.get(name)


def _names() -> List[str]:
    return [name for name in dir(_optim) if name[0].isupper() and name != "Optimizer"]


def _create_classic(name: str, parameters: List[Any], options: Dict[str, Any]) -> Any:
    lr = options.pop("lr")
    if name == "SGD":
        options.setdefault("momentum", 0.0)
        return nn.SGD(parameters, learning_rate=lr, **options)
    if name == "Adam":
        beta1, beta2 = options.pop("betas", (0.9, 0.999))
        return nn.Adam(parameters, learning_rate=lr, beta1=beta1, beta2=beta2, **options)
    raise ValueError(f"MindSpore {ms.__version__} has no {name} that follows PyTorch's formula: use 2.1 or newer")


def step(optimizer: Any, closure: Callable[[], Tuple[Any, Sequence[ms.Tensor]]]) -> Any:
    """Make one step of any optimizer and return the loss before it.

    ``closure`` returns the loss and the gradients in the order of ``optimizer.parameters``; an optimizer with a
    ``step`` of its own (:class:`.lbfgs.LBFGS`) calls it several times, the others take the gradients of one call.
    """
    own = getattr(optimizer, "step", None)
    if callable(own):
        return own(closure)
    loss, grads = closure()
    optimizer(grads)
    return loss


def get_lr(optimizer: Any) -> float:
    """Return the learning rate of the first parameter group."""
    value = optimizer.lrs[0] if hasattr(optimizer, "lrs") else optimizer.learning_rate
    return float(value.asnumpy())


def set_lr(optimizer: Any, lr: Union[float, Sequence[float]]) -> None:
    """Set the learning rate of all parameter groups, or one for each."""
    targets = list(optimizer.lrs) if hasattr(optimizer, "lrs") else [optimizer.learning_rate]
    values = [lr] * len(targets) if isinstance(lr, (int, float)) else list(lr)
    for target, value in zip(targets, values):
        ops.assign(target, ms.Tensor(float(value), ms.float32))


def _slots(optimizer: Any) -> Dict[str, ms.Parameter]:
    """Return the optimizer's own parameters (moments, counters, learning rates) under names that a new one has too."""
    seen = {id(parameter) for parameter in optimizer.parameters}
    slots: Dict[str, ms.Parameter] = {}
    unused = "" if any(group.get("amsgrad") for group in getattr(optimizer, "param_groups", [])) else "max_exp_avg_sq"
    for attribute, value in _attributes(optimizer):
        for index, member in enumerate([value] if isinstance(value, ms.Parameter) else value):
            if isinstance(member, ms.Parameter) and id(member) not in seen and attribute != unused:
                slots[f"{attribute}.{index}"] = member
                seen.add(id(member))
    for index, group in enumerate(getattr(optimizer, "param_groups", [])):
        for key, value in group.items():  # a group's own moments (amsgrad of added groups)
            for place, member in enumerate(value if isinstance(value, (tuple, list)) else [value]):
                if isinstance(member, ms.Parameter) and id(member) not in seen:
                    slots[f"group{index}.{key}.{place}"] = member
                    seen.add(id(member))
    return slots


def _attributes(optimizer: Any) -> List[Tuple[str, Any]]:
    """Return the attributes that hold parameters, tuples first: a Cell lists their members once more by name."""
    own = {name: value for name, value in vars(optimizer).items() if isinstance(value, (tuple, list, ms.Parameter))}
    own.update(getattr(optimizer, "_params_list", {}))
    single = {name: value for name, value in getattr(optimizer, "_params", {}).items() if "." not in name}
    return sorted(own.items()) + sorted(single.items())


class _Arrays:
    """What an optimizer keeps whose state has no names in PyTorch, as arrays under MindSpore's names."""

    def __init__(self, optimizer: Any) -> None:
        self._optimizer = optimizer

    def numbered(self) -> Dict[Any, Any]:
        """Return copies of the moments, counters and learning rates."""
        return {name: parameter.asnumpy().copy() for name, parameter in _slots(self._optimizer).items()}

    def load_numbered(self, arrays: Mapping[Any, Any]) -> None:
        """Go back to what :meth:`numbered` told. Raises ValueError where it belongs to another kind of optimizer."""
        slots, name = _slots(self._optimizer), type(self._optimizer).__name__
        if odd := sorted(map(str, set(slots) ^ set(arrays))):
            raise ValueError(f"the optimizer state does not fit {name}: {', '.join(odd[:5])}")
        for key, parameter in slots.items():
            array = np.asarray(arrays[key])
            if tuple(array.shape) != tuple(parameter.shape):
                raise ValueError(f"the optimizer state does not fit: {key} is {array.shape}, not {parameter.shape}")
            ops.assign(parameter, ms.Tensor(array).astype(parameter.dtype))


def _memory(optimizer: Any) -> Any:
    """Return what tells, and takes back, what an optimizer keeps of its parameters."""
    if hasattr(optimizer, "load_numbered"):
        return optimizer
    return OptimizerState(optimizer) if OptimizerState.knows(optimizer) else _Arrays(optimizer)


def state_dict(optimizer: Any) -> Dict[str, Any]:
    """Return the state as PyTorch lays it out: ``state``, and the settings of the ``param_groups`` as plain numbers.

    ``state`` holds what the optimizer keeps of each parameter by the parameter's number, under PyTorch's names where
    they are known, else arrays under MindSpore's; ``params`` are the numbers of parameters.
    """
    if not hasattr(optimizer, "param_groups"):  # one of ``mindspore.nn``: MindSpore 2.0 has no others
        return _Arrays(optimizer).numbered()
    groups: List[Dict[str, Any]] = []
    first = 0
    for group in param_groups(optimizer):
        count = len(group["params"])
        settings = {name: value for name, value in group.items() if name != "params" and not _holds_parameters(value)}
        groups.append({**settings, "params": list(range(first, first + count))})
        first += count
    return {"state": _memory(optimizer).numbered(), "param_groups": groups}


def _holds_parameters(value: Any) -> bool:
    return any(isinstance(one, ms.Parameter) for one in (value if isinstance(value, (tuple, list)) else [value]))


def load_state_dict(optimizer: Any, state: Mapping[str, Any]) -> None:
    """Go back to a state of :func:`state_dict`, or of one that PyTorch wrote: the moments, and all settings.

    Raises ValueError where it belongs to another kind of optimizer, or has other groups of parameters.
    """
    if not hasattr(optimizer, "param_groups"):
        _Arrays(optimizer).load_numbered(state)
        return
    groups, saved = param_groups(optimizer), state["param_groups"]
    if len(groups) != len(saved):
        raise ValueError("loaded state dict has a different number of parameter groups")
    if any(len(group["params"]) != len(kept["params"]) for group, kept in zip(groups, saved)):
        raise ValueError("loaded state dict contains a parameter group with another number of parameters")
    for group, kept in zip(groups, saved):
        group.restore(kept)
    _memory(optimizer).load_numbered(state["state"])
