"""Averages of weights over training, and exponential moving ones: torch.optim.swa_utils.

P. Izmailov et al., "Averaging Weights Leads to Wider Optima and Better Generalization", 2018.
"""

from __future__ import annotations

import copy
import math
from typing import Any, Callable, Iterable, List, Optional, Sequence, Union

import mindspore as ms
import numpy as np
from mindspore import nn

from .mode import trained
from .modules import buffers, parameters, register_buffer, write_into
from .resets import reset_running_stats
from .schedulers import _each, _Scheduler

__all__ = [
    "SWALR",
    "AveragedModel",
    "get_ema_avg_fn",
    "get_ema_multi_avg_fn",
    "get_swa_avg_fn",
    "get_swa_multi_avg_fn",
    "update_bn",
]

Average = Callable[[Any, Any, Any], Any]


def get_ema_avg_fn(decay: float = 0.999) -> Average:
    """Return ``f(average, current, count)``, the next exponential moving average of one tensor."""

    def update(average: Any, current: Any, count: Any) -> Any:
        return decay * average + (1 - decay) * current

    return update


def get_swa_avg_fn() -> Average:
    """Return ``f(average, current, count)``, the next mean of ``count + 1`` tensors."""

    def update(average: Any, current: Any, count: Any) -> Any:
        return average + (current - average) / (int(count) + 1)

    return update


def _of_lists(one: Average) -> Average:
    """Return a function that updates a list of averages in place."""

    def update(averages: Sequence[Any], current: Sequence[Any], count: Any) -> None:
        for average, value in zip(averages, current):
            write_into(average, one(average, value, count))

    return update


def get_ema_multi_avg_fn(decay: float = 0.999) -> Average:
    """Return :func:`get_ema_avg_fn` for lists of tensors, the first of which is updated in place.

    Written as PyTorch's lerp, which has other NaN beside infinity.
    """

    def update(average: Any, current: Any, count: Any) -> Any:
        gap = current - average
        return average + (1 - decay) * gap if abs(1 - decay) < 0.5 else current - gap * decay

    return _of_lists(update)


def get_swa_multi_avg_fn() -> Average:
    """Return :func:`get_swa_avg_fn` for lists of tensors, the first of which is updated in place."""
    return _of_lists(get_swa_avg_fn())


class AveragedModel(nn.Cell):
    """A copy of a network, ``module``, whose weights are averages of those that the network has had.

    ``avg_fn`` or ``multi_avg_fn`` say how; without them it is their mean. ``use_buffers`` averages the buffers as well,
    else they are the network's last ones. It is in train mode at first, its ``module`` in that of the network.
    """

    def __init__(
        self,
        model: nn.Cell,
        device: Any = None,
        avg_fn: Optional[Average] = None,
        multi_avg_fn: Optional[Average] = None,
        use_buffers: bool = False,
    ) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise ValueError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = copy.deepcopy(model)
        register_buffer(self, "n_averaged", ms.Tensor(0, ms.int64))
        self.use_buffers = use_buffers
        self._update = multi_avg_fn if multi_avg_fn is not None else _of_lists(avg_fn or get_swa_avg_fn())
        trained(self)

    def construct(self, *args: Any, **kwargs: Any) -> Any:
        """Return what the averaged network makes of its inputs."""
        return self.module(*args, **kwargs)

    def update_parameters(self, model: nn.Cell) -> None:
        """Take the present weights of ``model`` into the averages."""
        averages, current = self._averaged(self.module), self._averaged(model)
        if int(self.n_averaged) == 0:
            for average, value in zip(averages, current):
                write_into(average, value)
        else:
            self._update(averages, current, self.n_averaged)
        if not self.use_buffers:
            for own, value in zip(buffers(self.module), buffers(model)):
                write_into(own, value)
        write_into(self.n_averaged, self.n_averaged + 1)

    def _averaged(self, network: nn.Cell) -> List[Any]:
        return [*parameters(network), *(buffers(network) if self.use_buffers else ())]


class SWALR(_Scheduler):
    """From the present learning rates to ``swa_lr`` in ``anneal_epochs`` steps ("cos" or "linear"), where they stay."""

    def __init__(
        self,
        optimizer: Any,
        swa_lr: Union[float, Sequence[float]],
        anneal_epochs: int = 10,
        anneal_strategy: str = "cos",
        last_epoch: int = -1,
    ) -> None:
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        self.anneal_epochs, self.is_linear = anneal_epochs, anneal_strategy == "linear"
        self.swa_lrs = _each(swa_lr, len(optimizer.param_groups))
        super().__init__(optimizer, last_epoch)

    def _share(self, step: int) -> float:
        """Return the share of ``swa_lr`` in the learning rate at a step."""
        part = max(0.0, min(1.0, step / max(1, self.anneal_epochs)))
        return part if self.is_linear else (1 - math.cos(math.pi * part)) / 2

    def get_lr(self) -> List[float]:
        """Return the learning rates at ``last_epoch``."""
        step = max(1, self.last_epoch) if self.anneal_epochs == 0 else self.last_epoch
        before, share = self._share(step - 1), self._share(step)
        rates = []
        for now, swa_lr in zip(self._now(), self.swa_lrs):
            first = now if before == 1 else (now - before * swa_lr) / (1 - before)
            rates.append(share * swa_lr + (1 - share) * first)
        return rates


def update_bn(loader: Iterable[Any], model: nn.Cell, device: Any = None) -> None:
    """Set the running statistics of all batch normalisations to their means over the batches of ``loader``.

    Each batch is the network's input, or a list or tuple that begins with it.
    """
    cells = [cell for _, cell in model.cells_and_names()]
    for cell in cells:
        reset_running_stats(cell)
    means = {id(getattr(cell, "bn2d", cell)) for cell in cells if getattr(cell, "batches", None) is not None}
    norms: List[Any] = [cell for cell in cells if isinstance(getattr(cell, "moving_mean", None), ms.Parameter)]
    norms = [cell for cell in norms if id(cell) not in means]  # those average by themselves
    was_training, count = model.training, 0
    totals: List[List[Any]] = [[0.0, 0.0] for _ in norms]
    model.set_train()
    for batch in loader:
        before = [(_finite(cell.moving_mean), _finite(cell.moving_variance)) for cell in norms]
        model(batch[0] if isinstance(batch, (list, tuple)) else batch)
        count += 1
        for cell, old, total in zip(norms, before, totals):
            share = float(cell.momentum)  # of the new statistics, which follow from what they made of the old ones
            for place, new in enumerate((cell.moving_mean, cell.moving_variance)):
                total[place] = total[place] + (new.asnumpy().astype("float64") - (1 - share) * old[place]) / share
    for cell, (mean, variance) in zip(norms, totals):
        if count:
            cell.moving_mean.set_data(ms.Tensor(mean / count, cell.moving_mean.dtype))
            cell.moving_variance.set_data(ms.Tensor(variance / count, cell.moving_variance.dtype))
    model.set_train(was_training)


def _finite(statistic: ms.Parameter) -> Any:
    """Return a copy of a statistic; what is not finite in it, of which nothing follows, is set to 0 first."""
    found = statistic.asnumpy().copy()
    if not np.isfinite(found).all():
        found[~np.isfinite(found)] = 0.0
        statistic.set_data(ms.Tensor(found))
    return found
