"""What an optimizer keeps of each parameter, under PyTorch's names: ``optimizer.state[p]["momentum_buffer"]``."""

from __future__ import annotations

import re
from typing import Any, Dict, Iterator, List, Mapping, Sequence, Tuple

import mindspore as ms
import numpy as np
from mindspore import ops

from .gradients import Optimizer
from .modules import distinct

__all__ = ["OptimizerState", "add_param_group", "state"]

# MindSpore's attribute of an optimizer -> PyTorch's name, by class; the first step makes them in PyTorch.
_NAMES: Dict[str, Dict[str, str]] = {
    "SGD": {"accum": "momentum_buffer"},
    "Adam": {
        "state_step": "step",
        "exp_avg": "exp_avg",
        "exp_avg_sq": "exp_avg_sq",
        "max_exp_avg_sq": "max_exp_avg_sq",
    },
    "Adagrad": {"step_t": "step", "accum": "sum"},
    "Adamax": {"step_t": "step", "exp_avg": "exp_avg", "exp_inf": "exp_inf"},
    "NAdam": {"step_t": "step", "mu_product": "mu_product", "exp_avg": "exp_avg", "exp_avg_sq": "exp_avg_sq"},
    "RAdam": {"step_t": "step", "exp_avg": "exp_avg", "exp_avg_sq": "exp_avg_sq"},
    "RMSprop": {"mean_square": "square_avg", "moment": "momentum_buffer", "mean_grad": "grad_avg"},
    "Adadelta": {"step_t": "step", "accum": "square_avg", "accum_update": "acc_delta"},
}
_NAMES["AdamW"] = _NAMES["Adam"]
_NAMES["ASGD"] = {"step_t": "step", "eta": "eta", "mu": "mu", "ax": "ax"}
_NAMES["Rprop"] = {"step_t": "step", "prev": "prev", "step_size": "step_size"}
_NAMES["Adafactor"] = {"state_step": "step", "rows": "row_var", "columns": "col_var"}

# What PyTorch keeps only where a setting of the group asks for it
_ON_REQUEST = {"max_exp_avg_sq": "amsgrad", "momentum_buffer": "momentum", "grad_avg": "centered"}
# What PyTorch keeps of a vector in place of sums over rows and columns
_OF_VECTORS = {"row_var": "variance", "col_var": ""}


# Recurrent layers list all their input weights first in MindSpore, in PyTorch those of one layer and direction.
_RECURRENT = re.compile(r"(.*)\b((?:weight|bias)_(?:ih|hh|hr))_l(\d+)(_reverse)?(\.\d+)?")
_IN_A_LAYER = ("weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr")


def _numbers(optimizer: Any) -> Dict[int, int]:
    """Return the number that PyTorch gives each parameter of an optimizer by the number that it has in MindSpore."""
    order: List[int] = []
    for group in optimizer.param_groups:
        order += [len(order) + index for index in _in_torch_order([weight.name for weight in group["params"]])]
    return {index: number for number, index in enumerate(order)}


def _in_torch_order(names: Sequence[str]) -> List[int]:
    """Return the places of parameters of these names in the order in which PyTorch lists them."""
    first: Dict[Tuple[str, Any], int] = {}

    def place(index: int) -> Tuple[int, int, bool, int]:
        found = _RECURRENT.fullmatch(names[index])
        if found is None:
            return index, 0, False, 0
        layer = first.setdefault((found.group(1), found.group(5)), index)
        return layer, int(found.group(3)), found.group(4) is not None, _IN_A_LAYER.index(found.group(2))

    return sorted(range(len(names)), key=place)


