"""Learning-rate schedulers that ``mindspore.experimental.optim.lr_scheduler`` lacks, or has with other results.

They compute on the host in double precision, call the user's functions with plain ints, and cycle momentum where
torch does.
"""

from __future__ import annotations

import functools
import math
from bisect import bisect_right
from typing import Any, Callable, Dict, List, Optional, Sequence, Union

import mindspore as ms
from mindspore import ops

from . import schedules
from .groups import param_groups
from .optim import get_lr, set_lr

__all__ = [
    "ChainedScheduler",
    "CyclicLR",
    "LambdaLR",
    "MultiplicativeLR",
    "OneCycleLR",
    "SequentialLR",
    "base_lrs",
    "best",
    "cooldown_counter",
    "last_epoch",
    "last_lr",
    "milestones",
    "num_bad_epochs",
    "step",
    "step_count",
    "whole",
]

Values = Union[float, Sequence[float]]
Function = Callable[[int], float]


def last_lr(scheduler: Any) -> List[float]:
    """Return the learning rates that a scheduler set last, one a parameter group, as plain numbers.

    Of two schedulers on one optimizer, these are not the rates in force. What another object answers is given as it is.
    """
    made_by = [base.__module__ for base in type(scheduler).__mro__]
    if not any(module.startswith(("mindspore.", str(__package__))) for module in made_by):
        return scheduler.get_last_lr()  # type: ignore[no-any-return]
    if (rates := getattr(scheduler, schedules.RATES, None)) is not None:
        return list(rates)
    if isinstance(scheduler, schedules._HostScheduler):
        return scheduler.get_last_lr()
    optimizer = getattr(scheduler, "optimizer", None)
    if optimizer is not None and hasattr(optimizer, "lrs"):
        return [float(group["lr"]) for group in param_groups(optimizer)]
    return [float(value) for value in scheduler.get_last_lr()]


def last_epoch(scheduler: Any) -> int:
    """Return how often a scheduler was stepped since it was made."""
    return int(scheduler.last_epoch)


def step_count(scheduler: Any) -> int:
    """Return how often a scheduler was stepped, with the step that it takes when it is made."""
    return int(scheduler.last_epoch) + 1


def base_lrs(scheduler: Any) -> List[float]:
    """Return the learning rates that a scheduler began with, one a parameter group, as plain numbers."""
    return [float(value) for value in scheduler.base_lrs]


def best(scheduler: Any) -> float:
    """Return the best metric that a ReduceLROnPlateau has seen."""
    return float(scheduler.best)


def milestones(values: Sequence[float]) -> List[int]:
    """Return the epochs of a MultiStepLR as the list of ints that MindSpore wants.

    PyTorch takes any sequence; a number with a fraction never is an epoch there, so that it lowers nothing.
    """
    return [int(value) for value in values if float(value).is_integer()]


def whole(value: float) -> int:
    """Return a number of steps as the int that MindSpore's schedulers want.

    PyTorch counts in fractions as well, MindSpore cannot: ValueError for a number that has one.
    """
    if not float(value).is_integer():
        raise ValueError(f"a scheduler of MindSpore counts whole steps, not {value}")
    return int(value)


def num_bad_epochs(scheduler: Any) -> int:
    """Return for how many steps the metric of a ReduceLROnPlateau has not become better."""
    return int(scheduler.wait)


def cooldown_counter(scheduler: Any) -> int:
    """Return how many steps a ReduceLROnPlateau waits yet before it counts again."""
    return int(scheduler.cooldown_counter)


def step(scheduler: Any, value: Any) -> None:
    """Call ``scheduler.step(value)``: with the metric of ReduceLROnPlateau, or with an epoch to go to.

    MindSpore's MultiStepLR knows no way to an epoch (it asks for a step size that it does not have), and
    CosineAnnealingWarmRestarts none where its cycles grow (it hands a base to a logarithm that takes none): the
    learning rate, or the place in the cycle, is computed here.
    """
    _go_to(scheduler, value)
    if hasattr(scheduler, schedules.RATES):
        setattr(scheduler, schedules.RATES, [float(group["lr"]) for group in param_groups(scheduler.optimizer)])


