"""Learning rates by the number of the epoch or update: steps, a cosine, a line, each with a warmup.

Programs call ``step(epoch)`` behind each epoch and ``step_update(count)`` behind each update; Loshchilov and Hutter,
"SGDR" (2017), for the cosine with restarts.
"""

from __future__ import annotations

import bisect
import math
from typing import Any, Dict, List, Sequence

__all__ = ["CosineLRScheduler", "MultiStepLRScheduler", "PolyLRScheduler", "Scheduler", "StepLRScheduler"]


class Scheduler:
    """One value of every group of an optimizer's weights, by the time."""

    def __init__(
        self, optimizer: Any, param_group_field: str = "lr", t_in_epochs: bool = True, initialize: bool = True
    ) -> None:
        self.optimizer, self.param_group_field = optimizer, param_group_field
        first = f"initial_{param_group_field}"
        self._initial_param_group_field = first
        for place, group in enumerate(optimizer.param_groups):
            if initialize:
                group.setdefault(first, float(group[param_group_field]))
            elif first not in group:
                raise KeyError(f"{first} missing from param_groups[{place}]")
        self.base_values: List[float] = [float(group[first]) for group in optimizer.param_groups]
        self.metric: Any = None
        self.t_in_epochs = t_in_epochs
        self.update_groups(self.base_values)

    def state_dict(self) -> Dict[str, Any]:
        """Return everything but the optimizer."""
        return {name: value for name, value in self.__dict__.items() if name != "optimizer"}

    def load_state_dict(self, state_dict: Dict[str, Any]) -> None:
        """Take over what ``state_dict`` gave."""
        self.__dict__.update(state_dict)

    def _get_lr(self, t: int) -> List[float]:
        raise NotImplementedError

    def step(self, epoch: int, metric: Any = None) -> None:
        """Set the values of an epoch."""
        self.metric = metric
        if self.t_in_epochs:
            self.update_groups(self._get_lr(epoch))

    def step_update(self, num_updates: int, metric: Any = None) -> None:
        """Set the values of an update."""
        self.metric = metric
        if not self.t_in_epochs:
            self.update_groups(self._get_lr(num_updates))

    def update_groups(self, values: Any) -> None:
        """Set a value of every group, times the ``lr_scale`` of those that have one."""
        groups = self.optimizer.param_groups
        for group, value in zip(groups, values if isinstance(values, (list, tuple)) else [values] * len(groups)):
            group[self.param_group_field] = value * group["lr_scale"] if "lr_scale" in group else value


class _Warmed(Scheduler):
    """A schedule that begins with a line from ``warmup_lr_init``."""

    def __init__(
        self,
        optimizer: Any,
        warmup_t: int,
        warmup_lr_init: float,
        warmup_prefix: bool,
        t_in_epochs: bool,
        initialize: bool,
        noise: Any = None,
    ) -> None:
        if noise is not None:
            raise ValueError("rates with noise are PyTorch's random numbers: they are not known here")
        super().__init__(optimizer, "lr", t_in_epochs, initialize)
        self.warmup_t, self.warmup_lr_init, self.warmup_prefix = warmup_t, warmup_lr_init, warmup_prefix
        self.warmup_steps = [(value - warmup_lr_init) / warmup_t if warmup_t else 1 for value in self.base_values]
        if warmup_t:
            self.update_groups(warmup_lr_init)

    def _get_lr(self, t: int) -> List[float]:
        if t < self.warmup_t:
            return [self.warmup_lr_init + t * step for step in self.warmup_steps]
        return self._after(t - self.warmup_t if self.warmup_prefix else t)

    def _after(self, t: int) -> List[float]:
        raise NotImplementedError


