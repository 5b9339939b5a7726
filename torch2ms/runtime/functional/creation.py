"""Making tensors, constant and random, with PyTorch's signatures.

Arguments that say where a tensor lives or how it is stored are accepted and ignored: MindSpore has one
device a process.
"""

from __future__ import annotations

import functools
import math
from typing import Any, Iterator, Optional, Tuple

import mindspore as ms
import numpy as np
from mindspore import Tensor, ops

from ..seed import default_generator
from .dtypes import is_float_type, promote_types

__all__ = [
    "arange",
    "bernoulli",
    "bool_tensor",
    "byte_tensor",
    "calculate_gain",
    "double_tensor",
    "empty",
    "empty_like",
    "eye",
    "frombuffer",
    "get_default_dtype",
    "int_tensor",
    "linspace",
    "logspace",
    "long_tensor",
    "meshgrid",
    "multinomial",
    "new_tensor",
    "normal",
    "numbers",
    "of_numbers",
    "ones",
    "ones_like",
    "poisson",
    "rand",
    "randint",
    "randn",
    "randn_like",
    "randperm",
    "resized",
    "seed",
    "typed_tensor",
    "zeros",
    "zeros_like",
]

_COMPLEX = (ms.complex64, ms.complex128)
_HALVES = tuple(getattr(ms, name) for name in ("float16", "bfloat16") if hasattr(ms, name))
_OF_PYTHON = {bool: ms.bool_, int: ms.int64, float: ms.float32, complex: ms.complex64}


def _shape(size: Tuple[Any, ...]) -> Tuple[int, ...]:
    """Return the shape that ``*size`` says: ints, or one sequence of them."""
    sizes = size[0] if len(size) == 1 and isinstance(size[0], (tuple, list)) else size
    return tuple(int(value) for value in sizes)


def zeros(*size: Any, dtype: Any = None, **options: Any) -> Tensor:
    """Return zeros; float32 unless ``dtype`` is given."""
    return ops.zeros(_shape(size), ms.float32 if dtype is None else dtype)


def ones(*size: Any, dtype: Any = None, **options: Any) -> Tensor:
    """Return ones; float32 unless ``dtype`` is given."""
    return ops.ones(_shape(size), ms.float32 if dtype is None else dtype)


def empty(*size: Any, dtype: Any = None, **options: Any) -> Tensor:
    """Return zeros: MindSpore has no uninitialised memory on every device."""
    return zeros(*size, dtype=dtype)


def new_tensor(data: Any, *, dtype: Any = None, **options: Any) -> Tensor:
    """Return ``data`` as a new tensor; its dtype follows the data unless it is given.

    From MindSpore 2.8 on, ``Tensor(x)`` of a tensor shares the memory of ``x``.
    """
    made = Tensor(data, dtype)
    return made.copy() if isinstance(data, Tensor) else made


def of_numbers(input_data: Any, **options: Any) -> Tensor:
    """Return nested numbers as a tensor of the dtype that they have in common: numpy's own, float32 of Python's floats.

    MindSpore makes float32 and int64 of them all.
    """
    dtypes = list(_dtypes(input_data)) or [ms.float32]
    return Tensor(np.asarray(numbers(input_data)), functools.reduce(promote_types, dtypes))


def numbers(values: Any) -> Any:
    """Return nested lists with the number of each tensor in them: an element has one, whatever its axes.

    MindSpore makes further axes of those. ValueError for a tensor of several numbers, as in PyTorch.
    """
    if isinstance(values, (list, tuple)):
        return [numbers(value) for value in values]
    if not isinstance(values, Tensor):
        return values
    if values.size != 1:
        raise ValueError("only one element tensors can be converted to Python scalars")
    return values.asnumpy().reshape(()).item()


def _dtypes(data: Any) -> Iterator[Any]:
    """Yield the dtype of each number."""
    if isinstance(data, (list, tuple)):
        for part in data:
            yield from _dtypes(part)
    elif isinstance(data, (np.generic, np.ndarray)):
        yield getattr(ms, "bool_" if data.dtype.name == "bool" else data.dtype.name)
    else:
        yield data.dtype if isinstance(data, Tensor) else _OF_PYTHON.get(type(data), ms.float32)


def zeros_like(input: Tensor, *, dtype: Any = None, **options: Any) -> Tensor:
    """Return zeros in the shape of ``input``, and in its dtype unless one is given."""
    return ops.zeros_like(input, dtype=dtype)


def ones_like(input: Tensor, *, dtype: Any = None, **options: Any) -> Tensor:
    """Return ones in the shape of ``input``, and in its dtype unless one is given."""
    return ops.ones_like(input, dtype=dtype)


def empty_like(input: Tensor, *, dtype: Any = None, **options: Any) -> Tensor:
    """Return zeros in the shape of ``input``, and in its dtype unless one is given."""
    return ops.zeros_like(input, dtype=dtype)