class OptimizerState(Mapping[Any, Dict[str, ms.Tensor]]):
    """The state of an optimizer by parameter. Raises KeyError for an optimizer whose state has other contents."""

    def __init__(self, optimizer: Any) -> None:
        self._optimizer = optimizer
        kind = next((cls.__name__ for cls in type(optimizer).__mro__ if cls.__name__ in _NAMES), None)
        if kind is None:
            raise KeyError(f"the state of {type(optimizer).__name__} is not known under PyTorch's names")
        # MindSpore's Adadelta counts no steps in some releases
        self._names = {
            name: shown for name, shown in _NAMES[kind].items() if shown != "step" or hasattr(optimizer, name)
        }

    @staticmethod
    def knows(optimizer: Any) -> bool:
        """Whether the state of an optimizer is known under PyTorch's names."""
        return any(cls.__name__ in _NAMES for cls in type(optimizer).__mro__)

    def numbered(self) -> Dict[Any, Dict[str, ms.Tensor]]:
        """Return copies of the contents by PyTorch's number of the parameter."""
        numbers = _numbers(self._optimizer)
        return {numbers[index]: {k: v.copy() for k, v in self._contents(index).items()} for index, _ in self._used()}

    def load_numbered(self, numbered: Mapping[Any, Mapping[str, Any]]) -> None:
        """Go back to what :meth:`numbered` told, maybe in another process. What has no state in it begins anew.

        Raises ValueError for the state of another kind of optimizer, and for a value of another size.
        """
        known = {"step", *self._names.values(), *_OF_VECTORS.values()}
        odd = sorted({str(name) for kept in numbered.values() for name in kept} - known)
        if odd:
            raise ValueError(f"the optimizer state does not fit {type(self._optimizer).__name__}: {', '.join(odd[:5])}")
        steps = [float(np.asarray(kept["step"])) for kept in numbered.values() if "step" in kept]
        numbers = _numbers(self._optimizer)
        for index in range(len(self._optimizer.parameters)):
            kept = numbered.get(numbers[index], {})
            for attribute, shown in self._shown(index).items():
                if shown == "step":  # MindSpore has one count for all parameters
                    value: Any = max(steps, default=0.0)
                else:
                    value = kept.get(shown, self._start(attribute))
                _write(self._slot(attribute, index), value)
            if hasattr(self._optimizer, "stat"):  # 1 until the first step has made the momentum
                _write(self._optimizer.stat[index], 0.0 if "momentum_buffer" in kept else 1.0)

    def _start(self, attribute: str) -> float:
        """Return what a moment is before the first step."""
        if self._names[attribute] == "sum":
            return float(self._optimizer.param_groups[0].get("initial_accumulator_value", 0.0))
        return 1.0 if attribute == "mu_product" else 0.0

    def _used(self) -> List[Tuple[int, Any]]:
        """Return the parameters that have a state, with their numbers."""
        parameters = list(enumerate(self._optimizer.parameters))
        if "sum" in self._names.values():  # PyTorch's Adagrad makes its state before the first step
            return parameters
        if hasattr(self._optimizer, "stat"):
            return [pair for pair in parameters if self._contents(pair[0]) and self._has_moved(pair[0])]
        step = next((name for name in self._names if self._names[name] == "step"), None)
        if step is None:  # it does not count its steps: what a first one moves tells
            return [pair for pair in parameters if self._has_moved(pair[0])]
        return parameters if int(getattr(self._optimizer, step).asnumpy().reshape(-1)[0]) else []

    def _has_moved(self, index: int) -> bool:
        """Whether a step has made the moment of a parameter: MindSpore's SGD and RMSprop count none."""
        if hasattr(self._optimizer, "stat"):
            return bool((self._optimizer.stat[index] == 0).all())
        first = "accum" if "accum" in self._names else next(iter(self._names))
        return bool((self._slot(first, index) != 0).any())

    def _slot(self, name: str, index: int) -> ms.Tensor:
        value = getattr(self._optimizer, name)
        return value[index] if isinstance(value, (tuple, list)) else value

    def __getitem__(self, parameter: Any) -> Dict[str, ms.Tensor]:
        for index, own in self._used():
            if own is parameter:
                return self._contents(index)
        return {}

    def _contents(self, index: int) -> Dict[str, ms.Tensor]:
        group = self._group_of(index)
        found: Dict[str, ms.Tensor] = {}
        for name, shown in self._shown(index).items():
            if shown not in _ON_REQUEST or group.get(_ON_REQUEST[shown]):
                value = ops.stop_gradient(self._slot(name, index))
                found[shown] = value.astype(ms.float32).reshape(()) if shown == "step" else value
        return found

    def _shown(self, index: int) -> Dict[str, str]:
        """Return PyTorch's names of what is kept of a parameter, by MindSpore's attribute."""
        if self._optimizer.parameters[index].ndim > 1:
            return self._names
        named = {name: _OF_VECTORS.get(shown, shown) for name, shown in self._names.items()}
        return {name: shown for name, shown in named.items() if shown}

    def _group_of(self, index: int) -> Dict[str, Any]:
        """Return the settings of the group in which a parameter is."""
        for group in self._optimizer.param_groups:
            if index < len(group["params"]):
                return group  # type: ignore[no-any-return]
            index -= len(group["params"])
        raise IndexError(index)

    def __iter__(self) -> Iterator[Any]:
        return iter([parameter for _, parameter in self._used()])

    def __len__(self) -> int:
        return len(self._used())


