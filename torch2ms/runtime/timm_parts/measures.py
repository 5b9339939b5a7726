"""What training keeps beside the weights: means of what it sees, moving averages of the weights, the network inside."""

from __future__ import annotations

import copy
from typing import Any, Dict, List, Optional, Sequence

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn

from .. import modules
from ..vision.building import Network

__all__ = ["AverageMeter", "ModelEma", "ModelEmaV2", "accuracy", "get_state_dict", "unwrap_model"]


class AverageMeter:
    """The last value and the mean of all, each weighed by a count."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget what was seen."""
        self.val: Any = 0
        self.avg: Any = 0
        self.sum: Any = 0
        self.count: Any = 0

    def update(self, val: Any, n: Any = 1) -> None:
        """Take a value that stands for ``n``."""
        self.val = val
        self.sum += val * n
        self.count += n
        self.avg = self.sum / self.count if self.count else 0


def accuracy(output: Tensor, target: Tensor, topk: Sequence[int] = (1,)) -> List[Tensor]:
    """Return for each k the percentage of (batch, classes) whose target is among the k largest."""
    classes = output.shape[1]
    _, predicted = output.topk(min(max(topk), classes), 1)
    found = (target.asnumpy().reshape(1, -1) == predicted.asnumpy().T).astype(np.float32)
    return [Tensor(found[: min(k, classes)].sum() * 100.0 / target.shape[0], ms.float32) for k in topk]


def unwrap_model(model: Any) -> nn.Cell:
    """Return the network inside of an average of weights or of another network that only hands on to it."""
    while True:
        inner = getattr(model, "ema", None) if isinstance(model, ModelEma) else getattr(model, "module", None)
        if inner is None:
            return model
        model = inner


def get_state_dict(model: Any, unwrap_fn: Any = unwrap_model) -> Dict[str, Any]:
    """Return weights and buffers of the network inside."""
    return modules.state_dict(unwrap_fn(model))


def _average(average: nn.Cell, model: nn.Cell, decay: float) -> None:
    """Move weights and buffers of one network towards those of another."""
    current = [value for _, value in _values(model)]
    for (_, value), new in zip(_values(average), current):
        modules.write_into(value, (value * decay + (1.0 - decay) * new).astype(value.dtype))


def _values(network: nn.Cell) -> List[Any]:
    return [*modules.named_parameters(network), *_stored(network)]


def _stored(network: nn.Cell) -> List[Any]:
    return [(name, value) for name, value in modules.named_buffers(network) if not name.endswith("num_batches_tracked")]


def _frozen_copy(model: nn.Cell) -> nn.Cell:
    made = copy.deepcopy(model).set_train(False)
    modules.requires_grad_(made, False)
    return made


class ModelEma:
    """A copy of a network, ``ema``, whose weights and buffers are moving averages."""

    def __init__(self, model: nn.Cell, decay: float = 0.9999, device: Any = "", resume: str = "") -> None:
        if resume:
            raise ValueError("load the average by its own load_state_dict")
        self.ema = _frozen_copy(model)
        self.decay, self.device = decay, device
        self.ema_has_module = hasattr(self.ema, "module")

    def update(self, model: nn.Cell) -> None:
        """Move the averages towards a network's weights."""
        _average(self.ema, unwrap_model(model) if not self.ema_has_module else model, self.decay)


class ModelEmaV2(Network):
    """A copy of a network, ``module``, whose weights and buffers are moving averages."""

    def __init__(self, model: nn.Cell, decay: float = 0.9999, device: Optional[Any] = None) -> None:
        super().__init__()
        self.module = _frozen_copy(model)
        self.decay, self.device = decay, device

    def update(self, model: nn.Cell) -> None:
        """Move the averages towards a network's weights."""
        _average(self.module, model, self.decay)

    def set(self, model: nn.Cell) -> None:
        """Take a network's weights as they are."""
        _average(self.module, model, 0.0)

    def construct(self, *args: Any, **kwargs: Any) -> Any:
        """Return what the averaged network gives."""
        return self.module(*args, **kwargs)