def _go_to(scheduler: Any, value: Any) -> None:
    if type(scheduler).__name__ == "CosineAnnealingWarmRestarts" and int(scheduler.T_mult) != 1:
        _restart(scheduler, float(value))
        return
    milestones = getattr(scheduler, "milestones", None)
    if not hasattr(scheduler, "_get_closed_form_lr") or not isinstance(milestones, dict):
        scheduler.step(value)
        return
    scheduler.last_epoch.set_data(ms.Tensor(int(value), scheduler.last_epoch.dtype))
    passed = sum(count for milestone, count in milestones.items() if milestone <= value)
    for rate, base in zip(scheduler._last_lr, scheduler.base_lrs):
        ops.assign(rate, float(base) * scheduler.gamma**passed)


def _restart(scheduler: Any, epoch: float) -> None:
    """Set a CosineAnnealingWarmRestarts whose cycles grow to an epoch, which may have a fraction."""
    if epoch < 0:
        raise ValueError(f"Expected non-negative epoch, but got {epoch}")
    start, length = 0, int(float(scheduler.T_0))
    while epoch >= start + length:
        start, length = start + length, length * int(scheduler.T_mult)
    scheduler.T_i.set_data(ms.Tensor(length, scheduler.T_i.dtype))
    scheduler.T_cur.set_data(ms.Tensor(epoch - start, scheduler.T_cur.dtype))
    scheduler.last_epoch.set_data(ms.Tensor(math.floor(epoch), scheduler.last_epoch.dtype))
    for group, rate in zip(scheduler.optimizer.param_groups, scheduler.get_lr()):
        ops.assign(group["lr"], rate)


class _Scheduler(schedules._HostScheduler):
    """A schedule that starts from the optimizer's learning rates."""

    def __init__(self, optimizer: Any, last_epoch: int = -1) -> None:
        super().__init__(optimizer)
        self.base_lrs = _first_rates(optimizer)
        self.last_epoch = last_epoch
        self.step()

    def _now(self) -> List[float]:
        return _rates(self.optimizer)


def _rates(optimizer: Any) -> List[float]:
    return [group["lr"] for group in param_groups(optimizer)] if hasattr(optimizer, "lrs") else [get_lr(optimizer)]


def _first_rates(optimizer: Any) -> List[float]:
    """Return the learning rates that the first scheduler found, which the groups keep for the others."""
    if not hasattr(optimizer, "lrs"):
        return _rates(optimizer)
    groups = param_groups(optimizer)
    for group in groups:
        group.setdefault("initial_lr", ms.Tensor(group["lr"], ms.float32))
    return [group["initial_lr"] for group in groups]


def _each(value: Any, count: int) -> List[Any]:
    values = list(value) if isinstance(value, (list, tuple)) else [value] * count
    if len(values) != count:
        raise ValueError(f"{len(values)} values for {count} parameter groups")
    return values


class LambdaLR(_Scheduler):
    """The first learning rates times ``lr_lambda(epoch)``; one function, or one a parameter group."""

    def __init__(self, optimizer: Any, lr_lambda: Union[Function, List[Function]], last_epoch: int = -1) -> None:
        self.lr_lambdas: List[Function] = _each(lr_lambda, len(_rates(optimizer)))
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> List[float]:
        """Return the learning rates at ``last_epoch``."""
        return [base * function(self.last_epoch) for base, function in zip(self.base_lrs, self.lr_lambdas)]


class MultiplicativeLR(_Scheduler):
    """The learning rates, multiplied by ``lr_lambda(epoch)`` at every step but the first."""

    def __init__(self, optimizer: Any, lr_lambda: Union[Function, List[Function]], last_epoch: int = -1) -> None:
        self.lr_lambdas: List[Function] = _each(lr_lambda, len(_rates(optimizer)))
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> List[float]:
        """Return the learning rates at ``last_epoch``."""
        if self.last_epoch == 0:
            return self._now()
        return [now * function(self.last_epoch) for now, function in zip(self._now(), self.lr_lambdas)]


