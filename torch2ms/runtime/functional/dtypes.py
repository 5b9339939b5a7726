"""Dtypes by PyTorch's rules: what two have in common, what may be cast, how they are called."""

from __future__ import annotations

from functools import reduce
from typing import Any, List, NamedTuple, Sequence, Tuple

import mindspore as ms
import numpy as np
from mindspore import Tensor, ops

__all__ = [
    "abs",
    "asarray",
    "bytes_of_type",
    "can_cast",
    "dtype_name",
    "finfo",
    "float_of_int",
    "is_complex_type",
    "is_float_type",
    "is_signed",
    "isreal",
    "of_type",
    "promote_types",
    "promoted",
    "tensor_type_name",
    "typename",
]

_RANKS = {"b": 0, "u": 1, "i": 1, "f": 2, "c": 3}


_BFLOAT16 = getattr(ms, "bfloat16", "not in MindSpore 2.0")


class _Limits(NamedTuple):
    """What a floating-point dtype can hold, as numpy's ``finfo`` says it."""

    bits: int
    eps: float
    max: float
    min: float
    tiny: float
    smallest_normal: float
    resolution: float


# Eight bits of exponent as in float32, seven of fraction
_OF_BFLOAT16 = _Limits(
    16, 2.0**-7, (2 - 2.0**-7) * 2.0**127, -(2 - 2.0**-7) * 2.0**127, 2.0**-126, 2.0**-126, 0.01
)  # fmt: skip


def finfo(dtype: Any) -> Any:
    """Return what a floating-point dtype can hold; numpy knows it of all but bfloat16."""
    return _OF_BFLOAT16 if dtype == _BFLOAT16 else np.finfo(ms.dtype_to_nptype(dtype))


def float_of_int(value: Any) -> Any:
    """Return an int as a float; floats and tensors as they are."""
    return float(value) if isinstance(value, int) else value


def number(value: Any, like: Any) -> Any:
    """Return a Python float beside float64 as a tensor: MindSpore would round it to float32; complex numbers too."""
    if isinstance(value, complex):  # of which MindSpore drops a part
        wide = isinstance(like, Tensor) and like.dtype in (ms.float64, ms.complex128)
        return Tensor(value, ms.complex128 if wide else ms.complex64)
    is_rounded = isinstance(value, float) and isinstance(like, Tensor) and like.dtype == ms.float64
    return Tensor(value, ms.float64) if is_rounded else value


def beside(number: Any, values: Tensor) -> Any:
    """Return a number in the dtype that it has beside ``values``: without axes it widens none of its kind."""
    if not isinstance(number, Tensor) or number.ndim or not values.ndim:
        return number
    ranks = [_RANKS[_kind(x.dtype)] for x in (number, values)]
    return number if ranks[0] > ranks[1] else number.astype(values.dtype)


def dtype_name(dtype: Any) -> str:
    """Return the name of a dtype as PyTorch prints it: ``torch.float32``."""
    return "torch." + str(dtype).rpartition(".")[2].lower().rstrip("_")


def is_float_type(dtype: Any) -> bool:
    """Whether a dtype is one of floating-point numbers; MindSpore's own say so from 2.3 on."""
    return "float" in dtype_name(dtype)


def is_complex_type(dtype: Any) -> bool:
    """Whether a dtype is one of complex numbers; MindSpore's own say so from 2.3 on."""
    return "complex" in dtype_name(dtype)


def bytes_of_type(dtype: Any) -> int:
    """Return how many bytes an element of a dtype takes: 2 for bfloat16, which NumPy does not know."""
    return 2 if "bfloat16" in dtype_name(dtype) else np.dtype(ms.dtype_to_nptype(dtype)).itemsize


_TYPE_NAMES = {
    "float32": "Float",
    "float64": "Double",
    "float16": "Half",
    "bfloat16": "BFloat16",
    "int64": "Long",
    "int32": "Int",
    "int16": "Short",
    "int8": "Char",
    "uint8": "Byte",
    "bool": "Bool",
    "complex64": "ComplexFloat",
    "complex128": "ComplexDouble",
}


def tensor_type_name(input: Tensor) -> str:
    """Return what ``x.type()`` gives in PyTorch: ``torch.FloatTensor``."""
    return f"torch.{_TYPE_NAMES[dtype_name(input.dtype)[6:]]}Tensor"


