"""Learning-rate schedules: those of ``mindspore.experimental.optim.lr_scheduler``, and the ones it lacks.

Schedulers act on an optimizer and are stepped (``scheduler.step()``); the functions at the end return plain lists with
one learning rate a step, which ``mindspore.nn`` optimizers take as their ``learning_rate``.
"""

from __future__ import annotations

import copy
import functools
import math
from typing import Any, Callable, Dict, List, Optional, Sequence, Union

import mindspore as ms
import numpy as np

from .groups import param_groups
from .optim import get_lr, set_lr

try:
    from mindspore.experimental.optim import lr_scheduler as _schedulers
except ImportError:  # MindSpore 2.0
    _schedulers = None

__all__ = [
    "RATES",
    "ClosedFormLR",
    "OneCycleLR",
    "WarmupLR",
    "constant_lr",
    "cosine_lr",
    "create_scheduler",
    "exponential_lr",
    "load_state_dict",
    "polynomial_lr",
    "state_dict",
    "step_lr",
]

# Where a scheduler of MindSpore's keeps the rates that it set last, see ``schedulers``
RATES = "rates_set"


class _HostScheduler:
    """A schedule computed on the host in double precision and written into the optimizer's learning rates."""

    def __init__(self, optimizer: Any) -> None:
        self.optimizer = optimizer
        self.last_epoch = -1
        self._last_lr: List[float] = []

    def get_lr(self) -> List[float]:
        """Return the learning rate of each parameter group at step ``last_epoch``."""
        raise NotImplementedError

    def get_last_lr(self) -> List[float]:
        """Return the learning rates in force, one a parameter group."""
        return list(self._last_lr)

    def step(self, epoch: Optional[int] = None) -> None:
        """Go on by one step (or to step ``epoch``) and set the learning rates."""
        self.last_epoch = self.last_epoch + 1 if epoch is None else int(epoch)
        self._last_lr = self.get_lr()
        set_lr(self.optimizer, self._last_lr)

    def state_dict(self) -> Dict[str, Any]:
        """Return the numbers of the schedule, and its place in it."""
        return {**self._numbers(), "_step_count": self.last_epoch + 1}

    def load_state_dict(self, state: Dict[str, Any]) -> None:
        """Go back to a state of :meth:`state_dict`, or of PyTorch's; the learning rates come with the optimizer's."""
        for name in self._numbers():
            if name in state:
                value = state[name]
                setattr(self, name, list(value) if isinstance(value, list) else value)

    def _numbers(self) -> Dict[str, Any]:
        return {name: copy.copy(value) for name, value in vars(self).items() if _is_numbers(value)}


