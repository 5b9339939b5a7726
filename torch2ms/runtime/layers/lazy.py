"""Layers that learn the size of their input from the first one: ``LazyLinear``, ``LazyConv2d``, ``LazyBatchNorm2d``.

As in PyTorch, the first call makes the parameters, and turns the layer into one of the ordinary class; so does the
state of such a layer that is loaded before.
"""

from __future__ import annotations

from itertools import count
from typing import Any, Mapping

from mindspore import Tensor, nn

from ..state_hooks import register_load_hook
from . import convolution, linear, normalization

__all__ = [
    "LazyBatchNorm1d",
    "LazyBatchNorm2d",
    "LazyBatchNorm3d",
    "LazyConv1d",
    "LazyConv2d",
    "LazyConv3d",
    "LazyConvTranspose1d",
    "LazyConvTranspose2d",
    "LazyConvTranspose3d",
    "LazyInstanceNorm1d",
    "LazyInstanceNorm2d",
    "LazyInstanceNorm3d",
    "LazyLinear",
]

_NUMBERS = count()
_CONVOLUTIONS = (convolution.Conv1d, convolution.Conv2d, convolution.Conv3d)


class _Uninitialized:
    """A parameter whose shape is not known yet."""

    def __repr__(self) -> str:
        return "<UninitializedParameter>"


class _Lazy(nn.Cell):
    """Keeps the arguments of the layer it becomes; ``axes`` is how many axes of the input follow the channels."""

    becomes: Any
    axes: int
    weight = bias = _Uninitialized()

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__()
        self.given = (args, options)
        register_load_hook(self, _become_as_saved, with_module=True)

    def construct(self, x: Tensor) -> Any:
        """Become the ordinary layer for inputs like ``x``, and return what that computes."""
        # Inputs without a batch begin with their channels, except those of BatchNorm, which takes (batch, channels).
        axis = max(x.ndim - 1 - self.axes, 0)
        if issubclass(self.becomes, (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)):
            axis = 1
        self.become(x.shape[axis])
        return self.construct(x)

    def size_of(self, shape: Any) -> int:
        """Return how many channels the inputs of a layer have whose weight is of this shape."""
        if issubclass(self.becomes, _CONVOLUTIONS):
            args, options = self.given
            return int(shape[1]) * int(args[5] if len(args) > 5 else options.get("groups", 1))
        return int(shape[1 if issubclass(self.becomes, nn.Dense) else 0])

    def become(self, size: int) -> None:
        """Become the ordinary layer for inputs of ``size`` channels."""
        args, options = self.given
        made, is_training = self.becomes(size, *args, **options), self.training
        number = next(_NUMBERS)
        for name, parameter in made.parameters_and_names():
            parameter.name = f"lazy{number}.{name}"  # optimizers want other names for all
        self.__class__ = type(made)
        self.__dict__.update(made.__dict__)
        self.set_train(is_training)


def _become_as_saved(cell: nn.Cell, state: Mapping[str, Any], prefix: str, *options: Any) -> None:
    """Have a layer that has seen no input become the ordinary one from which a state was saved."""
    names = [f"{prefix}{name}" for name in ("weight", "gamma", "running_mean", "moving_mean")]
    known = next((name for name in names if name in state), None)
    if isinstance(cell, _Lazy) and known is not None:
        cell.become(cell.size_of(state[known].shape))


class LazyLinear(_Lazy):
    """A ``Linear`` without its first argument."""

    becomes, axes = linear.Linear, 0


class LazyConv1d(_Lazy):
    """A ``Conv1d`` without its first argument."""

    becomes, axes = convolution.Conv1d, 1


class LazyConv2d(_Lazy):
    """A ``Conv2d`` without its first argument."""

    becomes, axes = convolution.Conv2d, 2


class LazyConv3d(_Lazy):
    """A ``Conv3d`` without its first argument."""

    becomes, axes = convolution.Conv3d, 3


class LazyConvTranspose1d(_Lazy):
    """A ``ConvTranspose1d`` without its first argument."""

    becomes, axes = convolution.ConvTranspose1d, 1


class LazyConvTranspose2d(_Lazy):
    """A ``ConvTranspose2d`` without its first argument."""

    becomes, axes = convolution.ConvTranspose2d, 2


class LazyConvTranspose3d(_Lazy):
    """A ``ConvTranspose3d`` without its first argument."""

    becomes, axes = convolution.ConvTranspose3d, 3


class LazyBatchNorm1d(_Lazy):
    """A ``BatchNorm1d`` without its first argument."""

    becomes, axes = normalization.BatchNorm1d, 1


class LazyBatchNorm2d(_Lazy):
    """A ``BatchNorm2d`` without its first argument."""

    becomes, axes = normalization.BatchNorm2d, 2


class LazyBatchNorm3d(_Lazy):
    """A ``BatchNorm3d`` without its first argument."""

    becomes, axes = normalization.BatchNorm3d, 3


class LazyInstanceNorm1d(_Lazy):
    """An ``InstanceNorm1d`` without its first argument."""

    becomes, axes = normalization.InstanceNorm1d, 1


class LazyInstanceNorm2d(_Lazy):
    """An ``InstanceNorm2d`` without its first argument."""

    becomes, axes = normalization.InstanceNorm2d, 2


class LazyInstanceNorm3d(_Lazy):
    """An ``InstanceNorm3d`` without its first argument."""

    becomes, axes = normalization.InstanceNorm3d, 3