def _set_momentum(optimizer: Any, values: Sequence[float]) -> None:
    """Set ``momentum``, or the first of ``betas``, of every parameter group."""
    for group, value in zip(param_groups(optimizer), values):
        if "betas" in group:
            group["betas"] = (float(value), *group["betas"][1:])
        else:
            group["momentum"] = float(value)


def _check_momentum(optimizer: Any, name: str) -> None:
    if not all("momentum" in group or "betas" in group for group in param_groups(optimizer)):
        raise ValueError(f"{name}: the optimizer has neither momentum nor betas: pass cycle_momentum=False")


class CyclicLR(_Scheduler):
    """Up and down between two learning rates (L. N. Smith, "Cyclical Learning Rates", 2017), stepped after every batch.

    ``mode``: "triangular", "triangular2", "exp_range", or a function of the cycle (or the iteration) as ``scale_fn``.
    """

    def __init__(
        self,
        optimizer: Any,
        base_lr: Values,
        max_lr: Values,
        step_size_up: int = 2000,
        step_size_down: Optional[int] = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        scale_fn: Optional[Callable[[float], float]] = None,
        scale_mode: str = "cycle",
        cycle_momentum: bool = True,
        base_momentum: Values = 0.8,
        max_momentum: Values = 0.9,
        last_epoch: int = -1,
    ) -> None:
        count = len(_rates(optimizer))
        known: Dict[str, Any] = {
            "triangular": (lambda x: 1.0, "cycle"),
            "triangular2": (lambda x: 1 / (2.0 ** (x - 1)), "cycle"),
            "exp_range": (lambda x: gamma**x, "iterations"),
        }
        if scale_fn is None and mode not in known:
            raise ValueError(f"CyclicLR: unknown mode {mode!r}")
        self.scale: Callable[[float], float] = scale_fn if scale_fn is not None else known[mode][0]
        self.scale_mode: str = scale_mode if scale_fn is not None else known[mode][1]
        self.max_lrs = [float(value) for value in _each(max_lr, count)]
        self.up = float(step_size_up)
        self.total = self.up + float(step_size_up if step_size_down is None else step_size_down)
        self.momenta = None
        if cycle_momentum:
            _check_momentum(optimizer, "CyclicLR")
            self.momenta = list(zip(_each(base_momentum, count), _each(max_momentum, count)))
        set_lr(optimizer, [float(value) for value in _each(base_lr, count)])
        super().__init__(optimizer, last_epoch)
        self.base_lrs = [float(value) for value in _each(base_lr, count)]

    def get_lr(self) -> List[float]:
        """Return the learning rates at ``last_epoch``; momentum is set on the way."""
        cycle = math.floor(1 + self.last_epoch / self.total)
        part = 1.0 + self.last_epoch / self.total - cycle
        ratio = self.up / self.total
        height = part / ratio if part <= ratio else (part - 1) / (ratio - 1)
        scale = self.scale(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.momenta is not None:
            _set_momentum(self.optimizer, [high - (high - low) * height * scale for low, high in self.momenta])
        return [low + (high - low) * height * scale for low, high in zip(self.base_lrs, self.max_lrs)]


class OneCycleLR(schedules.OneCycleLR):
    """:class:`.schedules.OneCycleLR` that cycles momentum against the learning rate, as torch's does by default."""

    def __init__(
        self,
        optimizer: Any,
        max_lr: Values,
        total_steps: Optional[int] = None,
        epochs: Optional[int] = None,
        steps_per_epoch: Optional[int] = None,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        cycle_momentum: bool = True,
        base_momentum: Values = 0.85,
        max_momentum: Values = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 10000.0,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        self.momenta: Optional[List[List[float]]] = None
        if cycle_momentum:
            _check_momentum(optimizer, "OneCycleLR")
            count = len(_rates(optimizer))
            low = [float(value) for value in _each(base_momentum, count)]
            high = [float(value) for value in _each(max_momentum, count)]
            self.momenta = [high, low, high, high] if three_phase else [high, low, high]
        super().__init__(
            optimizer, max_lr, total_steps, epochs, steps_per_epoch, pct_start, anneal_strategy, False, base_momentum,
            max_momentum, div_factor, final_div_factor, three_phase, last_epoch,
        )  # fmt: skip

    def get_lr(self) -> List[float]:
        """Return the learning rates at ``last_epoch``; momentum is set on the way."""
        rates = super().get_lr()
        if self.momenta is not None:
            levels, self.levels = self.levels, self.momenta
            try:
                _set_momentum(self.optimizer, super().get_lr())
            finally:
                self.levels = levels
        return rates


def _recorded(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a step of MindSpore's schedulers, or their start, that keeps the learning rates it leaves."""

    @functools.wraps(function)
    def recorded(self: Any, *arguments: Any, **options: Any) -> Any:
        result = function(self, *arguments, **options)
        setattr(self, schedules.RATES, [float(group["lr"]) for group in param_groups(self.optimizer)])
        return result

    return recorded


def _record_rates() -> None:
    """Have MindSpore's schedulers keep what they set: their own ``get_last_lr`` gives the rates in force."""
    own = getattr(ms.experimental, "optim", None)  # MindSpore 2.0 has none
    if own is None:
        return
    for name in ("LRScheduler", "CosineAnnealingWarmRestarts", "ReduceLROnPlateau", "SequentialLR"):
        made = getattr(own.lr_scheduler, name, None)
        for method in ("__init__", "step"):
            if made is not None and method in vars(made):
                setattr(made, method, _recorded(vars(made)[method]))


_record_rates()


class SequentialLR:
    """Schedulers that take over from one another at milestones: MindSpore's own, without those that never act.

    A milestone of 0 (no epochs of warming up) starts with the scheduler behind it; MindSpore's would take one step of
    the first all the same.
    """

    def __new__(cls, optimizer: Any, schedulers: Sequence[Any], milestones: Sequence[int], last_epoch: int = -1) -> Any:
        """Return MindSpore's scheduler, which starts those that take over as :func:`step` does."""
        passed = bisect_right(milestones, 0) if len(milestones) == len(schedulers) - 1 else 0
        return _sequential()(optimizer, list(schedulers)[passed:], list(milestones)[passed:], last_epoch)


@functools.cache
def _sequential() -> Any:
    class SequentialLR(ms.experimental.optim.lr_scheduler.SequentialLR):
        @_recorded
        def step(self) -> None:
            ops.assign_add(self.last_epoch, self.increase_tensor)
            epoch = int(self.last_epoch)
            index = bisect_right(self.milestones, epoch)
            if index and self.milestones[index - 1] == epoch:
                step(self._schedulers[index], 0)
            else:
                self._schedulers[index].step()

    return SequentialLR


class ChainedScheduler:
    """Schedulers that act one after the other at every step."""

    def __init__(self, schedulers: Sequence[Any], optimizer: Any = None) -> None:
        self.schedulers = list(schedulers)
        self.optimizer = optimizer if optimizer is not None else self.schedulers[-1].optimizer

    def step(self) -> None:
        """Step every scheduler."""
        for scheduler in self.schedulers:
            scheduler.step()

    def get_last_lr(self) -> List[float]:
        """Return the learning rates in force, one a parameter group."""
        return last_lr(self.schedulers[-1])

    def state_dict(self) -> Dict[str, Any]:
        """Return the states of the schedulers."""
        return {"schedulers": [schedules.state_dict(scheduler) for scheduler in self.schedulers]}

    def load_state_dict(self, state: Dict[str, Any]) -> None:
        """Go back to a state of :meth:`state_dict`."""
        for scheduler, part in zip(self.schedulers, state["schedulers"]):
            schedules.load_state_dict(scheduler, part)
