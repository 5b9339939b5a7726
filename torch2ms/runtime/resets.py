"""Weights and statistics of layers, made anew like PyTorch's ``reset_parameters``, or kept as they were."""

from __future__ import annotations

import contextlib
import math
from typing import Any, Iterator

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

from .initializers import kaiming_uniform_, normal_, uniform_

__all__ = ["can_reset", "kept_statistics", "reset_as", "reset_parameters", "reset_running_stats"]

_WEIGHTS = ("reset_parameters", "gamma", "bn2d", "moving_mean", "embedding_table", "hidden_size")


def can_reset(layer: object) -> bool:
    """Whether :func:`reset_parameters` knows how: PyTorch's layers with weights have such a method, others do not."""
    value = getattr(layer, "weight", None)
    return any(hasattr(layer, name) for name in _WEIGHTS) or (value is not None and value.ndim > 1)


@contextlib.contextmanager
def kept_statistics(*networks: nn.Cell) -> Iterator[None]:
    """Run networks without moving the statistics of their normalizations: the same batch has moved them before."""
    layers = [cell for network in networks for _, cell in network.cells_and_names()]
    statistics = [getattr(layer, name, None) for layer in layers for name in ("moving_mean", "moving_variance")]
    before = [(value, ops.stop_gradient(value).copy()) for value in statistics if value is not None]
    counts = [
        (layer, name, vars(layer)[name])
        for layer in layers
        for name in ("batches", "num_batches_tracked")
        if vars(layer).get(name) is not None
    ]
    yield
    for value, kept in before:
        ops.assign(value, kept)
    for layer, name, count in counts:
        setattr(layer, name, count)


def reset_running_stats(layer: nn.Cell) -> None:
    """Set the running mean of a normalisation layer to 0 and its variance to 1, where it has them."""
    cell: Any = getattr(layer, "bn2d", layer)  # BatchNorm3d keeps its parameters in an inner layer
    for name, fill in (("moving_mean", ops.zeros_like), ("moving_variance", ops.ones_like)):
        value = getattr(cell, name, None)
        if value is not None:
            ops.assign(value, fill(value))
    if getattr(layer, "batches", None) is not None:
        layer.batches = 0
    if getattr(layer, "num_batches_tracked", None) is not None:
        layer.num_batches_tracked = Tensor(0, ms.int64)


def reset_parameters(layer: nn.Cell) -> None:
    """Draw the weights of a layer anew, as PyTorch does when it makes the layer.

    ``super()`` of a layer stands for what its base classes do. Raises AttributeError for a layer whose weights PyTorch
    has no such method for.
    """
    own: Any = layer
    if hasattr(own, "reset_parameters"):
        own.reset_parameters()
    else:
        _draw(getattr(own, "__self__") if isinstance(own, super) else own)  # noqa: B009  not in the stubs


def reset_as(base: type, layer: nn.Cell) -> None:
    """Draw the weights of a layer anew as its class ``base`` does, whatever the layer's own class does."""
    inherited = getattr(base, "reset_parameters", None)
    if inherited is None:
        _draw(layer)
    else:
        inherited(layer)


def _draw(own: Any) -> None:
    """Draw the weights by what the layer has."""
    if hasattr(own, "gamma") or hasattr(own, "bn2d") or hasattr(own, "moving_mean"):
        cell: Any = getattr(own, "bn2d", own)
        for name, fill in (("gamma", ops.ones_like), ("beta", ops.zeros_like)):
            value = getattr(cell, name, None)
            if value is not None:
                ops.assign(value, fill(value))
        reset_running_stats(own)
    elif hasattr(own, "embedding_table"):
        normal_(own.embedding_table)
        if getattr(own, "padding_idx", None) is not None:
            table = own.embedding_table.asnumpy().copy()
            table[own.padding_idx] = 0
            ops.assign(own.embedding_table, Tensor(table))
    elif hasattr(own, "hidden_size"):
        bound = 1 / math.sqrt(own.hidden_size)
        for parameter in own.get_parameters():
            uniform_(parameter, -bound, bound)
    elif hasattr(own, "weight") and own.weight.ndim > 1:
        bound = 1 / math.sqrt(int(np.prod(own.weight.shape[1:])))
        kaiming_uniform_(own.weight, a=math.sqrt(5))
        if getattr(own, "bias", None) is not None:
            uniform_(own.bias, -bound, bound)
    else:
        raise AttributeError(f"{type(own).__name__} has no reset_parameters")
