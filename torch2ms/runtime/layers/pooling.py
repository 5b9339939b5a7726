"""Pooling layers with PyTorch's signatures: the stride defaults to the kernel."""

from __future__ import annotations

from typing import Any, Optional, Sequence, Tuple, Union

from mindspore import Tensor, nn

from .. import functional as F
from ..kinds import Kind

__all__ = [
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AdaptiveAvgPool3d",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d",
    "AvgPool1d",
    "AvgPool2d",
    "AvgPool3d",
    "FractionalMaxPool2d",
    "FractionalMaxPool3d",
    "LPPool1d",
    "LPPool2d",
    "LPPool3d",
    "MaxPool1d",
    "MaxPool2d",
    "MaxPool3d",
    "MaxUnpool1d",
    "MaxUnpool2d",
    "MaxUnpool3d",
]

IntOrInts = Union[int, Sequence[int]]


def _for_each(value: Any, axes: int) -> Tuple[Any, ...]:
    """Return a setting as a tuple, a number once for each axis."""
    return tuple(value) if isinstance(value, (tuple, list)) else (value,) * axes


class _MaxPool(nn.Cell, metaclass=Kind):
    """Largest value of each window."""

    function: Any = None

    def __init__(
        self,
        kernel_size: IntOrInts,
        stride: Optional[IntOrInts] = None,
        padding: IntOrInts = 0,
        dilation: IntOrInts = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding, self.dilation = padding, dilation
        self.return_indices, self.ceil_mode = return_indices, ceil_mode

    def construct(self, x: Tensor) -> Any:
        """Return the pooled ``x``, with the indices when asked for."""
        return type(self).function(
            x, self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode, self.return_indices
        )


class MaxPool1d(_MaxPool):
    """Max pooling of (batch, channels, length)."""

    function = staticmethod(F.max_pool1d)


class MaxPool2d(_MaxPool):
    """Max pooling of (batch, channels, height, width)."""

    function = staticmethod(F.max_pool2d)


class MaxPool3d(_MaxPool):
    """Max pooling of (batch, channels, depth, height, width)."""

    function = staticmethod(F.max_pool3d)


class AvgPool1d(nn.Cell, metaclass=Kind):
    """Average pooling of (batch, channels, length)."""

    def __init__(
        self,
        kernel_size: IntOrInts,
        stride: Optional[IntOrInts] = None,
        padding: IntOrInts = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        super().__init__()
        self.kernel_size = _for_each(kernel_size, 1)
        self.stride = self.kernel_size if stride is None else _for_each(stride, 1)
        self.padding, self.ceil_mode, self.count_include_pad = _for_each(padding, 1), ceil_mode, count_include_pad

    def construct(self, x: Tensor) -> Tensor:
        """Return the pooled ``x``."""
        return F.avg_pool1d(x, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad)


class _AvgPool(nn.Cell, metaclass=Kind):
    """Mean of each window."""

    function: Any = None

    def __init__(
        self,
        kernel_size: IntOrInts,
        stride: Optional[IntOrInts] = None,
        padding: IntOrInts = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: Optional[int] = None,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding, self.ceil_mode, self.count_include_pad = padding, ceil_mode, count_include_pad
        self.divisor_override = divisor_override

    def construct(self, x: Tensor) -> Tensor:
        """Return the pooled ``x``."""
        return type(self).function(
            x,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
            self.divisor_override,
        )


class AvgPool2d(_AvgPool):
    """Average pooling of (batch, channels, height, width)."""

    function = staticmethod(F.avg_pool2d)


class AvgPool3d(_AvgPool):
    """Average pooling of (batch, channels, depth, height, width)."""

    function = staticmethod(F.avg_pool3d)


class _Adaptive(nn.Cell, metaclass=Kind):
    """Pooling to a given size."""

    function: Any = None

    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size

    def construct(self, x: Tensor) -> Tensor:
        """Return the pooled ``x``."""
        return type(self).function(x, self.output_size)


class AdaptiveAvgPool1d(_Adaptive):
    """Average pooling of (batch, channels, length) to ``output_size``."""

    function = staticmethod(F.adaptive_avg_pool1d)


class AdaptiveAvgPool2d(_Adaptive):
    """Average pooling of (batch, channels, height, width) to ``output_size``."""

    function = staticmethod(F.adaptive_avg_pool2d)


class AdaptiveAvgPool3d(_Adaptive):
    """Average pooling of (batch, channels, depth, height, width) to ``output_size``."""

    function = staticmethod(F.adaptive_avg_pool3d)


class _AdaptiveMax(nn.Cell, metaclass=Kind):
    """Largest value of each of ``output_size`` windows, with its place when asked for."""

    function: Any = None

    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__()
        self.output_size, self.return_indices = output_size, return_indices

    def construct(self, x: Tensor) -> Any:
        """Return the pooled ``x``, with the indices when asked for."""
        return type(self).function(x, self.output_size, self.return_indices)


class AdaptiveMaxPool1d(_AdaptiveMax):
    """Max pooling of (batch, channels, length) to ``output_size``."""

    function = staticmethod(F.adaptive_max_pool1d)


class AdaptiveMaxPool2d(_AdaptiveMax):
    """Max pooling of (batch, channels, height, width) to ``output_size``."""

    function = staticmethod(F.adaptive_max_pool2d)


class AdaptiveMaxPool3d(_AdaptiveMax):
    """Max pooling of (batch, channels, depth, height, width) to ``output_size``."""

    function = staticmethod(F.adaptive_max_pool3d)


class _LPPool(nn.Cell, metaclass=Kind):
    """Power-average pooling: ``(sum of x ** p over the window) ** (1 / p)``."""

    function: Any = None

    def __init__(
        self, norm_type: float, kernel_size: IntOrInts, stride: Optional[IntOrInts] = None, ceil_mode: bool = False
    ) -> None:
        super().__init__()
        self.norm_type, self.kernel_size, self.stride, self.ceil_mode = norm_type, kernel_size, stride, ceil_mode

    def construct(self, x: Tensor) -> Tensor:
        """Return the pooled ``x``."""
        return type(self).function(x, self.norm_type, self.kernel_size, self.stride, self.ceil_mode)


class LPPool1d(_LPPool):
    """Power-average pooling of (batch, channels, length)."""

    function = staticmethod(F.lp_pool1d)


class LPPool2d(_LPPool):
    """Power-average pooling of (batch, channels, height, width)."""

    function = staticmethod(F.lp_pool2d)


class LPPool3d(_LPPool):
    """Power-average pooling of (batch, channels, depth, height, width)."""

    function = staticmethod(F.lp_pool3d)


class _MaxUnpool(nn.Cell, metaclass=Kind):
    """The inverse of max pooling: the maxima at their places, zeros elsewhere."""

    function: Any = None
    axes = 1

    def __init__(self, kernel_size: IntOrInts, stride: Optional[IntOrInts] = None, padding: IntOrInts = 0) -> None:
        super().__init__()
        self.kernel_size, self.padding = _for_each(kernel_size, self.axes), _for_each(padding, self.axes)
        self.stride = self.kernel_size if stride is None else _for_each(stride, self.axes)

    def construct(self, x: Tensor, indices: Tensor, output_size: Optional[Sequence[int]] = None) -> Tensor:
        """Return the values of ``x`` at ``indices`` (of the flattened axes) in zeros."""
        return type(self).function(x, indices, self.kernel_size, self.stride, self.padding, output_size)


class MaxUnpool1d(_MaxUnpool):
    """Inverse max pooling of (batch, channels, length)."""

    function = staticmethod(F.max_unpool1d)


class MaxUnpool2d(_MaxUnpool):
    """Inverse max pooling of (batch, channels, height, width)."""

    function = staticmethod(F.max_unpool2d)
    axes = 2


class MaxUnpool3d(_MaxUnpool):
    """Inverse max pooling of (batch, channels, depth, height, width)."""

    function = staticmethod(F.max_unpool3d)
    axes = 3


class _FractionalMaxPool(nn.Cell, metaclass=Kind):
    """Max pooling of windows that start at random places, drawn at every call."""

    function: Any = None
    axes = 2

    def __init__(
        self,
        kernel_size: IntOrInts,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Optional[Tensor] = None,
    ) -> None:
        super().__init__()
        self.kernel_size, self.return_indices = _for_each(kernel_size, self.axes), return_indices
        self.output_size = None if output_size is None else _for_each(output_size, self.axes)
        self.output_ratio, self._random_samples = output_ratio, _random_samples

    def construct(self, x: Tensor) -> Any:
        """Return the pooled ``x``, with the places of the maxima when asked for."""
        return type(self).function(
            x, self.kernel_size, self.output_size, self.output_ratio, self.return_indices, self._random_samples
        )


class FractionalMaxPool2d(_FractionalMaxPool):
    """Fractional max pooling of (batch, channels, height, width)."""

    function = staticmethod(F.fractional_max_pool2d)
    axes = 2


class FractionalMaxPool3d(_FractionalMaxPool):
    """Fractional max pooling of (batch, channels, depth, height, width)."""

    function = staticmethod(F.fractional_max_pool3d)
    axes = 3
