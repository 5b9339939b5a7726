"""Batch normalisation that is put into the weights of the layer before it, for evaluation."""

from __future__ import annotations

from typing import Any, Tuple

import mindspore as ms
from mindspore import Tensor, nn, ops

from ..functional import deepcopy

__all__ = ["fuse_conv_bn_eval", "fuse_linear_bn_eval", "skip_init"]


def fuse_conv_bn_eval(conv: nn.Cell, bn: nn.Cell, transpose: bool = False) -> nn.Cell:
    """Return a convolution that computes what ``conv`` and then ``bn`` do; of a transposed one, say so."""
    return _fused(conv, bn, 1 if transpose else 0)


def fuse_linear_bn_eval(linear: nn.Cell, bn: nn.Cell) -> nn.Cell:
    """Return a linear layer that computes what ``linear`` and then ``bn`` do."""
    return _fused(linear, bn, 0)


def skip_init(module_cls: Any, *args: Any, device: Any = None, **kwargs: Any) -> Any:
    """Return a layer whose weights are to be set; they are drawn as ever."""
    return module_cls(*args, **kwargs)


def _fused(layer: Any, bn: Any, axis: int) -> nn.Cell:
    if layer.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    scale, shift = _change(getattr(bn, "bn2d", bn))  # BatchNorm3d keeps its parameters in an inner layer
    shape = tuple(-1 if place == axis else 1 for place in range(layer.weight.ndim))
    fused = deepcopy(layer)
    fused.weight.set_data(layer.weight.value() * scale.reshape(shape))
    if layer.has_bias:
        fused.bias.set_data(layer.bias.value() * scale + shift)
        return fused
    for held in (vars(fused), fused._params):
        held.pop("bias", None)
    fused.has_bias, fused.bias = True, ms.Parameter(shift, name="bias")
    if not hasattr(fused, "bias_add"):
        fused.bias_add = ops.BiasAdd()
    return fused


def _change(bn: Any) -> Tuple[Tensor, Tensor]:
    """Return what a normalisation multiplies by, and what it adds."""
    scale = bn.gamma.value() / ops.sqrt(bn.moving_variance.value() + bn.eps)
    return scale, bn.beta.value() - bn.moving_mean.value() * scale
