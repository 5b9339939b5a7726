"""Pooling layers with PyTorch's signatures: the stride defaults to the kernel."""

from __future__ import annotations

from typing import Any, Optional, Sequence, Union

from mindspore import Tensor, nn

from .. import functional as F

__all__ = [
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AdaptiveAvgPool3d",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d",
    "AvgPool1d",
    "AvgPool2d",
    "AvgPool3d",
    "LPPool2d",
    "MaxPool1d",
    "MaxPool2d",
    "MaxPool3d",
]

IntOrInts = Union[int, Sequence[int]]


class _MaxPool(nn.Cell):
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


class AvgPool1d(nn.Cell):
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
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding, self.ceil_mode, self.count_include_pad = padding, ceil_mode, count_include_pad

    def construct(self, x: Tensor) -> Tensor:
        """Return the pooled ``x``."""
        return F.avg_pool1d(x, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad)


class _AvgPool(nn.Cell):
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


class _Adaptive(nn.Cell):
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


class AdaptiveMaxPool1d(_Adaptive):
    """Max pooling of (batch, channels, length) to ``output_size``."""

    function = staticmethod(F.adaptive_max_pool1d)

    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        if return_indices:
            raise ValueError("return_indices=True has no equivalent in MindSpore's adaptive max pooling")
        super().__init__(output_size)


class AdaptiveMaxPool2d(_Adaptive):
    """Max pooling of (batch, channels, height, width) to ``output_size``."""

    function = staticmethod(F.adaptive_max_pool2d)

    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        if return_indices:
            raise ValueError("return_indices=True has no equivalent in MindSpore's adaptive max pooling")
        super().__init__(output_size)


class LPPool2d(nn.Cell):
    """Power-average pooling: ``(sum of x ** p over the window) ** (1 / p)``."""

    def __init__(
        self, norm_type: float, kernel_size: IntOrInts, stride: Optional[IntOrInts] = None, ceil_mode: bool = False
    ) -> None:
        super().__init__()
        self.norm_type, self.kernel_size, self.stride, self.ceil_mode = norm_type, kernel_size, stride, ceil_mode

    def construct(self, x: Tensor) -> Tensor:
        """Return the pooled ``x``."""
        return F.lp_pool2d(x, self.norm_type, self.kernel_size, self.stride, self.ceil_mode)
