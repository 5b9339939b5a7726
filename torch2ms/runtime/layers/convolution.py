"""Convolutions with PyTorch's signatures: padding as torch counts it, padding modes, output padding."""

from __future__ import annotations

from typing import Any, Sequence, Tuple, Union

import numpy as np
from mindspore import Parameter, Tensor, nn, ops

from .. import functional as F
from ..functional.image import pad
from ..kinds import Kind
from .arguments import draw_own, reset_parameters, typed

__all__ = [
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "ConvTranspose1d",
    "ConvTranspose2d",
    "ConvTranspose3d",
    "pair_to_tblr",
    "triple_to_6",
]

IntOrInts = Union[int, Sequence[int]]


def pair_to_tblr(padding: IntOrInts) -> Union[int, Tuple[int, int, int, int]]:
    """Return MindSpore's (top, bottom, left, right) for torch's (height, width); an int stays an int."""
    if isinstance(padding, (int, np.integer)):
        return int(padding)
    height, width = padding if len(padding) == 2 else (padding[0], padding[0])
    return (height, height, width, width)


def triple_to_6(padding: IntOrInts) -> Union[int, Tuple[int, ...]]:
    """Return MindSpore's (head, tail, top, bottom, left, right) for torch's (depth, height, width); an int stays."""
    if isinstance(padding, (int, np.integer)):
        return int(padding)
    values = padding if len(padding) == 3 else tuple(padding) * 3
    return tuple(value for value in values for _ in range(2))


def _ints(value: IntOrInts, count: int) -> Tuple[int, ...]:
    """Return ``count`` ints from an int or a sequence of 1 or ``count``."""
    if isinstance(value, (int, np.integer)):
        return (int(value),) * count
    return tuple(value) * count if len(value) == 1 else tuple(value)


