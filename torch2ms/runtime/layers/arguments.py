"""What PyTorch's layers take and have, and MindSpore's do not, or not in every form."""

from __future__ import annotations

import math
from typing import Any, Dict

from ..initializers import fan_in_and_fan_out, kaiming_uniform_, uniform_

__all__ = ["draw_own", "reset_parameters", "typed"]


def typed(dtype: Any) -> Dict[str, Any]:
    """Return the keyword arguments that say a layer's dtype: none for None, the default, which MindSpore refuses."""
    return {} if dtype is None else {"dtype": dtype}


def reset_parameters(layer: Any) -> None:
    """Draw the weights of a linear or convolutional layer anew, as PyTorch does by default."""
    kaiming_uniform_(layer.weight, a=math.sqrt(5))
    if layer.bias is not None:
        bound = 1 / math.sqrt(max(fan_in_and_fan_out(layer.weight)[0], 1))
        uniform_(layer.bias, -bound, bound)


def draw_own(layer: Any) -> None:
    """Let a derived class draw the weights: PyTorch's layers end their construction with ``reset_parameters``."""
    drawn = getattr(type(layer), "reset_parameters", None)
    package = __name__.rpartition(".layers")[0]
    if drawn is not None and not getattr(drawn, "__module__", package).startswith(package):
        layer.reset_parameters()