def _write(slot: ms.Parameter, value: Any) -> None:
    """Assign a value of as many elements, or one number for all. Raises ValueError for other sizes.

    Not with ``set_data``: once an optimizer has stepped, MindSpore 2.10 trains parameters no more whose data were set.
    """
    if isinstance(value, ms.Tensor) and value.shape == slot.shape:
        ops.assign(slot, value.astype(slot.dtype))
        return
    array = value.asnumpy() if isinstance(value, ms.Tensor) else np.asarray(value)
    array = np.full(slot.shape, array) if array.ndim == 0 else array.reshape(slot.shape)
    ops.assign(slot, ms.Tensor(array).astype(slot.dtype))


def state(optimizer: Any) -> Mapping[Any, Dict[str, Any]]:
    """Return the state of an optimizer by parameter; it is read, and not to be written to."""
    return optimizer.state if isinstance(optimizer, Optimizer) else OptimizerState(optimizer)


_OTHERS = ("parameters", "lrs", "param_groups")


def add_param_group(optimizer: Any, param_group: Dict[str, Any]) -> None:
    """Give an optimizer more parameters, with moments of their own, which MindSpore's method forgets.

    Raises NotImplementedError for an optimizer that counts its steps and has made some: MindSpore's keep one count for
    all parameters, and the new ones would begin with it.
    """
    counters = [getattr(optimizer, name, None) for name in ("state_step", "step_t")]
    if any(counter is not None and int(counter.asnumpy().reshape(-1)[0]) for counter in counters):
        raise NotImplementedError(f"{type(optimizer).__name__} has made steps: give it all parameters when it is made")
    numbers = {name: float(value) for name, value in param_group.items() if type(value) is int}
    settings = {name: float(value) for name, value in optimizer.defaults.items() if type(value) is int}
    group = distinct([*optimizer.parameters, {**settings, **param_group, **numbers}])[-1]  # told apart by their names
    count = len(optimizer.parameters)
    held = {**vars(optimizer), **getattr(optimizer, "_params_list", {})}
    moments = {name: value for name, value in held.items() if name not in _OTHERS and _are_moments(value, count)}
    optimizer.add_param_group(group)
    new = ms.ParameterTuple(tuple(optimizer.parameters)[count:])
    for name, value in moments.items():
        if name == "mu_product":
            list.extend(value, (ms.Parameter(ms.Tensor(1.0), f"mu_product_{parameter.name}") for parameter in new))
            continue
        start = "ones" if name == "stat" else "zeros"
        setattr(optimizer, name, ms.ParameterTuple((*value, *new.clone(prefix=name, init=start))))


def _are_moments(value: Any, count: int) -> bool:
    """Whether an attribute holds one tensor for each of an optimizer's ``count`` parameters."""
    if not isinstance(value, (tuple, list)) or len(value) != count:
        return False
    return all(isinstance(member, ms.Parameter) for member in value)