def _same_padding(kernel: Tuple[int, ...], dilation: Tuple[int, ...]) -> Tuple[int, ...]:
    """Return the pad of ``ops.pad`` (last dimension first) that keeps the size at stride 1; an odd one at the end."""
    pad: list[int] = []
    for size, step in zip(reversed(kernel), reversed(dilation)):
        total = step * (size - 1)
        pad += [total // 2, total - total // 2]
    return tuple(pad)


class _PaddedInput:
    """How the input is padded before a convolution without padding: ``mode`` of ``pad`` and its widths."""

    def __init__(self, padding_mode: str, pad: Tuple[int, ...]) -> None:
        self.mode = padding_mode
        self.pad = pad

    def __call__(self, x: Tensor) -> Tensor:
        return ops.pad(x, self.pad, mode=self.mode) if x.ndim < 5 else pad(x, self.pad, self.mode)


def _plan(padding: Any, padding_mode: str, kernel: Tuple[int, ...], dilation: Tuple[int, ...]) -> Tuple[Any, Any]:
    """Return (what is padded in front, padding of the convolution itself, as ints)."""
    if isinstance(padding, str):
        if padding not in ("same", "valid"):
            raise ValueError(f"Invalid padding string {padding!r}, should be one of 'same', 'valid'")
        pad = _same_padding(kernel, dilation) if padding == "same" else (0,) * (2 * len(kernel))
        widths = None if any(pad[2 * i] != pad[2 * i + 1] for i in range(len(kernel))) else pad[::2][::-1]
    else:
        widths = _ints(padding, len(kernel))
        pad = tuple(value for width in reversed(widths) for value in (width, width))
    if padding_mode == "zeros":
        if widths is not None:
            return None, widths
        return _PaddedInput("constant", pad), (0,) * len(kernel)
    if padding_mode not in ("reflect", "replicate", "circular"):
        raise ValueError(f"padding_mode must be 'zeros', 'reflect', 'replicate' or 'circular', got {padding_mode!r}")
    return _PaddedInput(padding_mode, pad), (0,) * len(kernel)


class _OverLengths:
    """A convolution of MindSpore over height and width, with a weight that has no height."""

    def __init__(self, convolution: Any) -> None:
        self.convolution = convolution

    def __call__(self, x: Tensor, weight: Tensor, *shape: Any) -> Any:
        return self.convolution(x, ops.expand_dims(weight, 2), *shape)


def _without_height(weight: Parameter) -> Parameter:
    """Return a weight (O, I, 1, k) of MindSpore's one-dimensional convolutions as PyTorch has it, (O, I, k)."""
    return Parameter(ops.squeeze(weight, 2), name=weight.name)


class _Weighted:
    """What own convolutions of a program call to convolve with a weight that they compute."""

    function: Any = None

    def _conv_forward(self: Any, input: Tensor, weight: Tensor, bias: Any) -> Tensor:
        x, padding = (input, self.torch_padding) if self.padded is None else (self.padded(input), 0)
        return type(self).function(x, weight, bias, self.stride, padding, self.dilation, self.group)


class Conv1d(_Weighted, nn.Conv1d, metaclass=Kind):
    """Convolution over (batch, channels, length); unbatched (channels, length) works as well.

    The weight has PyTorch's three axes; MindSpore's has a height of 1 between them.
    """

    conv2d: Any
    weight: Any
    function = staticmethod(F.conv1d)
    reset_parameters = reset_parameters

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: IntOrInts,
        stride: IntOrInts = 1,
        padding: Union[str, IntOrInts] = 0,
        dilation: IntOrInts = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        kernel, dilations = _ints(kernel_size, 1), _ints(dilation, 1)
        padded, widths = _plan(padding, padding_mode, kernel, dilations)
        super().__init__(
            in_channels,
            out_channels,
            kernel[0],
            stride=_ints(stride, 1)[0],
            pad_mode="pad",
            padding=widths[0],
            dilation=dilations[0],
            group=groups,
            has_bias=bool(bias),
            **typed(dtype),
        )
        self.weight = _without_height(self.weight)
        self.conv2d = _OverLengths(self.conv2d)
        self.kernel_size, self.stride, self.dilation = kernel, _ints(stride, 1), dilations
        self.torch_padding = padding if isinstance(padding, str) else _ints(padding, 1)
        self.padded, self.padding_mode = padded, padding_mode
        draw_own(self)

    def construct(self, x: Tensor) -> Tensor:
        """Return the convolution of ``x``."""
        unbatched = x.ndim == 2
        if unbatched:
            x = ops.expand_dims(x, 0)
        if self.padded is not None:
            x = self.padded(x)
        y = super(Conv1d, self).construct(x)
        return ops.squeeze(y, 0) if unbatched else y


class Conv2d(_Weighted, nn.Conv2d, metaclass=Kind):
    """Convolution over (batch, channels, height, width); unbatched (channels, height, width) works as well."""

    function = staticmethod(F.conv2d)
    reset_parameters = reset_parameters

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: IntOrInts,
        stride: IntOrInts = 1,
        padding: Union[str, IntOrInts] = 0,
        dilation: IntOrInts = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        kernel, dilations = _ints(kernel_size, 2), _ints(dilation, 2)
        padded, widths = _plan(padding, padding_mode, kernel, dilations)
        super().__init__(
            in_channels,
            out_channels,
            kernel,
            stride=_ints(stride, 2),
            pad_mode="pad",
            padding=pair_to_tblr(widths),
            dilation=dilations,
            group=groups,
            has_bias=bool(bias),
            **typed(dtype),
        )
        self.torch_padding = padding if isinstance(padding, str) else _ints(padding, 2)
        self.padded, self.padding_mode = padded, padding_mode
        draw_own(self)

    def construct(self, x: Tensor) -> Tensor:
        """Return the convolution of ``x``."""
        unbatched = x.ndim == 3
        if unbatched:
            x = ops.expand_dims(x, 0)
        if self.padded is not None:
            x = self.padded(x)
        y = super(Conv2d, self).construct(x)
        return ops.squeeze(y, 0) if unbatched else y


class Conv3d(_Weighted, nn.Conv3d, metaclass=Kind):
    """Convolution over (batch, channels, depth, height, width)."""

    function = staticmethod(F.conv3d)
    reset_parameters = reset_parameters

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: IntOrInts,
        stride: IntOrInts = 1,
        padding: Union[str, IntOrInts] = 0,
        dilation: IntOrInts = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        kernel, dilations = _ints(kernel_size, 3), _ints(dilation, 3)
        padded, widths = _plan(padding, padding_mode, kernel, dilations)
        super().__init__(
            in_channels,
            out_channels,
            kernel,
            stride=_ints(stride, 3),
            pad_mode="pad",
            padding=triple_to_6(widths),
            dilation=dilations,
            group=groups,
            has_bias=bool(bias),
            **typed(dtype),
        )
        self.torch_padding = padding if isinstance(padding, str) else _ints(padding, 3)
        self.padded, self.padding_mode = padded, padding_mode
        draw_own(self)

    def construct(self, x: Tensor) -> Tensor:
        """Return the convolution of ``x``."""
        if self.padded is not None:
            x = self.padded(x)
        return super(Conv3d, self).construct(x)


def _check_zeros(padding_mode: str) -> None:
    """Transposed convolutions know zero padding only, in torch as well."""
    if padding_mode != "zeros":
        raise ValueError('Only "zeros" padding mode is supported for a transposed convolution')


class ConvTranspose1d(nn.Conv1dTranspose, metaclass=Kind):
    """Transposed convolution over (batch, channels, length), whose weight has PyTorch's three axes.

    ``output_padding`` enlarges the result at its end: the full result is computed without padding and cropped. The new
    places beyond the full result hold the bias alone.
    """

    conv2d_transpose: Any
    weight: Any

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: IntOrInts,
        stride: IntOrInts = 1,
        padding: IntOrInts = 0,
        output_padding: IntOrInts = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: IntOrInts = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        _check_zeros(padding_mode)
        extra, width = _ints(output_padding, 1)[0], _ints(padding, 1)[0]
        kernel, strides, dilations = _ints(kernel_size, 1), _ints(stride, 1), _ints(dilation, 1)
        self_crop = bool(extra)
        super().__init__(
            in_channels,
            out_channels,
            kernel[0],
            stride=strides[0],
            pad_mode="pad",
            padding=0 if self_crop else width,
            dilation=dilations[0],
            group=groups,
            has_bias=bool(bias),
            **typed(dtype),
        )
        self.weight = _without_height(self.weight)
        self.conv2d_transpose = _OverLengths(self.conv2d_transpose)
        self.kernel_size, self.stride, self.dilation = kernel, strides, dilations  # MindSpore has a height before them
        self.torch_padding = _ints(padding, 1)
        self.torch_output_padding = (extra,)
        self.fixed_length = dilations[0] * (kernel[0] - 1) + 1 - (0 if self_crop else 2 * width)
        self.crop = (width, extra) if self_crop else None
        self.beyond = max(0, extra - width)
        draw_own(self)

    def construct(self, x: Tensor) -> Tensor:
        """Return the transposed convolution of ``x``; a sample without batch axis has one axis less."""
        if x.ndim == 2:
            return ops.squeeze(self.construct(ops.expand_dims(x, 0)), 0)
        length = (x.shape[2] - 1) * self.stride[0] + self.fixed_length
        y = self.conv2d_transpose(ops.expand_dims(x, 2), self.weight, (x.shape[0], self.out_channels, 1, length))
        if self.has_bias:
            y = self.bias_add(y, self.bias)
        y = ops.squeeze(y, 2)
        if self.crop is None:
            return y
        width, extra = self.crop
        if self.beyond:
            edge = ops.zeros((y.shape[0], y.shape[1], self.beyond), y.dtype)
            if self.has_bias:
                edge = edge + self.bias.reshape((1, -1, 1))
            y = ops.concat((y, edge), 2)
        return y[:, :, width : y.shape[2] - max(0, width - extra)]


class ConvTranspose2d(nn.Conv2dTranspose, metaclass=Kind):
    """Transposed convolution over (batch, channels, height, width).

    MindSpore's own ``output_padding`` leaves the last row and column wrong; here the full result is computed without
    padding and cropped. Places beyond the full result hold the bias alone.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: IntOrInts,
        stride: IntOrInts = 1,
        padding: IntOrInts = 0,
        output_padding: IntOrInts = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: IntOrInts = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        _check_zeros(padding_mode)
        extra, widths = _ints(output_padding, 2), _ints(padding, 2)
        self_crop = any(extra)
        super().__init__(
            in_channels,
            out_channels,
            _ints(kernel_size, 2),
            stride=_ints(stride, 2),
            pad_mode="pad",
            padding=0 if self_crop else pair_to_tblr(widths),
            dilation=_ints(dilation, 2),
            group=groups,
            has_bias=bool(bias),
            **typed(dtype),
        )
        self.torch_padding, self.torch_output_padding = _ints(padding, 2), extra
        self.crop = tuple(zip(widths, extra)) if self_crop else None
        draw_own(self)

    def construct(self, x: Tensor) -> Tensor:
        """Return the transposed convolution of ``x``."""
        y = super(ConvTranspose2d, self).construct(x)
        if self.crop is None:
            return y
        for axis, (width, extra) in enumerate(self.crop, start=2):
            beyond = max(0, extra - width)
            if beyond:
                shape = list(y.shape)
                shape[axis] = beyond
                edge = ops.zeros(tuple(shape), y.dtype)
                if self.has_bias:
                    edge = edge + self.bias.reshape((1, -1, 1, 1))
                y = ops.concat((y, edge), axis)
            stop = y.shape[axis] - max(0, width - extra)
            y = y[:, :, width:stop] if axis == 2 else y[:, :, :, width:stop]
        return y


class ConvTranspose3d(nn.Conv3dTranspose, metaclass=Kind):
    """Transposed convolution over (batch, channels, depth, height, width)."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: IntOrInts,
        stride: IntOrInts = 1,
        padding: IntOrInts = 0,
        output_padding: IntOrInts = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: IntOrInts = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        _check_zeros(padding_mode)
        super().__init__(
            in_channels,
            out_channels,
            _ints(kernel_size, 3),
            stride=_ints(stride, 3),
            pad_mode="pad",
            padding=triple_to_6(_ints(padding, 3)),
            output_padding=_ints(output_padding, 3),
            group=groups,
            has_bias=bool(bias),
            **typed(dtype),
        )
        self.torch_padding, self.dilation = _ints(padding, 3), _ints(dilation, 3)
        draw_own(self)

    def construct(self, x: Tensor) -> Tensor:
        """Return the transposed convolution of ``x``."""
        if self.dilation == (1, 1, 1):
            return super(ConvTranspose3d, self).construct(x)
        bias = self.bias if self.has_bias else None
        return F.conv_transpose3d(
            x, self.weight, bias, self.stride, self.torch_padding, self.output_padding, self.group, self.dilation
        )
