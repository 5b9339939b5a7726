"""Element-wise functions and comparisons with PyTorch's signatures."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Optional, Tuple

import mindspore as ms
import numpy as np
from mindspore import Tensor, ops

from . import selections
from .dtypes import number
from .kernels import floor_divide

__all__ = [
    "add",
    "addcdiv",
    "addcmul",
    "allclose",
    "aminmax",
    "angle",
    "atan2",
    "complex",
    "complex_product",
    "complex_quotient",
    "deg2rad",
    "div",
    "equal",
    "float_power",
    "fmax",
    "fmin",
    "logical_xor",
    "logit",
    "mean",
    "nan_to_num",
    "nanmean",
    "nansum",
    "polar",
    "quantile",
    "rad2deg",
    "round",
    "sub",
    "view_as_complex",
    "view_as_real",
]


def add(input: Any, other: Any, *, alpha: float = 1) -> Tensor:
    """Return ``input + alpha * other``."""
    if alpha == 1:
        return input + other  # the operator takes two tensors of bools as well
    both = [isinstance(value, Tensor) and value.dtype == ms.bool_ for value in (input, other)]
    return input + (other & bool(alpha) if both == [True, True] else other * number(alpha, other))


def sub(input: Any, other: Any, *, alpha: float = 1) -> Tensor:
    """Return ``input - alpha * other``."""
    return ops.sub(input, other if alpha == 1 else other * number(alpha, other))


def addcmul(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: float = 1) -> Tensor:
    """Return ``input + value * tensor1 * tensor2``."""
    product = tensor1 * tensor2
    factor = value if product.is_floating_point() or product.is_complex() else int(value)  # as PyTorch has it
    return input + (product if factor == 1 else number(factor, product) * product)


def addcdiv(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: float = 1) -> Tensor:
    """Return ``input + value * tensor1 / tensor2``."""
    quotient = tensor1 / tensor2
    return input + (quotient if value == 1 else number(value, quotient) * quotient)


def round(input: Tensor, *, decimals: int = 0) -> Tensor:
    """Return the nearest numbers with ``decimals`` digits, halves to even."""
    if decimals == 0:
        return ops.round(input)
    scale = 10.0 ** abs(decimals)  # a power of ten is exact, one tenth is not
    return ops.round(input / scale) * scale if decimals < 0 else ops.round(input * scale) / scale


def logit(input: Tensor, eps: Optional[float] = None) -> Tensor:
    """Return ``log(input / (1 - input))``; with ``eps`` the input is held between ``eps`` and ``1 - eps`` first."""
    if eps is not None:
        input = ops.clamp(input, number(eps, input), number(1 - eps, input))
    return ops.log(input / (1 - input))


def mean(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Return the mean over ``dim``, computed in ``dtype``."""
    if dtype is not None:
        input = input.astype(dtype)
    return selections.mean(input, dim, keepdim)


