"""Stand-ins, made of classic operators, for functions of mindspore.mint that have no CPU kernel.

mindone's networks are written with mint throughout, so that none of them runs on a CPU. ``install()`` puts these under
the names of mint's functions while networks are compared: that proves what the calls say, and not mint's kernels.
Nothing of this goes into OUT.
"""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Callable
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import Tensor, ops

__all__ = ["install", "used"]


def _number(value: Any) -> Any:
    return value.asnumpy().item() if isinstance(value, Tensor) else value


def arange(start: Any = 0, end: Any = None, step: Any = 1, *, dtype: Any = None) -> Any:
    """Return the numbers from start to end."""
    if end is None:
        start, end = 0, start
    values = [_number(value) for value in (start, end, step)]
    if dtype is None:
        dtype = ms.int64 if all(isinstance(value, int) for value in values) else ms.float32
    return Tensor(np.arange(*values), dtype)


def linspace(start: Any, end: Any, steps: Any, *, dtype: Any = None) -> Any:
    """Return evenly spaced numbers."""
    return Tensor(np.linspace(_number(start), _number(end), _number(steps)), dtype or ms.float32)


def embedding(
    input: Any,
    weight: Any,
    padding_idx: Any = None,
    max_norm: Any = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
) -> Any:
    """Return the rows of the weight; that of the padding gets no gradient."""
    rows = ops.gather(weight, input, 0)
    if padding_idx is None:
        return rows
    is_padding = (input == padding_idx % weight.shape[0]).expand_dims(-1)
    return ops.where(is_padding, ops.stop_gradient(rows), rows)


def addmm(input: Any, mat1: Any, mat2: Any, *, beta: float = 1, alpha: float = 1) -> Any:
    """Return a product and a sum."""
    return beta * input + alpha * ops.matmul(mat1, mat2)


