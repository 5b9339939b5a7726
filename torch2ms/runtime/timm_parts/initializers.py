"""How weights begin: normal distributions that are cut off, and those scaled by what a layer connects."""

from __future__ import annotations

import math
from typing import Callable

from mindspore import Tensor, nn

from .. import initializers

__all__ = ["lecun_normal_", "named_apply", "trunc_normal_", "trunc_normal_tf_", "variance_scaling_"]

trunc_normal_ = initializers.trunc_normal_
_CUT = 0.87962566103423978  # the deviation of a standard normal distribution that is cut off at -2 and 2


def trunc_normal_tf_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0) -> Tensor:
    """Fill from a normal distribution that is cut off at ``a`` and ``b`` deviations."""
    return trunc_normal_(tensor, mean, std, mean + a * std, mean + b * std)


def variance_scaling_(tensor: Tensor, scale: float = 1.0, mode: str = "fan_in", distribution: str = "normal") -> Tensor:
    """Fill with the variance ``scale / fan``. Raises ValueError for a distribution that is not known."""
    fan_in, fan_out = initializers.fan_in_and_fan_out(tensor)
    fans = {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2}
    variance = scale / fans[mode]
    if distribution == "truncated_normal":
        return trunc_normal_tf_(tensor, std=math.sqrt(variance) / _CUT)
    if distribution == "normal":
        return initializers.normal_(tensor, std=math.sqrt(variance))
    if distribution == "uniform":
        bound = math.sqrt(3 * variance)
        return initializers.uniform_(tensor, -bound, bound)
    raise ValueError(f"invalid distribution {distribution}")


def lecun_normal_(tensor: Tensor) -> Tensor:
    """Fill from a normal distribution that is cut off, of the variance one over the fan in (LeCun et al. 1998)."""
    return variance_scaling_(tensor, mode="fan_in", distribution="truncated_normal")


def named_apply(
    fn: Callable[..., object],
    module: nn.Cell,
    name: str = "",
    depth_first: bool = True,
    include_root: bool = False,
) -> nn.Cell:
    """Call ``fn(module=..., name=...)`` for every part of a network; return the network."""
    if not depth_first and include_root:
        fn(module=module, name=name)
    for child_name, child in module.name_cells().items():
        path = f"{name}.{child_name}" if name else child_name
        named_apply(fn, child, path, depth_first, include_root=True)
    if depth_first and include_root:
        fn(module=module, name=name)
    return module