def _is_numbers(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return all(_is_numbers(one) for one in value)
    return value is None or isinstance(value, (bool, int, float, str))


def _count_groups(optimizer: Any) -> int:
    return len(getattr(optimizer, "lrs", [None]))


def _per_group(value: Union[float, Sequence[float]], groups: int) -> List[float]:
    values = [float(value)] * groups if isinstance(value, (int, float)) else [float(item) for item in value]
    if len(values) != groups:
        raise ValueError(f"{len(values)} learning rates for {groups} parameter groups")
    return values


class OneCycleLR(_HostScheduler):
    """Up to ``max_lr``, then down, once per training run: stepped after every batch.

    L. N. Smith and N. Topin, "Super-Convergence", 2018; arguments and numbers as in PyTorch's scheduler of this name.
    The number of steps is ``total_steps``, or ``epochs * steps_per_epoch``. ``cycle_momentum`` needs an optimizer with
    ``momentum`` or ``betas`` that can change; MindSpore's are fixed when they are built, so it must be False.
    """

    def __init__(
        self,
        optimizer: Any,
        max_lr: Union[float, Sequence[float]],
        total_steps: Optional[int] = None,
        epochs: Optional[int] = None,
        steps_per_epoch: Optional[int] = None,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        cycle_momentum: bool = False,
        base_momentum: Union[float, Sequence[float]] = 0.85,
        max_momentum: Union[float, Sequence[float]] = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        super().__init__(optimizer)
        if total_steps is None:
            if epochs is None or steps_per_epoch is None:
                raise ValueError("OneCycleLR needs total_steps, or epochs and steps_per_epoch")
            total_steps = epochs * steps_per_epoch
        if total_steps <= 0 or not 0 <= pct_start <= 1:
            raise ValueError("OneCycleLR needs total_steps > 0 and pct_start from 0 to 1")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"unknown anneal_strategy {anneal_strategy!r}: 'cos' or 'linear'")
        if cycle_momentum:
            raise ValueError("MindSpore's optimizers do not let momentum change: pass cycle_momentum=False")
        self.total_steps = total_steps
        self.anneal = _cosine if anneal_strategy == "cos" else _linear
        top = _per_group(max_lr, _count_groups(optimizer))
        first = self.base_lrs = [value / div_factor for value in top]
        last = [value / final_div_factor for value in first]
        rise = float(pct_start * total_steps) - 1
        if three_phase:
            ends = [rise, 2 * pct_start * total_steps - 2, total_steps - 1]
            levels = [first, top, first, last]
        else:
            ends = [rise, total_steps - 1]
            levels = [first, top, last]
        self.ends, self.levels = ends, levels
        self.last_epoch = last_epoch
        self.step()

    def get_lr(self) -> List[float]:
        """Return the learning rates at ``last_epoch``. Raises ValueError behind the last step."""
        if self.last_epoch > self.total_steps:
            raise ValueError(f"tried to step {self.last_epoch} times; the total number of steps is {self.total_steps}")
        start = 0.0
        for phase, end in enumerate(self.ends):
            if self.last_epoch <= end or phase == len(self.ends) - 1:
                part = (self.last_epoch - start) / (end - start) if end != start else 1.0
                pairs = zip(self.levels[phase], self.levels[phase + 1])
                return [self.anneal(low, high, part) for low, high in pairs]
            start = end
        raise AssertionError("a schedule has at least one phase")


def _cosine(start: float, end: float, part: float) -> float:
    return end + (start - end) / 2.0 * (math.cos(math.pi * part) + 1)


def _linear(start: float, end: float, part: float) -> float:
    return (end - start) * part + start


class WarmupLR(_HostScheduler):
    """Raise the learning rate linearly from ``start_factor`` of it over ``warmup_steps``, then follow ``after``.

    ``after``: a scheduler of the same optimizer, stepped once for each step behind the warm-up; None keeps the rate.
    """

    def __init__(self, optimizer: Any, warmup_steps: int, after: Any = None, start_factor: float = 0.0) -> None:
        super().__init__(optimizer)
        self.warmup_steps, self.after, self.start_factor = warmup_steps, after, start_factor
        rates = getattr(optimizer, "lrs", None)
        self.base = [float(rate.asnumpy()) for rate in rates] if rates is not None else [get_lr(optimizer)]
        self.step()

    def get_lr(self) -> List[float]:
        """Return the learning rates at ``last_epoch``."""
        part = min(1.0, self.last_epoch / self.warmup_steps) if self.warmup_steps else 1.0
        return [base * (self.start_factor + (1 - self.start_factor) * part) for base in self.base]

    def step(self, epoch: Optional[int] = None) -> None:
        """Go on by one step."""
        if self.last_epoch < self.warmup_steps or self.after is None:
            super().step(epoch)
        else:
            self.last_epoch += 1
            self.after.step()
            rates = getattr(self.optimizer, "lrs", None)
            self._last_lr = [float(rate.asnumpy()) for rate in rates] if rates else [get_lr(self.optimizer)]

    def state_dict(self) -> Dict[str, Any]:
        """Return the state, that of ``after`` included."""
        state = super().state_dict()
        state["after"] = None if self.after is None else state_dict(self.after)
        return state

    def load_state_dict(self, state: Dict[str, Any]) -> None:
        """Go back to a state of :meth:`state_dict`."""
        if self.after is not None and state.get("after") is not None:
            load_state_dict(self.after, state["after"])
        super().load_state_dict(state)


class ClosedFormLR(_HostScheduler):
    """A schedule as a function of the step, for optimizers of ``mindspore.nn`` (MindSpore 2.0 has no others).

    ``formula(base, step)`` is the learning rate at a step, from 0, of a group that started with ``base``.
    """

    def __init__(self, optimizer: Any, formula: Callable[[float, int], float]) -> None:
        super().__init__(optimizer)
        self.formula, self.base = formula, get_lr(optimizer)
        self.step()

    def get_lr(self) -> List[float]:
        """Return the learning rate at ``last_epoch``."""
        return [self.formula(self.base, self.last_epoch)]


def _step(base: float, step: int, step_size: int, gamma: float = 0.1) -> float:
    return base * float(gamma ** (step // step_size))


def _multi_step(base: float, step: int, milestones: Sequence[int], gamma: float = 0.1) -> float:
    return base * float(gamma ** sum(step >= milestone for milestone in milestones))


def _exponential(base: float, step: int, gamma: float) -> float:
    return base * float(gamma**step)


def _annealing(base: float, step: int, T_max: int, eta_min: float = 0.0) -> float:
    return _cosine(base, eta_min, step / T_max)


def _polynomial(base: float, step: int, total_iters: int = 5, power: float = 1.0) -> float:
    return base * float((1 - min(step, total_iters) / total_iters) ** power)


def _ramp(base: float, step: int, start_factor: float = 1 / 3, end_factor: float = 1.0, total_iters: int = 5) -> float:
    return base * _linear(start_factor, end_factor, min(step, total_iters) / total_iters)


_FORMULAS: Dict[str, Callable[..., float]] = {
    "StepLR": _step,
    "MultiStepLR": _multi_step,
    "ExponentialLR": _exponential,
    "CosineAnnealingLR": _annealing,
    "PolynomialLR": _polynomial,
    "LinearLR": _ramp,
}
_OWN = {"OneCycleLR": OneCycleLR, "WarmupLR": WarmupLR}


def create_scheduler(name: Optional[str], optimizer: Any, **options: Any) -> Any:
    """Return the scheduler ``name`` ("StepLR", "CosineAnnealingLR", "OneCycleLR", ...) on ``optimizer``; None for none.

    Raises ValueError for an unknown name.
    """
    if not name:
        return None
    if name in _OWN:
        return _OWN[name](optimizer, **options)
    if not hasattr(optimizer, "lrs") and name in _FORMULAS:
        return ClosedFormLR(optimizer, functools.partial(_FORMULAS[name], **options))
    if _schedulers is None or not hasattr(_schedulers, name):
        raise ValueError(f"MindSpore {ms.__version__} has no scheduler {name!r}")
    return getattr(_schedulers, name)(optimizer, **options)


def state_dict(scheduler: Any) -> Dict[str, Any]:
    """Return the state of a scheduler: MindSpore's have no ``state_dict`` of their own."""
    if hasattr(scheduler, "state_dict"):
        return dict(scheduler.state_dict())
    state: Dict[str, Any] = {}
    for name, value in vars(scheduler).items():
        if isinstance(value, ms.Tensor):
            array = value.asnumpy()
            counts = name in ("last_epoch", "step_count", "_step_count") and array.ndim == 0
            state[name] = int(array) if counts else array.copy()
        elif isinstance(value, (bool, int, float, str)) or value is None:
            state[name] = value
    state["_last_lr"] = [float(group["lr"]) for group in param_groups(scheduler.optimizer)]  # PyTorch's name of it
    if hasattr(scheduler, "base_lrs"):
        state["base_lrs"] = [float(rate) for rate in scheduler.base_lrs]
    nested = getattr(scheduler, "_schedulers", None)
    if nested:
        state["schedulers"] = [state_dict(inner) for inner in nested]
    return state


def load_state_dict(scheduler: Any, state: Dict[str, Any]) -> None:
    """Go back to a state of :func:`state_dict`, or to one of PyTorch's; learning rates come with the optimizer's."""
    if hasattr(scheduler, "load_state_dict"):
        scheduler.load_state_dict(state)
        return
    parts = state.get("schedulers", state.get("_schedulers", []))
    for inner, inner_state in zip(getattr(scheduler, "_schedulers", []), parts):
        load_state_dict(inner, inner_state)
    for name, value in state.items():
        if name in ("_last_lr", "base_lrs", "schedulers", "_schedulers"):
            continue
        current = getattr(scheduler, name, None)
        if isinstance(current, ms.Parameter):
            ms.ops.assign(current, ms.Tensor(np.asarray(value)).astype(current.dtype))
        elif isinstance(current, ms.Tensor):
            setattr(scheduler, name, ms.Tensor(np.asarray(value)).astype(current.dtype))
        else:
            setattr(scheduler, name, value)
    if hasattr(scheduler, RATES) and "_last_lr" in state:
        setattr(scheduler, RATES, [float(rate) for rate in state["_last_lr"]])


def constant_lr(lr: float, total_steps: int, warmup_steps: int = 0) -> List[float]:
    """Return ``total_steps`` rates: a linear warm-up from 0, then ``lr``."""
    return [lr * _warm(step, warmup_steps) for step in range(total_steps)]


def cosine_lr(lr: float, total_steps: int, warmup_steps: int = 0, min_lr: float = 0.0) -> List[float]:
    """Return rates that fall along half a cosine (Loshchilov and Hutter, SGDR, 2017) after a linear warm-up."""
    span = max(1, total_steps - warmup_steps)
    return [
        lr * _warm(step, warmup_steps) if step < warmup_steps else _cosine(lr, min_lr, (step - warmup_steps) / span)
        for step in range(total_steps)
    ]


def step_lr(lr: float, total_steps: int, milestones: Sequence[int], gamma: float = 0.1) -> List[float]:
    """Return rates that are multiplied by ``gamma`` at each of ``milestones`` (steps)."""
    return [lr * gamma ** sum(step >= milestone for milestone in milestones) for step in range(total_steps)]


def exponential_lr(lr: float, total_steps: int, gamma: float, steps_per_epoch: int = 1) -> List[float]:
    """Return rates that are multiplied by ``gamma`` every ``steps_per_epoch`` steps."""
    return [lr * gamma ** (step // steps_per_epoch) for step in range(total_steps)]


def polynomial_lr(lr: float, total_steps: int, power: float = 1.0, end_lr: float = 0.0) -> List[float]:
    """Return rates that fall from ``lr`` to ``end_lr`` along ``(1 - step / total) ** power``."""
    return [(lr - end_lr) * (1 - step / total_steps) ** power + end_lr for step in range(total_steps)]


def _warm(step: int, warmup_steps: int) -> float:
    return min(1.0, (step + 1) / warmup_steps) if warmup_steps else 1.0
