"""Functions that are seldom used, with PyTorch's signatures; each is a line or two of portable operators."""

from __future__ import annotations

import copy
import math
from typing import Any, Callable, Sequence, Tuple

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

from . import placing, selections
from .dtypes import abs as magnitude
from .dtypes import number, promoted
from .kernels import tensor_split
from .special import polygamma
from .tensor import repeat, sort, times

__all__ = [
    "addbmm",
    "addr",
    "adjoint",
    "apply_elements",
    "as_strided",
    "as_strided_scatter",
    "assigned",
    "bitwise_left_shift",
    "bitwise_right_shift",
    "block_diag",
    "broadcast_tensors",
    "cartesian_prod",
    "copysign",
    "cummax",
    "cummin",
    "cumprod",
    "deepcopy",
    "det",
    "fill_diagonal",
    "gcd",
    "hsplit",
    "is_same_size",
    "isin",
    "isneginf",
    "isposinf",
    "lcm",
    "logaddexp2",
    "logdet",
    "map_elements",
    "map_pairs",
    "msort",
    "new_empty_strided",
    "nonzero_static",
    "polygamma_of",
    "rsub",
    "signbit",
    "slogdet",
    "sum_to_size",
    "tile",
    "vdot",
    "vsplit",
    "where_else",
]


def rsub(input: Tensor, other: Any, *, alpha: float = 1) -> Tensor:
    """Return ``other - alpha * input``."""
    return number(other, input) - (input if alpha == 1 else input * number(alpha, input))


def isposinf(input: Tensor) -> Tensor:
    """Return where the values are plus infinity."""
    return (input if input.is_floating_point() else input.astype(ms.float32)) == math.inf


def isneginf(input: Tensor) -> Tensor:
    """Return where the values are minus infinity."""
    return (input if input.is_floating_point() else input.astype(ms.float32)) == -math.inf


def signbit(input: Tensor) -> Tensor:
    """Return where the sign bit is set: below zero, and minus zero."""
    if not input.is_floating_point():
        return input < 0
    return ops.logical_or(input < 0, ops.logical_and(input == 0, ops.reciprocal(input) < 0))


def bitwise_left_shift(input: Any, other: Any) -> Tensor:
    """Return the bits of the integers moved ``other`` places to the left; one of the two may be a number."""
    return _shifted(np.left_shift, input, other)


def bitwise_right_shift(input: Any, other: Any) -> Tensor:
    """Return the bits of the integers moved ``other`` places to the right, the sign kept."""
    return _shifted(np.right_shift, input, other)


def _shifted(move: Callable[..., Any], input: Any, other: Any) -> Tensor:
    """Return what numpy makes of the bits: its dtypes are PyTorch's for ints and bools; no gradient is lost."""
    like = next(value.asnumpy().dtype for value in (input, other) if isinstance(value, Tensor))
    kind = (
        np.dtype(np.int64) if like.kind == "b" else like
    )  # beside an array without axes, numpy counts numbers as int64
    values = (value.asnumpy() if isinstance(value, Tensor) else np.asarray(value, kind) for value in (input, other))
    return Tensor(np.asarray(move(*values)))


def assigned(input: Tensor, index: Any, value: Any) -> Tensor:
    """Return ``input`` with ``value`` at ``index``, in memory of its own."""
    made = ops.deepcopy(input)  # the copy of a parameter would be one, through which no gradient gets
    made[index] = value
    return made


def msort(input: Tensor) -> Tensor:
    """Return the values sorted along the first axis."""
    return sort(input, 0)[0]


def broadcast_tensors(*tensors: Tensor) -> Tuple[Tensor, ...]:
    """Return the tensors in the shape they have together."""
    shape = np.broadcast_shapes(*(tensor.shape for tensor in tensors))
    return tuple(ops.broadcast_to(tensor, shape) for tensor in tensors)


def cummin(input: Tensor, dim: int) -> Tuple[Tensor, Tensor]:
    """Return the smallest values so far along ``dim`` and where they stand."""
    if input.ndim == 0:
        return input.copy(), ops.zeros((), ms.int64)
    if input.dtype == ms.bool_:
        values, places = cummin(input.astype(ms.int32), dim)
        return values.astype(ms.bool_), places
    _, indices = ops.cummin(ops.stop_gradient(input), dim)  # which has no gradient on CPU
    return ops.gather_elements(input, dim, indices.astype(ms.int64)), indices.astype(ms.int64)