class StepLRScheduler(_Warmed):
    """Rates times ``decay_rate`` every ``decay_t``."""

    def __init__(
        self,
        optimizer: Any,
        decay_t: float,
        decay_rate: float = 1.0,
        warmup_t: int = 0,
        warmup_lr_init: float = 0.0,
        warmup_prefix: bool = True,
        t_in_epochs: bool = True,
        noise_range_t: Any = None,
        noise_pct: float = 0.67,
        noise_std: float = 1.0,
        noise_seed: int = 42,
        initialize: bool = True,
    ) -> None:
        super().__init__(optimizer, warmup_t, warmup_lr_init, warmup_prefix, t_in_epochs, initialize, noise_range_t)
        self.decay_t, self.decay_rate = decay_t, decay_rate

    def _after(self, t: int) -> List[float]:
        return [value * self.decay_rate ** (t // self.decay_t) for value in self.base_values]


class MultiStepLRScheduler(_Warmed):
    """Rates times ``decay_rate`` at each of ``decay_t``."""

    def __init__(
        self,
        optimizer: Any,
        decay_t: Sequence[int],
        decay_rate: float = 1.0,
        warmup_t: int = 0,
        warmup_lr_init: float = 0.0,
        warmup_prefix: bool = True,
        t_in_epochs: bool = True,
        noise_range_t: Any = None,
        noise_pct: float = 0.67,
        noise_std: float = 1.0,
        noise_seed: int = 42,
        initialize: bool = True,
    ) -> None:
        super().__init__(optimizer, warmup_t, warmup_lr_init, warmup_prefix, t_in_epochs, initialize, noise_range_t)
        self.decay_t, self.decay_rate = decay_t, decay_rate

    def _after(self, t: int) -> List[float]:
        return [value * self.decay_rate ** bisect.bisect_right(self.decay_t, t + 1) for value in self.base_values]


class _Cycled(_Warmed):
    """A schedule that begins again behind each cycle, each ``cycle_mul`` times as long as the one before."""

    def __init__(
        self,
        optimizer: Any,
        t_initial: int,
        lr_min: float,
        cycle_mul: float,
        cycle_decay: float,
        cycle_limit: int,
        k_decay: float,
        *warmup: Any,
    ) -> None:
        super().__init__(optimizer, *warmup)
        if t_initial <= 0 or lr_min < 0:
            raise AssertionError("a cycle has a length, and a rate is not negative")
        self.t_initial, self.lr_min, self.k_decay = t_initial, lr_min, k_decay
        self.cycle_mul, self.cycle_decay, self.cycle_limit = cycle_mul, cycle_decay, cycle_limit

    def _share(self, passed: float) -> float:
        raise NotImplementedError

    def _after(self, t: int) -> List[float]:
        if self.cycle_mul != 1:
            cycle = math.floor(math.log(1 - t / self.t_initial * (1 - self.cycle_mul), self.cycle_mul))
            length = self.cycle_mul**cycle * self.t_initial
            passed = t - (1 - self.cycle_mul**cycle) / (1 - self.cycle_mul) * self.t_initial
        else:
            cycle, length = t // self.t_initial, self.t_initial
            passed = t - self.t_initial * cycle
        if cycle >= self.cycle_limit:
            return [self.lr_min for _ in self.base_values]
        share = self._share(passed**self.k_decay / length**self.k_decay)
        gamma = self.cycle_decay**cycle
        return [self.lr_min + (value * gamma - self.lr_min) * share for value in self.base_values]

    def get_cycle_length(self, cycles: int = 0) -> int:
        """Return how long some cycles take, all of them by default."""
        cycles = max(1, cycles or self.cycle_limit)
        if self.cycle_mul == 1.0:
            length = self.t_initial * cycles
        else:
            length = math.floor(-self.t_initial * (self.cycle_mul**cycles - 1) / (1 - self.cycle_mul))
        return length + self.warmup_t if self.warmup_prefix else length


class CosineLRScheduler(_Cycled):
    """Rates that fall as half a cosine does."""

    def __init__(
        self,
        optimizer: Any,
        t_initial: int,
        lr_min: float = 0.0,
        cycle_mul: float = 1.0,
        cycle_decay: float = 1.0,
        cycle_limit: int = 1,
        warmup_t: int = 0,
        warmup_lr_init: float = 0.0,
        warmup_prefix: bool = False,
        t_in_epochs: bool = True,
        noise_range_t: Any = None,
        noise_pct: float = 0.67,
        noise_std: float = 1.0,
        noise_seed: int = 42,
        k_decay: float = 1.0,
        initialize: bool = True,
        **former: Any,
    ) -> None:
        renamed = {"t_mul": cycle_mul, "decay_rate": cycle_decay}  # as the first releases called them
        if unknown := set(former) - set(renamed):
            raise TypeError(f"unexpected keyword arguments {sorted(unknown)}")
        renamed.update(former)
        super().__init__(
            optimizer, t_initial, lr_min, renamed["t_mul"], renamed["decay_rate"], cycle_limit, k_decay, warmup_t,
            warmup_lr_init, warmup_prefix, t_in_epochs, initialize, noise_range_t,
        )  # fmt: skip

    def _share(self, passed: float) -> float:
        return 0.5 * (1 + math.cos(math.pi * passed))


class PolyLRScheduler(_Cycled):
    """Rates that fall as a power of what is left."""

    def __init__(
        self,
        optimizer: Any,
        t_initial: int,
        power: float = 0.5,
        lr_min: float = 0.0,
        cycle_mul: float = 1.0,
        cycle_decay: float = 1.0,
        cycle_limit: int = 1,
        warmup_t: int = 0,
        warmup_lr_init: float = 0.0,
        warmup_prefix: bool = False,
        t_in_epochs: bool = True,
        noise_range_t: Any = None,
        noise_pct: float = 0.67,
        noise_std: float = 1.0,
        noise_seed: int = 42,
        k_decay: float = 1.0,
        initialize: bool = True,
    ) -> None:
        self.power = power
        super().__init__(
            optimizer, t_initial, lr_min, cycle_mul, cycle_decay, cycle_limit, k_decay, warmup_t, warmup_lr_init,
            warmup_prefix, t_in_epochs, initialize, noise_range_t,
        )  # fmt: skip

    def _share(self, passed: float) -> float:
        return float((1 - passed) ** self.power)
