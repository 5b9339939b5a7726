"""Which of two dtypes of one kind is the wider: what torch keeps narrow, and MindSpore does not."""

from __future__ import annotations

from torch2ms.translator.values.kinds import Kind

__all__ = ["dtype_name", "is_wider"]

_NAMES = {"half": "float16", "float": "float32", "double": "float64", "short": "int16", "int": "int32", "long": "int64"}
_WIDTHS = (
    {"float16": 1, "bfloat16": 1, "float32": 2, "float64": 3},
    {"uint8": 1, "int8": 1, "int16": 2, "int32": 3, "int64": 4},
)


def dtype_name(kind: Kind) -> str:
    """Return the name of a tensor's dtype, as far as it is known."""
    name = kind.of.removeprefix("torch.") if kind.name == "Tensor" else ""
    return _NAMES.get(name, name)


def is_wider(own: str, other: str) -> bool:
    """Whether a dtype is known to be wider than another one of the same kind."""
    return any(widths.get(own, 0) > widths.get(other, 9) for widths in _WIDTHS)
