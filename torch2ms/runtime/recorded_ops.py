"""Operations whose gradients are made of recorded ones, so that PyNative can differentiate a gradient again.

Each computes what MindSpore's own does; its gradient is written in Python, where all operations are recorded, and in
the functions of this module. :mod:`.higher` puts them in the place of MindSpore's.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Optional, Sequence, Tuple

import mindspore as ms
import numpy as np
from mindspore import Tensor, ops
from mindspore.common._grad_function import _Function

__all__ = [
    "concat",
    "dense",
    "expanded",
    "extreme",
    "gather",
    "is_needed",
    "layer_norm",
    "log_softmax",
    "matmul",
    "mean",
    "normalised",
    "power",
    "softmax",
    "stack",
    "sum",
    "take",
    "tile",
    "unstack",
]


class _State:
    """Whether one of the functions below runs: what it computes with is MindSpore's own."""

    inside = False


def _plain(function: Callable[..., Any]) -> Any:
    """Let a function compute with MindSpore's own operations."""

    @functools.wraps(function)
    def plain(*args: Any) -> Any:
        before, _State.inside = _State.inside, True
        try:
            return function(*args)
        finally:
            _State.inside = before

    return staticmethod(plain)


def is_needed(*values: Any) -> bool:
    """Whether a gradient may be asked for by one of these."""
    if _State.inside:
        return False
    return any(isinstance(x, Tensor) and x._requires_grad and x.is_floating_point() for x in values)


def _axes(dim: Any, ndim: int) -> Tuple[int, ...]:
    if dim is None or (isinstance(dim, (tuple, list)) and not dim):
        return tuple(range(ndim))
    return tuple(sorted(axis % max(ndim, 1) for axis in (dim if isinstance(dim, (tuple, list)) else (dim,))))


class _Sum(_Function):
    """The sum over axes, which stay, of size 1."""

    @_plain
    def forward(ctx: Any, x: Tensor, axes: Tuple[int, ...]) -> Any:
        ctx.shape = x.shape
        return ops.sum(x, axes, True)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        return _Expand.apply(grad, ctx.shape), None


class _Expand(_Function):
    """A tensor repeated along its axes of size 1."""

    @_plain
    def forward(ctx: Any, x: Tensor, shape: Tuple[int, ...]) -> Any:
        ctx.shape, ctx.axes = x.shape, tuple(i for i, size in enumerate(x.shape) if size != shape[i])
        return ops.ones(shape, x.dtype) * x

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        return _Sum.apply(grad, ctx.axes) if ctx.axes else grad, None


class _MatMul(_Function):
    """The product of matrices, with equal axes before the last two, or none."""

    @_plain
    def forward(ctx: Any, a: Tensor, b: Tensor) -> Any:
        ctx.save_for_backward(a, b)
        return ops.matmul(a, b)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        a, b = ctx.saved_tensors
        by_a = _MatMul.apply(grad, b.swapaxes(-1, -2)) if ctx.needs_input_grad[0] else None
        by_b = _MatMul.apply(a.swapaxes(-1, -2), grad) if ctx.needs_input_grad[1] else None
        return by_a, by_b


class _Take(_Function):
    """``x[index]`` of whole numbers, slices, ``None`` and ``...``."""

    @_plain
    def forward(ctx: Any, x: Tensor, index: Any) -> Any:
        ctx.shape, ctx.index = x.shape, index
        return x[index] * 1

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        return _Put.apply(grad, ctx.shape, ctx.index), None


class _Put(_Function):
    """Zeros with ``x`` at ``index``."""

    @_plain
    def forward(ctx: Any, x: Tensor, shape: Tuple[int, ...], index: Any) -> Any:
        ctx.index = index
        wide = ms.float64 if x.dtype == ms.float64 else ms.float32
        values = np.zeros(shape, ms.dtype_to_nptype(wide))
        values[index] = x.astype(wide).asnumpy()
        return Tensor(values).astype(x.dtype)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        return _Take.apply(grad, ctx.index), None, None