def layer_norm(input: Any, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Any:
    """Return what is normalised over the last axes."""
    axes = tuple(range(-len(tuple(normalized_shape)), 0))
    centred = input - input.mean(axes, keep_dims=True)
    out = centred / ops.sqrt((centred * centred).mean(axes, keep_dims=True) + eps)
    out = out if weight is None else out * weight
    return out if bias is None else out + bias


def rms_norm(x: Any, gamma: Any, epsilon: float = 1e-6) -> Any:
    """Return x over the root of its mean square, and the factor."""
    factor = ops.rsqrt((x * x).mean(-1, keep_dims=True) + epsilon)
    return x * factor * gamma, factor


def gelu(input: Any, *, approximate: str = "none") -> Any:
    """Return the Gaussian error linear unit."""
    if approximate == "tanh":
        inner = math.sqrt(2 / math.pi) * (input + 0.044715 * input * input * input)
        return 0.5 * input * (1 + ops.tanh(inner))
    return 0.5 * input * (1 + ops.erf(input / math.sqrt(2)))


def silu(input: Any, inplace: bool = False) -> Any:
    """Return x times its sigmoid."""
    return input * ops.sigmoid(input)


def randn(*size: Any, dtype: Any = None, generator: Any = None) -> Any:
    """Return normal numbers; those of numpy, as only their distribution is asked for."""
    shape = size[0] if len(size) == 1 and isinstance(size[0], (tuple, list)) else size
    return Tensor(np.random.randn(*shape), dtype or ms.float32)


def clone(input: Any) -> Any:
    """Return a copy that gradients pass."""
    return input * 1 if input.dtype not in (ms.bool_,) else Tensor(input.asnumpy())


def cumsum(input: Any, dim: int, dtype: Any = None) -> Any:
    """Return running sums."""
    is_bool = input.dtype == ms.bool_
    return ops.CumSum()(input.astype(dtype or (ms.int64 if is_bool else input.dtype)), dim)


def pad(input: Any, pad: Any, mode: str = "constant", value: Any = None) -> Any:
    """Return the input with constants around its last axes."""
    if mode != "constant":
        raise NotImplementedError(f"stand-in for pad: {mode}")
    pairs = [tuple(pad[i : i + 2]) for i in range(0, len(pad), 2)]
    for axis, (before, behind) in zip(range(input.ndim - 1, -1, -1), pairs, strict=False):
        parts = [input] if before >= 0 else [_cut(input, axis, -before, None)]
        parts = parts if behind >= 0 else [_cut(parts[0], axis, 0, behind)]
        for count, place in ((before, 0), (behind, 1)):
            if count > 0:
                shape = (*input.shape[:axis], count, *input.shape[axis + 1 :])
                parts.insert(place * len(parts), Tensor(np.full(shape, _number(value) or 0), input.dtype))
        input = ops.cat(parts, axis) if len(parts) > 1 else parts[0]
    return input


def _cut(input: Any, axis: int, start: int, stop: Any) -> Any:
    return input[(slice(None),) * axis + (slice(start, stop),)]


def stack(tensors: Any, dim: int = 0) -> Any:
    """Return tensors along a new axis."""
    return ops.Stack(dim)(list(tensors))


def tril(input: Any, diagonal: int = 0) -> Any:
    """Return the lower triangle."""
    kept = np.tril(np.ones(input.shape[-2:]), diagonal)
    return ops.where(Tensor(kept, ms.bool_), input, ops.zeros_like(input))


def triu(input: Any, diagonal: int = 0) -> Any:
    """Return the upper triangle."""
    kept = np.triu(np.ones(input.shape[-2:]), diagonal)
    return ops.where(Tensor(kept, ms.bool_), input, ops.zeros_like(input))


def full(size: Any, fill_value: Any, *, dtype: Any = None) -> Any:
    """Return a tensor of one value."""
    value = _number(fill_value)
    plain = ms.bool_ if isinstance(value, bool) else ms.int64 if isinstance(value, int) else ms.float32
    return Tensor(np.full(tuple(size), value), dtype or plain)


def repeat_interleave(input: Any, repeats: Any, dim: Any = None, output_size: Any = None) -> Any:
    """Return the input with each element repeated."""
    count = _number(repeats) if not isinstance(repeats, (list, tuple)) else repeats
    input = input.reshape(-1) if dim is None else input
    axis = (dim or 0) % input.ndim
    places = np.repeat(np.arange(input.shape[axis]), count)
    return ops.gather(input, Tensor(places), axis)


def topk(input: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    """Return the largest values, and their places."""
    places = np.argsort(-input.asnumpy() if largest else input.asnumpy(), dim, kind="stable")
    found = Tensor(np.take(places, np.arange(k), dim))
    return ops.gather_elements(input, dim, found), found


def one_hot(tensor: Any, num_classes: int = -1) -> Any:
    """Return class numbers as rows of zeros and a one."""
    count = num_classes if num_classes >= 0 else int(tensor.asnumpy().max()) + 1
    return Tensor(np.eye(count, dtype=np.int64)[tensor.asnumpy()])


def full_like(input: Any, fill_value: Any, *, dtype: Any = None) -> Any:
    """Return a tensor of one value, of another's shape."""
    return Tensor(np.full(input.shape, _number(fill_value)), dtype or input.dtype)


def argsort(input: Any, dim: int = -1, descending: bool = False, stable: bool = False) -> Any:
    """Return the places of the values in order."""
    values = -input.asnumpy() if descending else input.asnumpy()
    return Tensor(np.argsort(values, dim, kind="stable").astype(np.int64))


def batch_norm(
    input: Any,
    running_mean: Any,
    running_var: Any,
    weight: Any = None,
    bias: Any = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Any:
    """Return what is normalised by the statistics of training, which are left as they are."""
    shape = (1, -1, *(1,) * (input.ndim - 2))
    axes = tuple(axis for axis in range(input.ndim) if axis != 1)
    mean = input.mean(axes) if training else running_mean
    spread = ((input - mean.reshape(shape)) ** 2).mean(axes) if training else running_var
    out = (input - mean.reshape(shape)) / ops.sqrt(spread.reshape(shape) + eps)
    out = out if weight is None else out * weight.reshape(shape)
    return out if bias is None else out + bias.reshape(shape)


def repeat(input: Any, *repeats: Any) -> Any:
    """Return copies along each axis."""
    counts = repeats[0] if len(repeats) == 1 and isinstance(repeats[0], (tuple, list)) else repeats
    return ops.tile(input, tuple(counts))


def nonzero(input: Any, *, as_tuple: bool = False) -> Any:
    """Return the places of what is not zero."""
    found = np.nonzero(input.asnumpy())
    return tuple(map(Tensor, found)) if as_tuple else Tensor(np.stack(found, -1))


def set_data(self: Any, data: Any, slice_shape: bool = False) -> Any:
    """Give a tensor other values: ``parameter.data`` of releases up to 2.7 was a parameter, which has this method."""
    self.assign_value(data.init_data() if hasattr(data, "init_data") else data)
    return self


def _pair(value: Any) -> tuple[int, int]:
    return (value, value) if isinstance(value, int) else tuple(value) if len(value) == 2 else (value[0], value[0])


def conv2d(
    input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Any:
    """Return a convolution over two axes."""
    named = isinstance(padding, str)
    rows, columns = (0, 0) if named else _pair(padding)
    made = ops.Conv2D(
        weight.shape[0],
        weight.shape[2:],
        pad_mode=padding if named else "pad",
        pad=0 if named else (rows, rows, columns, columns),
        stride=_pair(stride),
        dilation=_pair(dilation),
        group=groups,
    )(input, weight)
    return made if bias is None else made + bias.reshape(1, -1, 1, 1)


def conv1d(
    input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Any:
    """Return a convolution over one axis."""
    step, wide = (value if isinstance(value, int) else value[0] for value in (stride, dilation))
    sides = padding if isinstance(padding, str) else (0, padding if isinstance(padding, int) else padding[0])
    made = conv2d(input.expand_dims(2), weight.expand_dims(2), None, (1, step), sides, (1, wide), groups).squeeze(2)
    return made if bias is None else made + bias.reshape(1, -1, 1)


def masked_fill_(self: Any, mask: Any, value: Any) -> Any:
    """Fill where a mask holds, in place."""
    self.assign_value(ops.masked_fill(self, mask, Tensor(_number(value), self.dtype)))
    return self


def einsum(equation: str, *operands: Any) -> Any:
    """Return a sum of products, as numpy writes it: no gradient."""
    return Tensor(np.einsum(equation, *(operand.asnumpy() for operand in operands)))


def vector_norm(x: Any, ord: float = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """Return the root of a sum of squares."""
    if ord != 2:
        raise NotImplementedError(f"stand-in for vector_norm: {ord}")
    return ops.sqrt((x * x).sum(dim, keepdims=keepdim))


def log_softmax(input: Any, dim: Any = None, *, dtype: Any = None) -> Any:
    """Return logarithms of probabilities, written out in float64: MindSpore's kernel is off by 3e-6 in either."""
    axis = -1 if dim is None else dim
    wide = input.astype(ms.float64)
    wide = wide - ops.stop_gradient(wide.max(axis, keepdims=True))
    return (wide - ops.log(ops.exp(wide).sum(axis, keepdims=True))).astype(dtype or input.dtype)


def rand(*size: Any, dtype: Any = None, generator: Any = None) -> Any:
    """Return numbers between 0 and 1."""
    shape = size[0] if len(size) == 1 and isinstance(size[0], (tuple, list)) else size
    return Tensor(np.random.rand(*shape), dtype or ms.float32)


def adaptive_avg_pool1d(input: Any, output_size: Any) -> Any:
    """Return the mean over the last axis."""
    if _number(output_size if isinstance(output_size, int) else output_size[0]) != 1:
        raise NotImplementedError("stand-in for adaptive_avg_pool1d: one mean")
    return input.mean(-1, keep_dims=True)


def cross_entropy(
    input: Any,
    target: Any,
    weight: Any = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Any:
    """Return the cross entropy of class numbers, over the axis behind the batch."""
    if weight is not None or label_smoothing or target.dtype not in (ms.int32, ms.int64):
        raise NotImplementedError("stand-in for cross_entropy: class numbers without weights")
    axis = 1 if input.ndim > 1 else 0
    logs = log_softmax(input, axis)
    kept = (target != ignore_index).astype(input.dtype)
    numbers = ops.where(target != ignore_index, target, ops.zeros_like(target)).expand_dims(axis)
    losses = -ops.gather_elements(logs, axis, numbers).squeeze(axis) * kept
    return losses.sum() / kept.sum() if reduction == "mean" else losses.sum() if reduction == "sum" else losses


def _filled(self: Any, values: Any) -> Any:
    """Give a tensor other values in place."""
    self.assign_value(Tensor(values, self.dtype))
    return self


def normal_(self: Any, mean: float = 0.0, std: float = 1.0, *, generator: Any = None) -> Any:
    """Fill with normal numbers."""
    return _filled(self, np.random.normal(mean, std, self.shape))


def uniform_(self: Any, *bounds: Any, generator: Any = None, **named: Any) -> Any:
    """Fill with evenly distributed numbers."""
    low = bounds[0] if bounds else named.get("from_", named.get("a", 0.0))
    high = bounds[1] if len(bounds) > 1 else named.get("to", named.get("b", 1.0))
    return _filled(self, np.random.uniform(low, high, self.shape))


def fill_(self: Any, value: Any) -> Any:
    """Fill with a value."""
    return _filled(self, np.full(self.shape, _number(value)))


def zero_(self: Any) -> Any:
    """Fill with zeros."""
    return fill_(self, 0)


# Each with the names that MindSpore has for it besides mint's own
_FUNCTIONS: dict[Callable[..., Any], tuple[str, ...]] = {
    arange: (), linspace: (), embedding: (), addmm: (), layer_norm: (), rms_norm: (), gelu: (), silu: (), randn: (),
    clone: (), cumsum: (), cross_entropy: (), pad: ("pad_ext",), stack: (), tril: (), triu: (), full: (),
    repeat_interleave: (), topk: (), one_hot: (), conv2d: ("conv2d_ext_op", "conv2d_padding_op"),
    conv1d: ("conv1d_ext_op", "conv1d_padding_op"), einsum: (), vector_norm: (), full_like: (),
    log_softmax: ("log_softmax_ext",), rand: (),
    adaptive_avg_pool1d: (), argsort: (), batch_norm: ("batch_norm_ext",), nonzero: (),
}  # fmt: skip
_METHODS: tuple[Callable[..., Any], ...] = (normal_, uniform_, fill_, zero_, masked_fill_, set_data)
# Methods of tensors that run mint's kernels
_BOUND: tuple[Callable[..., Any], ...] = (clone, cumsum, repeat_interleave, tril, triu, topk, repeat)
_used: set[str] = set()


def install() -> None:
    """Put the stand-ins under their names, wherever modules hold mint's functions."""
    for function, others in _FUNCTIONS.items():
        names = (function.__name__, *others)
        found = (getattr(module, name, None) for module in _sources() for name in names)
        _swap({id(old) for old in found if callable(old)}, _told(function))
    for method in (*_METHODS, *_BOUND):
        if method is not set_data or not hasattr(Tensor, "set_data"):
            setattr(Tensor, method.__name__, _told(method))


def used() -> list[str]:
    """Return the names of the stand-ins that were called since this was last asked."""
    found = sorted(_used)
    _used.clear()
    return found


def _told(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def recording(*args: Any, **kwargs: Any) -> Any:
        _used.add(function.__name__)
        return function(*args, **kwargs)

    return recording


def _sources() -> tuple[Any, ...]:
    """Return the modules that define or hand on the functions without kernels."""
    from mindspore import mint
    from mindspore.ops.auto_generate import gen_ops_def, gen_ops_prim

    return mint, mint.nn.functional, mint.linalg, gen_ops_def, gen_ops_prim, ops.functional, ops.auto_generate


def _swap(olds: set[int], new: Any) -> None:
    for module in list(sys.modules.values()):
        if getattr(module, "__name__", "").startswith(("mindspore", "mindone")):
            for name, value in list(vars(module).items()):
                if id(value) in olds:
                    setattr(module, name, new)
