"""Layers that are handed one sample without a batch around it, as PyTorch allows and MindSpore's layers do not."""

from __future__ import annotations

from typing import Any, Optional, Tuple

from mindspore import Tensor, nn, ops

from . import packing
from .layers import families
from .layers.projected import ProjectedLSTM

__all__ = ["run"]

_SEQUENCES = (nn.LSTM, nn.GRU, nn.RNN, ProjectedLSTM)
_CELLS = (nn.LSTMCell, nn.GRUCell, nn.RNNCell)


def run(layer: nn.Cell, *inputs: Any) -> Any:
    """Return what ``layer`` makes of its inputs, which get a batch of one where they have none, and lose it after.

    A convolution takes (channels, ...), a recurrent layer (length, features) with states (layers, features), a single
    step (features,). Inputs that have a batch are handed on as they are. A sequence of layers that begins with a
    convolution gets the batch as a whole.
    """
    if isinstance(inputs[0], packing.PackedSequence):  # what a function of the program's own may have packed
        return packing.run(layer, *inputs)
    if isinstance(layer, nn.SequentialCell):  # the first layer says whether there is a batch
        parts = list(layer)
        if not parts or _axes(parts[0], inputs[0]) is None:
            return layer(*inputs)
        return _without_batch(layer(ops.expand_dims(inputs[0], 0)), 0)
    axes = _axes(layer, inputs[0])
    if axes is None:
        return layer(*inputs)
    first, rest = axes
    result = layer(ops.expand_dims(inputs[0], first), *(_with_batch(value, rest) for value in inputs[1:]))
    if isinstance(layer, _SEQUENCES):
        return _without_batch(result[0], first), _without_batch(result[1], rest)
    return _without_batch(result, first)


def _axes(layer: Any, input: Tensor) -> Optional[Tuple[int, int]]:
    """Return the place of the batch in an input and in a state; None where the input has one."""
    if isinstance(layer, _SEQUENCES):
        return (0 if layer.batch_first else 1, 1) if input.ndim == 2 else None
    if isinstance(layer, _CELLS):
        return (0, 0) if input.ndim == 1 else None
    if isinstance(layer, families.Convolutions):
        return (0, 0) if input.ndim == _rank(layer) + 1 else None
    return None


def _rank(layer: Any) -> int:
    """Return over how many axes a convolution goes."""
    name = next(cls.__name__ for cls in type(layer).__mro__ if cls.__name__.startswith("Conv"))
    return next(int(letter) for letter in name if letter.isdigit())


def _with_batch(value: Any, axis: int) -> Any:
    if isinstance(value, (tuple, list)):
        return tuple(_with_batch(part, axis) for part in value)
    return value if value is None else ops.expand_dims(value, axis)


def _without_batch(value: Any, axis: int) -> Any:
    if isinstance(value, (tuple, list)):
        return tuple(_without_batch(part, axis) for part in value)
    return ops.squeeze(value, axis)