def arange(start: Any, end: Any = None, step: Any = 1, *, dtype: Any = None, **options: Any) -> Tensor:
    """Return the numbers from ``start`` (0 when only one bound is given) up to, but without, ``end``."""
    low, high = (0, start) if end is None else (start, end)
    if dtype is None or not any(isinstance(number, float) for number in (low, high, step)):
        return ops.arange(low, high, step, dtype=dtype)
    count = max(0, math.ceil((high - low) / step))
    if not is_float_type(dtype):  # PyTorch cuts what it counts by, once it has counted
        return ops.arange(count).astype(dtype) * int(step) + int(low)
    return (ops.arange(count).astype(ms.float64) * Tensor(step, ms.float64) + Tensor(low, ms.float64)).astype(dtype)


def resized(x: Tensor, size: Any) -> Tensor:
    """Return ``x`` in another size: its elements in their order as far as there is room, zeros for what is new.

    PyTorch's ``resize_`` leaves what is new undefined; it is meant to be filled.
    """
    shape = (int(size),) if isinstance(size, int) else tuple(int(length) for length in size)
    count = int(np.prod(shape))
    flat = x.reshape(-1)
    if flat.shape[0] < count:
        flat = ops.cat((flat, ops.zeros(count - flat.shape[0], x.dtype)))
    return flat[:count].reshape(shape)


def eye(n: int, m: Optional[int] = None, *, dtype: Any = None, **options: Any) -> Tensor:
    """Return ones on the diagonal of ``n`` rows and ``m`` columns, zeros elsewhere; float32 unless dtype is given."""
    return ops.eye(n, n if m is None else m, ms.float32 if dtype is None else dtype)


def meshgrid(*tensors: Any, indexing: str = "ij") -> Tuple[Tensor, ...]:
    """Return the coordinates of a grid along each of the given axes: tensors, or one sequence of them."""
    axes = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)) else tensors
    return tuple(ops.meshgrid(*axes, indexing=indexing))


def typed_tensor(*data: Any, dtype: Any = ms.float32) -> Tensor:
    """Return values as a tensor of ``dtype``, or zeros of the size that ints give (``torch.FloatTensor(2, 3)``)."""
    if not data:
        return Tensor(np.zeros(0), dtype)
    if all(isinstance(value, int) for value in data):
        return ops.zeros(_shape(data), dtype)
    (values,) = data
    if isinstance(values, Tensor):
        return values.astype(dtype)
    return Tensor(np.asarray(values), dtype)


long_tensor = functools.partial(typed_tensor, dtype=ms.int64)
int_tensor = functools.partial(typed_tensor, dtype=ms.int32)
double_tensor = functools.partial(typed_tensor, dtype=ms.float64)
byte_tensor = functools.partial(typed_tensor, dtype=ms.uint8)
bool_tensor = functools.partial(typed_tensor, dtype=ms.bool_)


def linspace(start: Any, end: Any, steps: int, dtype: Any = None, **options: Any) -> Tensor:
    """Return ``steps`` numbers from ``start`` to ``end``, both included."""
    return Tensor(np.linspace(float(start), float(end), int(steps)), ms.float32 if dtype is None else dtype)


def logspace(start: Any, end: Any, steps: int, base: float = 10.0, dtype: Any = None, **options: Any) -> Tensor:
    """Return ``steps`` numbers from ``base ** start`` to ``base ** end``, evenly spaced on a logarithmic scale."""
    numbers = np.logspace(float(start), float(end), int(steps), base=base)
    return Tensor(numbers, ms.float32 if dtype is None else dtype)


def get_default_dtype() -> Any:
    """Return float32."""
    return ms.float32


def randn(*size: Any, dtype: Any = None, generator: Any = None, **options: Any) -> Tensor:
    """Return normal random numbers: those of a ``generator`` are PyTorch's own for the same seed."""
    shape = _shape(size)
    if generator is not None:
        drawn = generator.randns(math.prod(shape), dtype == ms.float64, dtype in _HALVES)
        return Tensor(drawn.reshape(shape), ms.float32 if dtype is None else dtype)
    if dtype in _COMPLEX:  # a variance of 1 together
        real, imaginary = (ops.randn(shape) / math.sqrt(2) for _ in range(2))
        return ops.Complex()(real, imaginary).astype(dtype)
    return ops.randn(shape, dtype=dtype)


def randn_like(input: Tensor, *, dtype: Any = None, **options: Any) -> Tensor:
    """Return normal random numbers in the shape of ``input``, and in its dtype unless one is given."""
    wanted = input.dtype if dtype is None else dtype
    if wanted in _COMPLEX:
        parts = [ops.randn(input.shape) * 0.5**0.5 for _ in range(2)]
        return ops.Complex()(parts[0], parts[1]).astype(wanted)
    return ops.randn_like(input, dtype=wanted)


def rand(*size: Any, dtype: Any = None, generator: Any = None, **options: Any) -> Tensor:
    """Return uniform random numbers in [0, 1): those of a ``generator`` are PyTorch's own for the same seed."""
    shape = _shape(size)
    if generator is not None:
        drawn = generator.rands(math.prod(shape), dtype == ms.float64)
        return Tensor(drawn.reshape(shape), ms.float32 if dtype is None else dtype)
    if dtype in _COMPLEX:
        return ops.Complex()(ops.rand(shape), ops.rand(shape)).astype(dtype)
    return ops.rand(shape, dtype=dtype)


