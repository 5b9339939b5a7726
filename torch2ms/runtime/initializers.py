"""Fill a tensor in place with torch.nn.init's distributions, and give it back.

For what ``tensor.set_data(initializer(...))`` cannot say: tensors that are no parameters, values used on the spot,
bounds that are not symmetric. Random numbers are MindSpore's: seeded by ``ms.set_seed``, other numbers than PyTorch's.
"""

from __future__ import annotations

import math
from typing import Any, Union

import mindspore as ms
import mindspore.common.initializer as init
import numpy as np

from .modules import write_into

__all__ = [
    "calculate_gain",
    "constant_",
    "dirac_",
    "eye_",
    "fan_in_and_fan_out",
    "fill",
    "kaiming_normal_",
    "kaiming_uniform_",
    "normal_",
    "ones_",
    "orthogonal_",
    "sparse_",
    "trunc_normal_",
    "uniform_",
    "xavier_normal_",
    "xavier_uniform_",
    "zeros_",
]

_LINEAR = (
    "linear",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "sigmoid",
)


def fill(tensor: ms.Tensor, how: Any) -> ms.Tensor:
    """Fill ``tensor`` as ``how`` (an Initializer, its name, or a number) says, and return it."""
    if 0 in tensor.shape:
        return tensor
    made = init.initializer(how, tensor.shape, tensor.dtype).init_data()
    return _assign(tensor, made)


def _assign(tensor: ms.Tensor, made: ms.Tensor) -> ms.Tensor:
    if isinstance(tensor, ms.Parameter):
        write_into(tensor, made)  # what set_data replaced, an optimizer that has stepped trains no more
    else:
        _write_through(tensor, made)
    return tensor


def _write_through(tensor: ms.Tensor, made: ms.Tensor) -> None:
    """Write into the memory of a tensor, which views and other names of a weight share.

    Not with ``assign_value``: what was computed from the tensor just before may see the new values. What ``[()]``
    fills itself, and no view of it, ``ops.assign`` refuses from then on, or does not reach (MindSpore 2.7 to 2.9). And
    after an error in a gradient function a view keeps what it is filled with to itself: then the tensor alone changes.
    """
    if ms.__version__.startswith("2.0."):  # which has no views
        tensor[...] = made
        return
    if tensor.is_contiguous():
        tensor.view(-1)[()] = made.reshape(-1)
    else:  # a view already
        tensor[()] = made
    if not np.array_equal(tensor.asnumpy(), made.asnumpy()):
        tensor[...] = made


def calculate_gain(nonlinearity: str, param: Union[float, None] = None) -> float:
    """Return the recommended gain of a nonlinearity. Raises ValueError for one that is not known.

    The values are torch.nn.init.calculate_gain's (selu: 3/4).
    """
    if nonlinearity in _LINEAR:
        return 1
    if nonlinearity == "leaky_relu":
        return math.sqrt(2.0 / (1 + (0.01 if param is None else param) ** 2))
    known = {"tanh": 5.0 / 3, "relu": math.sqrt(2.0), "selu": 0.75}
    if nonlinearity not in known:
        raise ValueError(f"unknown nonlinearity {nonlinearity!r}")
    return known[nonlinearity]


def fan_in_and_fan_out(tensor: ms.Tensor) -> tuple[int, int]:
    """Return the number of inputs and of outputs that a weight (out, in, *kernel) connects."""
    if tensor.ndim < 2:
        raise ValueError("fan in and fan out need a tensor of two dimensions or more")
    field = math.prod(tensor.shape[2:])
    return tensor.shape[1] * field, tensor.shape[0] * field


def _bound(tensor: ms.Tensor, a: float, mode: str, nonlinearity: str) -> float:
    fan_in, fan_out = fan_in_and_fan_out(tensor)
    fan = {"fan_in": fan_in, "fan_out": fan_out}[mode.lower()]
    return calculate_gain(nonlinearity, a) / math.sqrt(fan)


def kaiming_normal_(
    tensor: ms.Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Any = None
) -> ms.Tensor:
    """Fill from a normal distribution with standard deviation gain / sqrt(fan) (He et al., 2015)."""
    return fill(tensor, init.Normal(_bound(tensor, a, mode, nonlinearity), 0.0))


def kaiming_uniform_(
    tensor: ms.Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Any = None
) -> ms.Tensor:
    """Fill from a uniform distribution of standard deviation gain / sqrt(fan) (He et al., 2015)."""
    return fill(tensor, init.Uniform(math.sqrt(3.0) * _bound(tensor, a, mode, nonlinearity)))