class _Concat(_Function):
    """Tensors one behind the other."""

    @_plain
    def forward(ctx: Any, axis: int, *tensors: Tensor) -> Any:
        ctx.axis, ctx.sizes = axis, [x.shape[axis] for x in tensors]
        return ops.cat(tensors, axis)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        ends = np.cumsum([0, *ctx.sizes]).tolist()
        before = (slice(None),) * ctx.axis
        parts = [_Take.apply(grad, (*before, slice(a, b))) for a, b in zip(ends, ends[1:])]
        return (None, *parts)


class _Power(_Function):
    """``x ** number``."""

    @_plain
    def forward(ctx: Any, x: Tensor, number: float) -> Any:
        ctx.number = number
        ctx.save_for_backward(x)
        return x**number

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        (x,) = ctx.saved_tensors
        return grad * (power(x, ctx.number - 1) * ctx.number), None


def power(x: Tensor, number: float) -> Any:
    """Return ``x ** number``."""
    if number in (0, 1):
        return x * 1 if number else ops.ones_like(x)
    if number == 2:
        return x * x
    return _Power.apply(x, float(number))


def sum(x: Tensor, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
    """Return the sum over ``dim``, all axes by default."""
    x = x if dtype is None else x.astype(dtype)
    axes = _axes(dim, x.ndim)
    if x.ndim == 0:
        return x * 1
    found = _Sum.apply(x, axes)
    return found if keepdim else found.reshape(tuple(size for i, size in enumerate(x.shape) if i not in axes))


def mean(x: Tensor, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
    """Return the mean over ``dim``, all axes by default."""
    count = int(np.prod([x.shape[axis] for axis in _axes(dim, x.ndim)])) if x.ndim else 1
    return sum(x, dim, keepdim, dtype) / count


def expanded(x: Tensor, shape: Tuple[int, ...]) -> Any:
    """Return ``x`` in another shape, its axes of size 1 repeated."""
    x = x.reshape((1,) * (len(shape) - x.ndim) + tuple(x.shape))
    return x if tuple(x.shape) == shape else _Expand.apply(x, shape)


def matmul(a: Tensor, b: Tensor) -> Any:
    """Return ``a @ b`` of any ranks."""
    if a.ndim == 1:
        found = matmul(a.reshape((1, -1)), b)
        return found.reshape((*found.shape[:-2], found.shape[-1])) if b.ndim > 1 else found.reshape(())
    if b.ndim == 1:
        found = matmul(a, b.reshape((-1, 1)))
        return found.reshape(found.shape[:-1])
    if b.ndim == 2 and a.ndim > 2:
        found = _MatMul.apply(a.reshape((-1, a.shape[-1])), b)
        return found.reshape((*a.shape[:-1], b.shape[-1]))
    around = np.broadcast_shapes(tuple(a.shape[:-2]), tuple(b.shape[:-2]))
    return _MatMul.apply(expanded(a, (*around, *a.shape[-2:])), expanded(b, (*around, *b.shape[-2:])))


def dense(x: Tensor, weight: Tensor, bias: Optional[Tensor] = None) -> Any:
    """Return ``x @ weight.T + bias``."""
    found = matmul(x, weight.swapaxes(0, 1) if weight.ndim > 1 else weight)
    return found if bias is None else found + bias


def take(x: Tensor, index: Any) -> Any:
    """Return ``x[index]``."""
    return _Take.apply(x, index)


def concat(tensors: Sequence[Tensor], axis: int = 0) -> Any:
    """Return tensors one behind the other."""
    return _Concat.apply(axis % tensors[0].ndim, *tensors)


def stack(tensors: Sequence[Tensor], axis: int = 0) -> Any:
    """Return tensors along a new axis."""
    if not all(isinstance(x, Tensor) for x in tensors):
        return NotImplemented
    axis %= tensors[0].ndim + 1
    return _Concat.apply(axis, *(x.expand_dims(axis) for x in tensors))


def unstack(x: Tensor, axis: int = 0) -> Any:
    """Return the slices along an axis."""
    before = (slice(None),) * (axis % x.ndim)
    return tuple(_Take.apply(x, (*before, place)) for place in range(x.shape[axis]))


def softmax(x: Tensor, axis: Any = -1) -> Any:
    """Return the softmax along an axis."""
    made = ops.exp(x - ops.stop_gradient(x.max(axis, keepdims=True)))
    return made / sum(made, axis, True)


def log_softmax(x: Tensor, axis: Any = -1) -> Any:
    """Return the logarithm of the softmax along an axis."""
    away = x - ops.stop_gradient(x.max(axis, keepdims=True))
    return away - ops.log(sum(ops.exp(away), axis, True))


def normalised(x: Tensor, axes: Tuple[int, ...], eps: float) -> Tuple[Any, Any, Any]:
    """Return ``x`` with mean 0 and variance 1 over axes, the mean, and the factor."""
    middle = mean(x, axes, True)
    away = x - middle
    scale = ops.rsqrt(mean(away * away, axes, True) + eps)
    return away * scale, middle, scale


def layer_norm(x: Tensor, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Any:
    """Return ``x`` normalised over its last axes, the mean, and the factor."""
    count = len(normalized_shape) if isinstance(normalized_shape, (tuple, list)) else 1
    found, middle, scale = normalised(x, tuple(range(x.ndim - count, x.ndim)), eps)
    found = found if weight is None else found * weight
    return (found if bias is None else found + bias), middle, scale


def tile(x: Tensor, reps: Any) -> Any:
    """Return ``x`` repeated."""
    reps = tuple(reps) if isinstance(reps, (tuple, list)) else (reps,)
    rank = max(len(reps), x.ndim)
    sizes = (1,) * (rank - x.ndim) + tuple(x.shape)
    reps = (1,) * (rank - len(reps)) + reps
    apart = x.reshape(tuple(size for pair in zip((1,) * rank, sizes) for size in pair))
    whole = expanded(apart, tuple(size for pair in zip(reps, sizes) for size in pair))
    return whole.reshape(tuple(count * size for count, size in zip(reps, sizes)))


class _Gather(_Function):
    """``x.gather(dim, index)``."""

    @_plain
    def forward(ctx: Any, x: Tensor, dim: int, index: Tensor) -> Any:
        ctx.shape, ctx.dim, ctx.index = x.shape, dim, index
        return ops.gather_elements(x, dim, index)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        return _Scatter.apply(grad, ctx.shape, ctx.dim, ctx.index), None, None


class _Scatter(_Function):
    """Zeros to which ``x`` is added at the places of ``index`` along ``dim``."""

    @_plain
    def forward(ctx: Any, x: Tensor, shape: Tuple[int, ...], dim: int, index: Tensor) -> Any:
        ctx.dim, ctx.index = dim, index
        wide = ms.float64 if x.dtype == ms.float64 else ms.float32
        values = np.zeros(shape, ms.dtype_to_nptype(wide))
        places = list(np.indices(x.shape))
        places[dim] = index.asnumpy()
        np.add.at(values, tuple(places), x.astype(wide).asnumpy())
        return Tensor(values).astype(x.dtype)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        return _Gather.apply(grad, ctx.dim, ctx.index), None, None, None


def gather(x: Tensor, dim: int, index: Tensor) -> Any:
    """Return ``x.gather(dim, index)``."""
    return _Gather.apply(x, dim % x.ndim, index)


class _Extreme(_Function):
    """The largest or smallest values over axes, which stay; equal ones share the gradient."""

    @_plain
    def forward(ctx: Any, x: Tensor, find: Callable[..., Any], axes: Tuple[int, ...]) -> Any:
        found = find(x, axes, True)
        chosen = ops.equal(x, found).astype(x.dtype)
        ctx.shape, ctx.shares = x.shape, chosen / ops.sum(chosen, axes, True)
        return found

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        return expanded(grad, ctx.shape) * ctx.shares, None, None


def extreme(find: Callable[..., Any], x: Tensor, dim: Any, keepdim: bool) -> Any:
    """Return the largest or smallest values over ``dim``, as ``find`` gives them."""
    axes = _axes(dim, x.ndim)
    found = _Extreme.apply(x, find, axes)
    return found if keepdim else found.reshape(tuple(size for i, size in enumerate(x.shape) if i not in axes))
