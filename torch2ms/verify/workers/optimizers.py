"""Carry the state of a torch optimizer into its counterpart in ``mindspore.experimental.optim``."""

from __future__ import annotations

import importlib
from typing import Any, Callable, Dict, List, Mapping, Sequence

import mindspore as ms
import numpy as np
from numpy.typing import NDArray

__all__ = ["Bridge", "assign"]

# state of torch.optim.X -> attribute of mindspore.experimental.optim.X (the sources of torch 2.13 and MindSpore 2.10)
_MOMENTS = {"exp_avg": "exp_avg", "exp_avg_sq": "exp_avg_sq"}
STATE: Dict[str, Dict[str, str]] = {
    "SGD": {"momentum_buffer": "accum"},
    "Adam": {**_MOMENTS, "max_exp_avg_sq": "max_exp_avg_sq", "step": "state_step"},
    "AdamW": {**_MOMENTS, "max_exp_avg_sq": "max_exp_avg_sq", "step": "state_step"},
    "NAdam": {**_MOMENTS, "mu_product": "mu_product", "step": "step_t"},
    "RAdam": {**_MOMENTS, "step": "step_t"},
    "Adamax": {"exp_avg": "exp_avg", "exp_inf": "exp_inf", "step": "step_t"},
    "Adagrad": {"sum": "accum", "step": "step_t"},
    "Adadelta": {"square_avg": "accum", "acc_delta": "accum_update"},
    "RMSprop": {"square_avg": "mean_square", "momentum_buffer": "moment", "grad_avg": "mean_grad"},
    "Rprop": {"prev": "prev", "step_size": "step_size", "step": "step_t"},
}


class Bridge:
    """A MindSpore optimizer that can be set to any state of its torch counterpart (``name``)."""

    def __init__(self, name: str, optimizer: Any) -> None:
        if name not in STATE:
            raise ValueError(f"no state map for the optimizer {name}; known are {', '.join(sorted(STATE))}")
        self.name, self.optimizer = name, optimizer
        self._fresh = [parameter.asnumpy().copy() for target in self._targets() for parameter in target]

    @classmethod
    def build(cls, name: str, target: str, parameters: Sequence[Any], settings: Mapping[str, Any]) -> Bridge:
        """Return the bridge to a new optimizer of the class ``target`` (a canonical name)."""
        module, _, own = target.rpartition(".")
        # the runtime is loaded under a private name here
        module = module.replace("torch2ms.runtime", "torch2ms_worker_runtime")
        return cls(name, getattr(importlib.import_module(module), own)(list(parameters), **settings))

    def _targets(self) -> List[Any]:
        names = dict.fromkeys([*STATE[self.name].values(), *(["stat"] if self.name == "SGD" else [])])
        found = [getattr(self.optimizer, name) for name in names if hasattr(self.optimizer, name)]
        return [target if isinstance(target, (list, tuple)) else (target,) for target in found]

    def load(
        self,
        arrays: Mapping[str, NDArray[Any]],
        names: Mapping[int, str],
        place: Callable[[str, NDArray[Any]], NDArray[Any]],
        fresh: bool = True,
    ) -> None:
        """Set the state from ``optimizer:KEY:PARAMETER`` arrays.

        ``names`` are the torch names by the parameter's id; ``place`` brings an array into MindSpore's shape. What
        torch does not have yet gets its first value, unless ``fresh`` is false (the optimizer has stepped already).
        """
        first = iter(self._fresh if fresh else [])
        for target in self._targets() if fresh else []:
            for parameter in target:
                assign(parameter, next(first))
        for key, attribute in STATE[self.name].items():
            target = getattr(self.optimizer, attribute, None)
            if target is None:
                continue
            for number, parameter in enumerate(self.optimizer.parameters):
                array = arrays.get(f"optimizer:{key}:{names[id(parameter)]}")
                if array is None:
                    continue
                if isinstance(target, (list, tuple)):
                    own = target[number]
                    assign(own, place(names[id(parameter)], array) if array.ndim else array)
                else:  # one counter for all parameters
                    own = target
                    assign(own, array)
                if self.name == "SGD":  # stat says that accum has not been started
                    assign(self.optimizer.stat[number], np.zeros(tuple(parameter.shape), np.float32))


def assign(parameter: Any, array: NDArray[Any]) -> None:
    """Copy an array into a parameter, a buffer or an optimizer's state.

    Not with ``set_data``: once an optimizer has run, the steps after a ``set_data`` (or ``load_param_into_net``,
    ``load_state_dict``) of several parameters are lost without a word (seen in 2.10, with nn and experimental.optim).
    """
    new = np.array(array).reshape(tuple(parameter.shape))
    value = ms.Tensor(new).astype(parameter.dtype)
    try:
        ms.ops.assign(parameter, value)
    except RuntimeError as error:  # a tensor made as a view of another refuses it once
        if "view" not in str(error):
            raise
        parameter.assign_value(value)