def xavier_normal_(tensor: ms.Tensor, gain: float = 1.0, generator: Any = None) -> ms.Tensor:
    """Fill from a normal distribution of deviation gain * sqrt(2 / (fan in + fan out)) (Glorot and Bengio, 2010)."""
    return fill(tensor, init.Normal(gain * math.sqrt(2.0 / sum(fan_in_and_fan_out(tensor))), 0.0))


def xavier_uniform_(tensor: ms.Tensor, gain: float = 1.0, generator: Any = None) -> ms.Tensor:
    """Fill from a uniform distribution of deviation gain * sqrt(2 / (fan in + fan out)) (Glorot and Bengio, 2010)."""
    return fill(tensor, init.Uniform(gain * math.sqrt(6.0 / sum(fan_in_and_fan_out(tensor)))))


def normal_(tensor: ms.Tensor, mean: float = 0.0, std: float = 1.0, generator: Any = None) -> ms.Tensor:
    """Fill from a normal distribution."""
    return fill(tensor, init.Normal(std, mean))


def uniform_(tensor: ms.Tensor, a: float = 0.0, b: float = 1.0, generator: Any = None) -> ms.Tensor:
    """Fill from a uniform distribution on [a, b)."""
    made = init.initializer(init.Uniform((b - a) / 2), tensor.shape, ms.float32).init_data() + (a + b) / 2
    return _assign(tensor, made.astype(tensor.dtype))


def trunc_normal_(
    tensor: ms.Tensor, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0, generator: Any = None
) -> ms.Tensor:
    """Fill from a normal distribution cut off at the values ``a`` and ``b``.

    Ten deviations away nothing is ever cut off: then it is drawn as it is, which takes a tenth of the time.
    Raises ValueError, in MindSpore 2.0, when they are not equally far from the mean.
    """
    if _share(mean, std, a, b) <= 0.3:  # MindSpore's own takes the inverse of the error function, which fails far away
        drawn = _far_from_the_mean(int(np.prod(tensor.shape)), mean, std, a, b)
        return _assign(tensor, ms.Tensor(drawn.reshape(tensor.shape), tensor.dtype))
    if min(mean - a, b - mean) > 10 * std:
        return fill(tensor, init.Normal(std, mean))
    try:
        return fill(tensor, init.TruncatedNormal(std, mean, a, b))
    except TypeError:  # MindSpore 2.0: the deviation alone, cut off at -2 and 2
        if not math.isclose(mean - a, b - mean):
            raise ValueError("MindSpore 2.0 cuts a normal distribution only equally far from its mean") from None
    scale = (b - a) / 4
    made = init.initializer(init.TruncatedNormal(std / scale), tensor.shape, ms.float32).init_data() * scale + mean
    return _assign(tensor, made.astype(tensor.dtype))


def _share(mean: float, std: float, a: float, b: float) -> float:
    """Return the share of a normal distribution that lies between ``a`` and ``b``."""
    low, high = (math.erf((bound - mean) / std / math.sqrt(2.0)) for bound in (a, b))
    return (high - low) / 2


def _far_from_the_mean(count: int, mean: float, std: float, a: float, b: float) -> Any:
    """Return normal numbers between bounds that hold few of them: even ones, taken by their density or drawn anew."""
    peak = ((min(max(mean, a), b) - mean) / std) ** 2
    found, left = np.zeros(count), np.arange(count)
    while left.size:
        found[left] = np.random.uniform(a, b, left.size)
        density = (peak - ((found[left] - mean) / std) ** 2) / 2
        left = left[np.log(1 - np.random.random_sample(left.size)) > density]
    return found


def constant_(tensor: ms.Tensor, val: float) -> ms.Tensor:
    """Fill with one value."""
    return fill(tensor, init.Constant(val))


def ones_(tensor: ms.Tensor) -> ms.Tensor:
    """Fill with 1."""
    return fill(tensor, init.One())


def zeros_(tensor: ms.Tensor) -> ms.Tensor:
    """Fill with 0."""
    return fill(tensor, init.Zero())


def eye_(tensor: ms.Tensor) -> ms.Tensor:
    """Make a matrix the identity."""
    return fill(tensor, init.Identity())


def dirac_(tensor: ms.Tensor, groups: int = 1) -> ms.Tensor:
    """Make the weight of a convolution hand its input on."""
    return fill(tensor, init.Dirac(groups))


def orthogonal_(tensor: ms.Tensor, gain: float = 1, generator: Any = None) -> ms.Tensor:
    """Fill with a (semi-)orthogonal matrix (Saxe et al., 2013)."""
    return fill(tensor, init.Orthogonal(gain))


def sparse_(tensor: ms.Tensor, sparsity: float, std: float = 0.01, generator: Any = None) -> ms.Tensor:
    """Fill from a normal distribution; in every column a share of ``sparsity`` is 0 (Martens, 2010)."""
    return fill(tensor, init.Sparse(sparsity, std))