def of_type(input: Tensor, name: str) -> Tensor:
    """Return ``x.type(name)`` for a name that a program has found out: ``torch.FloatTensor``, wherever it lies."""
    word = name.rpartition(".")[2].replace("Tensor", "") or "Float"
    found = next((dtype for dtype, known in _TYPE_NAMES.items() if known == word), None)
    if found is None:
        raise ValueError(f"invalid type: '{name}'")
    return input.astype(getattr(ms, "bool_" if found == "bool" else found))


def abs(input: Tensor) -> Tensor:
    """Return the magnitude; of complex numbers as real ones."""
    return ops.real(ops.abs(input)) if input.is_complex() else ops.abs(input)


def _kind(dtype: Any) -> str:
    return "f" if dtype == _BFLOAT16 else np.dtype(ms.dtype_to_nptype(dtype)).kind


def promote_types(type1: Any, type2: Any) -> Any:
    """Return the dtype that holds values of both: the wider one, and a float for a float and an int."""
    if type1 == type2:
        return type1
    ranks = [_RANKS[_kind(dtype)] for dtype in (type1, type2)]
    if ranks[0] != ranks[1] and 3 not in ranks:
        return type1 if ranks[0] > ranks[1] else type2
    if _BFLOAT16 in (type1, type2):
        other = type2 if type1 == _BFLOAT16 else type1
        return ms.float32 if other == ms.float16 else other
    found = np.promote_types(ms.dtype_to_nptype(type1), ms.dtype_to_nptype(type2))
    if found == np.complex128 and np.dtype(np.float64) not in _widths(type1, type2):
        found = np.dtype(np.complex64)
    return getattr(ms, "bool_" if found.name == "bool" else found.name)


def _widths(*dtypes: Any) -> Sequence[Any]:
    wide = [np.dtype(ms.dtype_to_nptype(dtype)) for dtype in dtypes]
    return [np.dtype(np.float64) if dtype == np.complex128 else dtype for dtype in wide]


def can_cast(from_: Any, to: Any) -> bool:
    """Return whether PyTorch casts without complaint: not from complex to float to int to bool."""
    source, target = _kind(from_), _kind(to)
    return _RANKS[source] <= _RANKS[target] and not (source != "b" and target == "b")


def is_signed(input: Tensor) -> bool:
    """Return whether the dtype has a sign."""
    return _kind(input.dtype) not in "bu"


def isreal(input: Tensor) -> Tensor:
    """Return where the imaginary part is 0."""
    if not input.is_complex():
        return ops.ones(input.shape, ms.bool_)
    return ops.imag(input) == 0


def asarray(obj: Any, *, dtype: Any = None, **options: Any) -> Tensor:
    """Return a tensor of ``obj``: a tensor, an array, or numbers (float32, int64 or bool as PyTorch chooses)."""
    tensor = obj if isinstance(obj, Tensor) else getattr(ms, "tensor", Tensor)(obj)
    return tensor if dtype is None else tensor.astype(dtype)


def _by_axes(tensors: Sequence[Tensor]) -> Tuple[List[Any], List[Any]]:
    """Return the dtypes of the tensors without axes, and those of the others."""
    return [tensor.dtype for tensor in tensors if not tensor.ndim], [tensor.dtype for tensor in tensors if tensor.ndim]


def _is_one_dtype(tensors: Sequence[Tensor]) -> bool:
    for tensor in tensors:  # noqa: SIM110 - graph mode decides a loop while it compiles, and no promote_types
        if tensor.dtype != tensors[0].dtype:
            return False
    return True


def promoted(tensors: Sequence[Tensor]) -> List[Tensor]:
    """Return the tensors in the dtype that they have in common.

    Those without axes count only where they are of a higher kind, as an int beside bools or a float beside ints.
    """
    if _is_one_dtype(tensors):
        return list(tensors)
    alone, wide = (reduce(promote_types, kinds) if kinds else None for kinds in _by_axes(tensors))
    common = alone if wide is None else wide
    if alone is not None and wide is not None and _RANKS[_kind(alone)] > _RANKS[_kind(wide)]:
        width = ms.complex128 if wide == ms.float64 else ms.complex64
        common = width if _kind(wide) == "f" else alone
    return [tensor if tensor.dtype == common else tensor.astype(common) for tensor in tensors]


def typename(obj: Any) -> str:
    """Return the name of an object's type, of a tensor as PyTorch calls it: ``torch.FloatTensor``."""
    if isinstance(obj, Tensor):
        return tensor_type_name(obj)
    named = obj if hasattr(obj, "__qualname__") else type(obj)
    module = "" if named.__module__ in ("builtins", "__builtin__", None) else f"{named.__module__}."
    return f"{module}{named.__qualname__}"
