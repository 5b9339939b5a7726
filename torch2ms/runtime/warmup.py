"""Schedules with a warm-up, as Hugging Face's packages have them: factors of the first learning rates, by step.

mindone's functions of these names return lists of learning rates for MindSpore's own optimizers; these step with the
optimizer, as in PyTorch.
"""

from __future__ import annotations

import math
from typing import Any, Callable, Dict, Optional

from .schedulers import LambdaLR

__all__ = [
    "get_constant_schedule",
    "get_constant_schedule_with_warmup",
    "get_cosine_schedule_with_warmup",
    "get_cosine_with_hard_restarts_schedule_with_warmup",
    "get_inverse_sqrt_schedule",
    "get_linear_schedule_with_warmup",
    "get_polynomial_decay_schedule_with_warmup",
    "get_scheduler",
]

Factor = Callable[[int], float]


def _warmed(warmup: float, after: Factor) -> Factor:
    """Return a factor that grows from 0 to 1 in ``warmup`` steps; behind them ``after`` says it."""

    def factor(step: int) -> float:
        return step / max(1.0, warmup) if step < warmup else after(step)

    return factor


def _progress(step: int, warmup: float, training: float) -> float:
    """Return which part of the steps behind the warm-up is done."""
    return (step - warmup) / max(1.0, training - warmup)


def get_constant_schedule(optimizer: Any, last_epoch: int = -1) -> LambdaLR:
    """Keep the learning rates."""
    return LambdaLR(optimizer, lambda step: 1.0, last_epoch)


def get_constant_schedule_with_warmup(optimizer: Any, num_warmup_steps: int, last_epoch: int = -1) -> LambdaLR:
    """Warm up, and keep the learning rates."""
    return LambdaLR(optimizer, _warmed(num_warmup_steps, lambda step: 1.0), last_epoch)


def get_linear_schedule_with_warmup(
    optimizer: Any, num_warmup_steps: int, num_training_steps: int, last_epoch: int = -1
) -> LambdaLR:
    """Warm up, and go down to 0 in a straight line."""

    def after(step: int) -> float:
        return max(0.0, 1.0 - _progress(step, num_warmup_steps, num_training_steps))

    return LambdaLR(optimizer, _warmed(num_warmup_steps, after), last_epoch)


def get_cosine_schedule_with_warmup(
    optimizer: Any, num_warmup_steps: int, num_training_steps: int, num_cycles: float = 0.5, last_epoch: int = -1
) -> LambdaLR:
    """Warm up, and follow a cosine, ``num_cycles`` waves of it."""

    def after(step: int) -> float:
        angle = math.pi * num_cycles * 2.0 * _progress(step, num_warmup_steps, num_training_steps)
        return max(0.0, 0.5 * (1.0 + math.cos(angle)))

    return LambdaLR(optimizer, _warmed(num_warmup_steps, after), last_epoch)


def get_cosine_with_hard_restarts_schedule_with_warmup(
    optimizer: Any, num_warmup_steps: int, num_training_steps: int, num_cycles: int = 1, last_epoch: int = -1
) -> LambdaLR:
    """Warm up, and follow half a cosine down, ``num_cycles`` times."""

    def after(step: int) -> float:
        progress = _progress(step, num_warmup_steps, num_training_steps)
        if progress >= 1.0:
            return 0.0
        return max(0.0, 0.5 * (1.0 + math.cos(math.pi * ((num_cycles * progress) % 1.0))))

    return LambdaLR(optimizer, _warmed(num_warmup_steps, after), last_epoch)


def get_polynomial_decay_schedule_with_warmup(
    optimizer: Any,
    num_warmup_steps: int,
    num_training_steps: int,
    lr_end: float = 1e-7,
    power: float = 1.0,
    last_epoch: int = -1,
) -> LambdaLR:
    """Warm up, and go down to ``lr_end`` by a power of what is left; the first rate must be larger."""
    first = float(_first_rate(optimizer))
    if first <= lr_end:
        raise ValueError(f"lr_end ({lr_end}) must be smaller than initial lr ({first})")

    def after(step: int) -> float:
        if step > num_training_steps:
            return lr_end / first
        left = 1.0 - _progress(step, num_warmup_steps, num_training_steps)
        return float(((first - lr_end) * left**power + lr_end) / first)

    return LambdaLR(optimizer, _warmed(num_warmup_steps, after), last_epoch)


def get_inverse_sqrt_schedule(
    optimizer: Any, num_warmup_steps: int, timescale: Optional[int] = None, last_epoch: int = -1
) -> LambdaLR:
    """Warm up, and go down by the inverse of the root of the steps."""
    scale = float(num_warmup_steps or 10_000) if timescale is None else float(timescale)

    def after(step: int) -> float:
        return 1.0 / math.sqrt((step + scale - num_warmup_steps) / scale)

    return LambdaLR(optimizer, _warmed(num_warmup_steps, after), last_epoch)


def _first_rate(optimizer: Any) -> Any:
    from .optim import get_lr

    return get_lr(optimizer)


def get_scheduler(
    name: Any,
    optimizer: Any,
    num_warmup_steps: Optional[int] = None,
    num_training_steps: Optional[int] = None,
    scheduler_specific_kwargs: Optional[Dict[str, Any]] = None,
) -> LambdaLR:
    """Return the schedule of a name: "linear", "cosine", "constant_with_warmup", ..."""
    kind = str(getattr(name, "value", name))
    makers: Dict[str, Any] = {
        "linear": get_linear_schedule_with_warmup,
        "cosine": get_cosine_schedule_with_warmup,
        "cosine_with_restarts": get_cosine_with_hard_restarts_schedule_with_warmup,
        "polynomial": get_polynomial_decay_schedule_with_warmup,
        "constant": get_constant_schedule,
        "constant_with_warmup": get_constant_schedule_with_warmup,
        "inverse_sqrt": get_inverse_sqrt_schedule,
    }
    if kind not in makers:
        raise ValueError(f"get_scheduler: {kind!r} is none of {', '.join(makers)}")
    given: Dict[str, Any] = dict(scheduler_specific_kwargs or {})
    if kind != "constant":
        if num_warmup_steps is None:
            raise ValueError(f"{kind} requires `num_warmup_steps`, please provide that argument.")
        given["num_warmup_steps"] = num_warmup_steps
        if kind not in ("constant_with_warmup", "inverse_sqrt"):
            if num_training_steps is None:
                raise ValueError(f"{kind} requires `num_training_steps`, please provide that argument.")
            given["num_training_steps"] = num_training_steps
    return makers[kind](optimizer, **given)  # type: ignore[no-any-return]