def nansum(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Return the sum of the values that are numbers."""
    if dtype is not None:
        input = input.astype(dtype)
    clean = ops.where(ops.isnan(input), ops.zeros_like(input), input) if input.size else input
    return selections.sum(clean, dim, keepdim, dtype=dtype)


def nanmean(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Return the mean of the values that are numbers."""
    if dtype is not None:
        input = input.astype(dtype)
    numbers = ops.logical_not(ops.isnan(input)).astype(input.dtype)
    return nansum(input, dim, keepdim) / selections.sum(numbers, dim, keepdim)


class Extremes(NamedTuple):
    """The smallest and the largest value."""

    min: Tensor
    max: Tensor


def aminmax(input: Tensor, *, dim: Optional[int] = None, keepdim: bool = False) -> Extremes:
    """Return the smallest and the largest value, of all or along ``dim``; NaN where there is one."""
    if input.dtype == ms.bool_:  # MindSpore reduces no bool on CPU
        extremes = aminmax(input.astype(ms.int32), dim=dim, keepdim=keepdim)
        return Extremes(*(value.astype(ms.bool_) for value in extremes))
    low, high = (
        (input.min(), input.max()) if dim is None else (ops.amin(input, dim, keepdim), ops.amax(input, dim, keepdim))
    )
    if input.is_floating_point():
        lost = ops.isnan(input).astype(ms.float32)
        lost = (lost.sum() if dim is None else lost.sum(dim, keepdims=keepdim)) > 0
        nan = ops.full_like(low, float("nan"))
        low, high = ops.where(lost, nan, low), ops.where(lost, nan, high)
    if dim is None and keepdim:
        shape = (1,) * input.ndim
        return Extremes(low.reshape(shape), high.reshape(shape))
    return Extremes(low, high)


def quantile(
    input: Tensor, q: Any, dim: Optional[int] = None, keepdim: bool = False, *, interpolation: str = "linear"
) -> Tensor:
    """Return the quantiles ``q`` of all values or along ``dim``.

    The numbers are numpy's; the gradient is that of the sorted values they lie between.
    """
    values = input.asnumpy()
    points = q.asnumpy() if isinstance(q, Tensor) else np.asarray(q, values.dtype)
    result = np.quantile(values, points, axis=dim, keepdims=keepdim, method=interpolation)  # type: ignore[call-overload]
    if np.isinf(values).any():  # a value that is hit exactly needs no other one, which may be infinite
        whole = points * ((values.size if dim is None else values.shape[dim]) - 1) % 1 == 0
        exact_hits = np.quantile(values, points, axis=dim, keepdims=keepdim, method="lower")
        result = np.where(whole.reshape(points.shape + (1,) * (np.ndim(result) - points.ndim)), exact_hits, result)
    found = Tensor(np.asarray(result, values.dtype))
    rows = ops.sort(input.reshape(-1) if dim is None else ops.movedim(input, dim, -1).copy(), -1)[0]
    places = points.reshape(-1) * (rows.shape[-1] - 1)
    below, above = np.floor(places).astype(np.int64), np.ceil(places).astype(np.int64)
    share = {"lower": 0.0, "higher": 1.0, "midpoint": 0.5, "nearest": np.rint(places) - below}
    part = Tensor(np.asarray(share.get(interpolation, places - below), values.dtype))
    low, high = (ops.gather(rows, Tensor(place), -1) for place in (below, above))
    between, exact = ops.movedim(low + (high - low) * part, -1, 0).reshape(-1), found.reshape(-1)
    rest = ops.stop_gradient(exact - between)  # rounding, and what is no number
    return ops.where(ops.isfinite(rest), between + rest, exact).reshape(found.shape)


def deg2rad(input: Tensor) -> Tensor:
    """Return angles in radians, in the precision of the input: ``ops.deg2rad`` computes float64 in float32."""
    return input * number(math.pi / 180, input)


def rad2deg(input: Tensor) -> Tensor:
    """Return angles in degrees, in the precision of the input: ``ops.rad2deg`` computes float64 in float32."""
    return input * number(180 / math.pi, input)


def allclose(input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
    """Return whether ``|input - other| <= atol + rtol * |other|`` holds everywhere."""
    return bool(np.allclose(input.asnumpy(), other.asnumpy(), rtol, atol, equal_nan))


def equal(input: Tensor, other: Tensor) -> bool:
    """Return whether two tensors have the same shape and values."""
    return input.shape == other.shape and bool((input == other).all().asnumpy())


def atan2(input: Tensor, other: Tensor) -> Tensor:
    """Return the angle of (other, input); its slope where both are 0 is 0, as in PyTorch, and NaN in MindSpore's."""
    is_origin = ops.logical_and(input == 0, other == 0)
    angles = ops.atan2(input, ops.where(is_origin, ops.ones_like(other), other))
    return ops.where(is_origin, ops.stop_gradient(ops.atan2(input, other)), angles)


def complex(real: Tensor, imag: Tensor) -> Tensor:
    """Return ``real + 1j * imag``."""
    if real.shape != imag.shape:
        real, imag = _together(real, imag)
    return ops.Complex()(real, imag)


def _together(input: Tensor, other: Tensor) -> Tuple[Tensor, Tensor]:
    """Return two tensors in the shape that they have together."""
    shape = np.broadcast_shapes(input.shape, other.shape)
    return ops.broadcast_to(input, shape), ops.broadcast_to(other, shape)


def polar(abs: Tensor, angle: Tensor) -> Tensor:
    """Return the complex numbers of these magnitudes and angles, each for each or broadcast."""
    if abs.shape != angle.shape:  # MindSpore's own reads on behind the end of the shorter one
        abs, angle = _together(abs, angle)
    return ops.polar(abs, angle)


def complex_product(input: Any, other: Any) -> Any:
    """Return the product of two tensors, one of them or both complex, or a complex number.

    MindSpore's own has no gradient, and takes no tensor that is not complex beside one that is.
    Numbers and arrays are multiplied as they are.
    """
    if not (_is_complex(input) or _is_complex(other)) or not (isinstance(input, Tensor) or isinstance(other, Tensor)):
        return input * other
    a, b = _parts(input)
    c, d = _parts(other)
    if d is None:
        return ops.Complex()(a * c, b * c)
    return ops.Complex()(a * c, a * d) if b is None else ops.Complex()(a * c - b * d, a * d + b * c)


def complex_quotient(input: Any, other: Any) -> Any:
    """Return ``input / other`` as :func:`complex_product` does the product; by 0, each part is divided by it."""
    if not (_is_complex(input) or _is_complex(other)) or not (isinstance(input, Tensor) or isinstance(other, Tensor)):
        return input / other
    if not isinstance(other, Tensor):
        return complex_product(input, 1 / other if other else math.inf)
    a, b = _parts(input)
    c, d = _parts(other)
    if d is None:
        return ops.Complex()(a / c, b / c)
    scale = ops.stop_gradient(ops.maximum(ops.abs(c), ops.abs(d)))  # squares of small numbers would be 0
    is_zero = scale == 0
    scale = ops.where(is_zero, ops.ones_like(scale), scale)
    c, d = c / scale, d / scale
    length = (c * c + d * d) * scale
    real, imaginary = (a * c, -(a * d)) if b is None else (a * c + b * d, b * c - a * d)
    if not isinstance(input, Tensor):  # PyTorch multiplies it with the reciprocal of 0
        parts = (ops.where(is_zero, ops.full_like(part, math.nan), part / length) for part in (real, imaginary))
        return ops.Complex()(*parts)
    real = ops.where(is_zero, a + ops.zeros_like(real), real)
    imaginary = ops.where(is_zero, (0.0 if b is None else b) + ops.zeros_like(imaginary), imaginary)
    return ops.Complex()(real / length, imaginary / length)


def _is_complex(value: Any) -> bool:
    return value.is_complex() if isinstance(value, Tensor) else bool(np.iscomplexobj(value))


def _parts(value: Any) -> Tuple[Any, Any]:
    """Return the two parts of a complex tensor or number; None for the second where there is none."""
    if not isinstance(value, Tensor):
        return value.real, value.imag
    return (ops.real(value), ops.imag(value)) if value.is_complex() else (value, None)


def view_as_complex(input: Tensor) -> Tensor:
    """Return the complex tensor whose parts are the two columns of the last axis."""
    return ops.Complex()(input[..., 0], input[..., 1])


def angle(input: Tensor) -> Tensor:
    """Return the argument of complex numbers; pi for negative real ones."""
    if input.is_complex():
        return ops.atan2(ops.imag(input), ops.real(input))
    return ops.where(input < 0, ops.full_like(input, np.pi, dtype=ms.float32), ops.zeros_like(input))


def logical_xor(input: Tensor, other: Tensor) -> Tensor:
    """Return whether exactly one of two values is not 0."""
    return input.astype(ms.bool_) != other.astype(ms.bool_)


def float_power(input: Any, exponent: Any) -> Tensor:
    """Return the power in float64, of complex numbers in complex128."""
    if any(isinstance(x, Tensor) and x.is_complex() for x in (input, exponent)):
        left, right = (x if isinstance(x, Tensor) else Tensor(x, ms.complex128) for x in (input, exponent))
        return ops.pow(left.astype(ms.complex128), right.astype(ms.complex128))
    base = input.astype(ms.float64) if isinstance(input, Tensor) else Tensor(input, ms.float64)
    return ops.pow(base, exponent.astype(ms.float64) if isinstance(exponent, Tensor) else float(exponent))


def nan_to_num(
    input: Tensor, nan: Optional[float] = 0.0, posinf: Optional[float] = None, neginf: Optional[float] = None
) -> Tensor:
    """Return ``input`` with NaN and infinities replaced; by default 0 and the largest numbers of the dtype."""
    if not input.is_floating_point():
        return input.copy()
    limit = float(np.finfo(ms.dtype_to_nptype(input.dtype)).max)
    high, low = limit if posinf is None else posinf, -limit if neginf is None else neginf
    clean = ops.where(ops.isnan(input), ops.full_like(input, 0.0 if nan is None else nan), input)
    infinite = ops.isinf(input)
    clean = ops.where(ops.logical_and(infinite, input > 0), ops.full_like(input, high), clean)
    return ops.where(ops.logical_and(infinite, input < 0), ops.full_like(input, low), clean)


def view_as_real(input: Tensor) -> Tensor:
    """Return the real and imaginary parts of complex numbers in a new last axis."""
    return ops.stack((ops.real(input), ops.imag(input)), -1)


def fmax(input: Tensor, other: Tensor) -> Tensor:
    """Return the larger of two values; a NaN loses against a number."""
    return ops.where(ops.logical_or(input >= other, ops.isnan(other)), input, other)


def fmin(input: Tensor, other: Tensor) -> Tensor:
    """Return the smaller of two values; a NaN loses against a number."""
    return ops.where(ops.logical_or(input <= other, ops.isnan(other)), input, other)


def div(input: Any, other: Any, *, rounding_mode: Optional[str] = None) -> Tensor:
    """Return the quotient, a float for ints too; ``rounding_mode`` "floor" or "trunc" rounds it."""
    if isinstance(other, float) and isinstance(input, Tensor) and input.dtype == ms.float64:
        other = Tensor(other, ms.float64)  # a number would be rounded to float32
    if rounding_mode == "floor":
        return floor_divide(input, other)
    if rounding_mode is not None:
        if _is_whole(input) and _is_whole(other):  # MindSpore's own goes through float32
            size = floor_divide(abs(input), abs(other))
            return ops.where((input < 0) != (other < 0), -size, size)
        return ops.div(input, other, rounding_mode=rounding_mode)
    if isinstance(input, Tensor) and not input.is_floating_point():
        input = input.astype(ms.float32)
    return ops.div(input, other)


def _is_whole(value: Any) -> bool:
    if isinstance(value, Tensor):
        return value.dtype != ms.bool_ and not (value.is_floating_point() or value.is_complex())
    return isinstance(value, int) and not isinstance(value, bool)