def randint(
    low: Any = 0, high: Any = None, size: Any = None, *, dtype: Any = None, generator: Any = None, **options: Any
) -> Tensor:
    """Return random ints from ``low`` (0 when only one bound is given) up to, but without, ``high``.

    Those of a ``generator`` are PyTorch's own for the same seed.
    """
    if size is None:
        low, high, size = 0, low, high
    elif high is None:
        low, high = 0, low
    if generator is not None:
        shape = tuple(int(value) for value in size)
        drawn = [generator.randint(int(low), int(high)) for _ in range(math.prod(shape))]
        return Tensor(np.asarray(drawn, np.int64).reshape(shape), ms.int64 if dtype is None else dtype)
    numbers = ops.randint(int(low), int(high), tuple(int(value) for value in size))
    return numbers if dtype is None else numbers.astype(dtype)


def randperm(n: int, *, generator: Any = None, dtype: Any = None, **options: Any) -> Tensor:
    """Return a random order of 0 to n - 1: PyTorch's own for the same seed."""
    order = (generator or default_generator()).randperm(int(n))
    return Tensor(np.asarray(order, np.int64), ms.int64 if dtype is None else dtype)


def normal(mean: Any, std: Any = 1.0, size: Any = None, *, dtype: Any = None, **options: Any) -> Tensor:
    """Return normal random numbers; ``mean`` and ``std`` are numbers (then ``size`` is needed) or tensors.

    As in PyTorch, no gradient flows to either.
    """
    if size is None:
        size = mean.shape if isinstance(mean, Tensor) else std.shape
    noise = ops.randn(tuple(int(value) for value in size), dtype=ms.float32 if dtype is None else dtype)
    like = mean if isinstance(mean, Tensor) else std
    drawn = noise * std + mean
    drawn = ops.stop_gradient(drawn)
    return drawn.astype(like.dtype) if isinstance(like, Tensor) and like.is_floating_point() else drawn


def bernoulli(input: Tensor, p: Optional[float] = None, *, generator: Any = None) -> Tensor:
    """Return 1 with the probability that ``input`` (or ``p``) gives, else 0."""
    chance = input if p is None else ops.full_like(input, p)
    return (ops.rand(input.shape, dtype=ms.float32) < chance).astype(input.dtype)


def multinomial(input: Tensor, num_samples: int, replacement: bool = False, *, generator: Any = None) -> Tensor:
    """Return int64 indices drawn with the weights of the last axis."""
    weights = input if input.ndim == 2 else ops.expand_dims(input, 0)
    noise = ops.rand((weights.shape[0], num_samples if replacement else weights.shape[1]), dtype=ms.float32)
    if replacement:
        edges = ops.cumsum(weights, 1)
        edges = edges / edges[:, -1:]
        drawn = (ops.expand_dims(noise, 2) >= ops.expand_dims(edges, 1)).astype(ms.int32).sum(2)
        drawn = ops.minimum(drawn, Tensor(weights.shape[1] - 1, drawn.dtype)).astype(ms.int64)
    else:  # the largest of u ** (1 / w) is a draw without replacement (Efraimidis and Spirakis 2006)
        keys = ops.log(ops.maximum(noise, Tensor(1e-20, ms.float32))) / weights
        drawn = ops.topk(keys, num_samples)[1].astype(ms.int64)
    return drawn if input.ndim == 2 else drawn[0]


def poisson(input: Tensor, generator: Any = None) -> Tensor:
    """Return Poisson random numbers with the rates ``input``; drawn by numpy."""
    rates = input.asnumpy()
    return Tensor((generator or default_generator()).numpy().poisson(rates).astype(rates.dtype))


def seed() -> int:
    """Seed all generators from the operating system and return the seed."""
    from ..seed import manual_seed

    value = int(np.random.SeedSequence().generate_state(1)[0])
    manual_seed(value)
    return value


def calculate_gain(nonlinearity: str, param: Any = None) -> float:
    """Return the gain that PyTorch recommends for an activation."""
    linear = ("linear", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d")
    if nonlinearity in (*linear, "sigmoid"):
        return 1
    if nonlinearity == "tanh":
        return 5.0 / 3
    if nonlinearity == "relu":
        return float(np.sqrt(2.0))
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else float(param)
        return float(np.sqrt(2.0 / (1 + slope**2)))
    if nonlinearity == "selu":
        return 3.0 / 4
    raise ValueError(f"Unsupported nonlinearity {nonlinearity}")


def frombuffer(buffer: Any, *, dtype: Any, count: int = -1, offset: int = 0, requires_grad: bool = False) -> Tensor:
    """Return the numbers that lie in a buffer, copied."""
    found = np.frombuffer(buffer, ms.dtype_to_nptype(dtype), count, offset)
    return Tensor(found.copy())
