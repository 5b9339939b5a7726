"""Settings of layers as tuples, and numbers of channels that divide well."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Callable, List, Optional, Tuple, Union

import numpy as np

__all__ = [
    "calculate_drop_path_rates",
    "extend_tuple",
    "get_padding",
    "make_divisible",
    "to_1tuple",
    "to_2tuple",
    "to_3tuple",
    "to_4tuple",
    "to_ntuple",
]


def to_ntuple(n: int) -> Callable[[Any], Tuple[Any, ...]]:
    """Return a function that repeats a single value (a text is one) ``n`` times and makes a tuple of several."""

    def parse(x: Any) -> Tuple[Any, ...]:
        return tuple(x) if isinstance(x, Iterable) and not isinstance(x, str) else (x,) * n

    return parse


to_1tuple = to_ntuple(1)
to_2tuple = to_ntuple(2)
to_3tuple = to_ntuple(3)
to_4tuple = to_ntuple(4)


def extend_tuple(x: Any, n: int) -> Tuple[Any, ...]:
    """Return the first ``n`` values, the last one repeated where there are fewer."""
    values = tuple(x) if isinstance(x, (tuple, list)) else (x,)
    return (*values, *values[-1:] * n)[:n] if len(values) < n else values[:n]


def make_divisible(v: float, divisor: int = 8, min_value: Optional[int] = None, round_limit: float = 0.9) -> int:
    """Return the multiple of ``divisor`` next to ``v``, but no less than a share ``round_limit`` of it."""
    nearest = max(min_value or divisor, int(v + divisor / 2) // divisor * divisor)
    return nearest + divisor if nearest < round_limit * v else nearest


def get_padding(kernel_size: Any, stride: int = 1, dilation: int = 1, **_: Any) -> Any:
    """Return the padding on each side that keeps a picture's size at stride 1; of several kernels, a list."""
    if any(isinstance(value, (tuple, list)) for value in (kernel_size, stride, dilation)):
        return [get_padding(*one) for one in zip(*map(to_2tuple, (kernel_size, stride, dilation)))]
    return ((stride - 1) + dilation * (kernel_size - 1)) // 2


def _line(end: float, count: int) -> List[float]:
    """Return values from 0 to ``end`` as torch.linspace computes them: from both ends."""
    step = np.float32(end) / np.float32(max(count - 1, 1))
    places = range(count)
    values = [
        step * np.float32(at) if at < count // 2 else np.float32(end) - step * np.float32(count - 1 - at)
        for at in places
    ]
    return [float(value) for value in values] if count > 1 else [0.0] * count


def calculate_drop_path_rates(
    drop_path_rate: float, depths: Union[int, List[int]], stagewise: bool = False
) -> Union[List[float], List[List[float]]]:
    """Return rates from 0 to ``drop_path_rate``: one a block, or for several depths a list a stage."""
    if isinstance(depths, int):
        if stagewise:
            raise ValueError("stagewise=True requires depths to be a list of stage depths")
        return _line(drop_path_rate, depths)
    rates = _line(drop_path_rate, sum(depths))
    if not stagewise:
        return rates
    ends = np.cumsum(depths).tolist()
    return [rates[end - depth : end] for depth, end in zip(depths, ends)]