def cummax(input: Tensor, dim: int) -> Tuple[Tensor, Tensor]:
    """Return the largest values so far along ``dim`` and where they stand; with a gradient, on CPU too."""
    if input.ndim == 0:
        return input.copy(), ops.zeros((), ms.int64)
    if input.dtype == ms.bool_:
        values, places = cummax(input.astype(ms.int32), dim)
        return values.astype(ms.bool_), places
    _, indices = ops.cummax(ops.stop_gradient(input), dim)
    return ops.gather_elements(input, dim, indices.astype(ms.int64)), indices.astype(ms.int64)


def cumprod(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """Return the products so far along ``dim``, of whole numbers and bools as int64.

    With a gradient where a factor is 0, by which MindSpore's divides.
    """
    is_whole = not (input.is_floating_point() or input.is_complex())
    whole = input.astype(dtype if dtype is not None else ms.int64) if is_whole or dtype is not None else input
    if input.ndim == 0 or 0 in input.shape:
        return whole.copy()
    parts = ops.unbind(whole, dim)
    products = [parts[0]]
    for part in parts[1:]:
        products.append(products[-1] * part)
    return ops.stack(products, dim)


def vdot(input: Tensor, other: Tensor) -> Tensor:
    """Return the dot product of two vectors; the first one conjugated where it is complex."""
    if not input.size:
        return ops.zeros((), input.dtype)
    return ((ops.conj(input) if input.is_complex() else input) * other).sum().astype(input.dtype)


def addbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """Return ``beta * input + alpha *`` the sum of the batch's matrix products."""
    if not input.is_floating_point() and not input.is_complex():
        beta, alpha = int(beta), int(alpha)  # as PyTorch takes them beside ints
    product = ops.bmm(batch1, batch2).sum(0)
    product = product if product.dtype == batch1.dtype else product.astype(batch1.dtype)  # small ints add up to int64
    product = times(alpha, product)
    return product + times(beta, input) if beta else product


def addr(input: Tensor, vec1: Tensor, vec2: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """Return ``beta * input + alpha *`` the outer product of two vectors."""
    product = vec1.expand_dims(1) * vec2
    if product.dtype == ms.bool_ and input.dtype == ms.bool_:
        product = product if alpha else ops.zeros_like(product)
        return ops.logical_or(product, input) if beta else product
    product = times(alpha, product)
    return product + times(beta, input) if beta else product


def slogdet(A: Tensor) -> Tuple[Tensor, Tensor]:
    """Return the sign and the logarithm of the magnitude of determinants of square matrices.

    The determinant itself may be beyond what a float holds.
    """
    if A.shape[-1] < 2:
        determinant = det(A)
        return ops.sign(determinant), ops.log(magnitude(determinant))
    sign, logarithm = ops.log_matrix_determinant(A)
    return ops.sign(sign), ops.real(logarithm) if logarithm.is_complex() else logarithm


def logdet(input: Tensor) -> Tensor:
    """Return the logarithm of determinants; NaN below zero, with a gradient of 0."""
    sign, logarithm = slogdet(input)
    found = logarithm.astype(sign.dtype) + ops.log(ops.stop_gradient(sign))
    return found if sign.is_complex() else found.masked_fill(sign < 0, math.nan)


def det(input: Tensor) -> Tensor:
    """Return determinants, of one row and column as well, which MindSpore refuses."""
    if input.shape[-1] == 0:
        return ops.ones(input.shape[:-2], input.dtype)
    return input.reshape(input.shape[:-2]) if input.shape[-1] == 1 else ops.det(input)


def logaddexp2(input: Tensor, other: Tensor) -> Tensor:
    """Return ``log2(2 ** input + 2 ** other)`` without overflow."""
    gap = ops.abs(input - other)
    gap = ops.where(input == other, ops.zeros_like(gap), gap)  # of infinities NaN
    return ops.maximum(input, other) + ops.log2(1 + ops.pow(2, -gap))


def gcd(input: Tensor, other: Tensor) -> Tensor:
    """Return the greatest common divisors of integers."""
    return ms.Tensor(np.asarray(np.gcd(input.asnumpy(), other.asnumpy())))


def lcm(input: Tensor, other: Tensor) -> Tensor:
    """Return the least common multiples of integers."""
    return ms.Tensor(np.asarray(np.lcm(input.asnumpy(), other.asnumpy())))


def tile(input: Tensor, *counts: Any, dims: Any = None) -> Tensor:
    """Return ``input`` repeated as often along each axis; axes that ``dims`` does not name count once."""
    given = counts if dims is None else dims
    counts = tuple(int(count) for part in given for count in (part if isinstance(part, (tuple, list)) else (part,)))
    return repeat(input, (1,) * (input.ndim - len(counts)) + counts)


def fill_diagonal(input: Tensor, fill_value: float) -> Tensor:
    """Return the matrix with another diagonal."""
    diagonal = ops.eye(input.shape[0], input.shape[1], ms.bool_)
    return ops.masked_fill(input, diagonal, ms.Tensor(fill_value, input.dtype))


def isin(elements: Any, test_elements: Any, *, assume_unique: bool = False, invert: bool = False) -> Tensor:
    """Return whether each element is among ``test_elements``; either may be a number."""
    elements, test_elements = (x if isinstance(x, Tensor) else Tensor(x) for x in (elements, test_elements))
    if not test_elements.size:
        return ops.full(elements.shape, invert, dtype=ms.bool_)
    hit = (ops.expand_dims(elements, -1) == test_elements.reshape((-1,))).astype(ms.float32).sum(-1) > 0
    return ops.logical_not(hit) if invert else hit


def copysign(input: Tensor, other: Any) -> Tensor:
    """Return ``input`` with the sign of ``other``; that of -0.0 counts."""
    sign = signbit(other) if isinstance(other, Tensor) else math.copysign(1, other) < 0
    if isinstance(other, Tensor) and other.dtype != input.dtype:
        input = promoted((input, other))[0]
    size = ops.abs(input if input.is_floating_point() else input.astype(ms.float32))
    if isinstance(sign, bool):
        return -size if sign else size
    return ops.where(sign, -size, size)


def deepcopy(value: Any) -> Any:
    """Return a copy that shares no memory, of tensors in containers as well, which Python's own would share.

    Of a network, what is not trained stays so.
    """
    if isinstance(value, dict):
        copied = copy.copy(value)
        copied.update((key, deepcopy(item)) for key, item in value.items())
        return copied
    if type(value) in (list, tuple):
        return type(value)(map(deepcopy, value))
    if isinstance(value, Tensor) and not isinstance(value, ms.Parameter):
        return value.copy()
    made = copy.deepcopy(value)
    if not hasattr(type(value), "__deepcopy__") and isinstance(getattr(value, "__dict__", None), dict):
        for name, item in vars(value).items():  # an object of the program's own
            if not isinstance(value, nn.Cell) and isinstance(item, (Tensor, dict, list, tuple)):
                object.__setattr__(made, name, deepcopy(item))
    if isinstance(value, nn.Cell):
        for (_, old), (_, new) in zip(value.cells_and_names(), made.cells_and_names()):
            for name, parameter in old._params.items():
                if parameter is not None:  # MindSpore 2.0 trains all parameters of a copy
                    new._params[name].requires_grad = parameter.requires_grad
    return made


def as_strided(input: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: Any = None) -> Tensor:
    """Return the elements at the given steps through ``input`` in its own order, as a copy."""
    places = _strided_places(size, stride, storage_offset)
    return ops.gather(input.reshape((-1,)), Tensor(places), 0).reshape(tuple(size))


def as_strided_scatter(
    input: Tensor, src: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: Any = None
) -> Tensor:
    """Return ``input`` with ``src`` at the given steps through it in its own order."""
    places = _strided_places(size, stride, storage_offset)
    flat = placing._put(input.reshape((-1,)), Tensor(places), src.astype(input.dtype).reshape((-1,)))
    return flat.reshape(input.shape)


def _strided_places(size: Sequence[int], stride: Sequence[int], storage_offset: Any) -> Any:
    places = np.full(tuple(size), storage_offset or 0, np.int64)
    for axis, (length, step) in enumerate(zip(size, stride)):
        places += (np.arange(length) * step).reshape((-1,) + (1,) * (len(size) - axis - 1))
    return places.ravel()


def new_empty_strided(input: Tensor, size: Sequence[int], stride: Sequence[int], dtype: Any = None) -> Tensor:
    """Return a tensor of this size, in the dtype of ``input`` unless one is given; it holds zeros."""
    return ops.zeros(tuple(size), input.dtype if dtype is None else dtype)


def apply_elements(input: Tensor, callable: Callable[[Any], Any]) -> Tensor:
    """Return what a function of one number makes of each element."""
    flat = [callable(value) for value in input.asnumpy().ravel().tolist()]
    return Tensor(np.array(flat).reshape(input.shape), input.dtype)


def map_elements(input: Tensor, tensor: Tensor, callable: Callable[[Any, Any], Any]) -> Tensor:
    """Return what a function of two numbers makes of each pair of elements."""
    first, second = np.broadcast_arrays(input.asnumpy(), tensor.asnumpy())
    flat = [callable(*pair) for pair in zip(first.ravel().tolist(), second.ravel().tolist())]
    return Tensor(np.array(flat).reshape(first.shape), input.dtype)


def map_pairs(input: Tensor, tensor1: Tensor, tensor2: Tensor, callable: Callable[[Any, Any, Any], Any]) -> Tensor:
    """Return what a function of three numbers makes of each element and the two beside it."""
    arrays = np.broadcast_arrays(input.asnumpy(), tensor1.asnumpy(), tensor2.asnumpy())
    flat = [callable(*three) for three in zip(*(array.ravel().tolist() for array in arrays))]
    return Tensor(np.array(flat).reshape(arrays[0].shape), input.dtype)


def nonzero_static(input: Tensor, *, size: int, fill_value: int = -1) -> Tensor:
    """Return ``size`` places of what is not zero as rows; those that are lacking hold ``fill_value``."""
    found = np.argwhere(input.asnumpy())[:size]
    rows = np.full((size, input.ndim), fill_value, np.int64)
    rows[: len(found)] = found
    return Tensor(rows)


def polygamma_of(input: Tensor, n: int) -> Tensor:
    """Return the ``n``-th derivative of ``digamma``: the method, whose tensor comes first."""
    return polygamma(n, input)


def cartesian_prod(*tensors: Tensor) -> Tensor:
    """Return all combinations of the values of 1-D tensors as rows."""
    if len(tensors) == 1:
        return tensors[0]
    grids = ops.meshgrid(*tensors, indexing="ij")
    return ops.stack([grid.reshape((-1,)) for grid in grids], 1)


def adjoint(input: Tensor) -> Tensor:
    """Return the conjugate transpose of the last two axes."""
    turned = ops.swapaxes(input, -2, -1)
    return ops.conj(turned) if input.is_complex() else turned


def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Return whether two tensors have the same shape."""
    return tuple(input.shape) == tuple(other.shape)


def where_else(input: Tensor, condition: Tensor, other: Any) -> Tensor:
    """Return ``input`` where a condition holds, ``other`` elsewhere."""
    return ops.where(condition, input, other)


def sum_to_size(input: Tensor, *size: Any) -> Tensor:
    """Return the sum over the axes along which ``size`` would be broadcast to ``input``."""
    wanted = tuple(size[0]) if len(size) == 1 and not isinstance(size[0], int) else tuple(size)
    lead = input.ndim - len(wanted)
    axes = tuple(axis for axis in range(input.ndim) if axis < lead or wanted[axis - lead] != input.shape[axis])
    if input.ndim == 0:
        return selections.sum(input)
    return (selections.sum(input, axes) if axes else input).reshape(wanted)


def block_diag(*tensors: Tensor) -> Tensor:
    """Return a matrix with the tensors along its diagonal, in the dtype that they have in common."""
    return ops.block_diag(*promoted([Tensor(t) if not isinstance(t, Tensor) else t for t in tensors]))


def hsplit(input: Tensor, indices_or_sections: Any) -> Any:
    """Return the parts along the second axis, of one with one axis along that."""
    return tensor_split(input, indices_or_sections, min(input.ndim - 1, 1))


def vsplit(input: Tensor, indices_or_sections: Any) -> Any:
    """Return the parts along the first axis."""
    return tensor_split(input, indices_or_sections, 0)
