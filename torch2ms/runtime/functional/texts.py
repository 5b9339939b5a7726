"""The text of a tensor as PyTorch writes it: ``tensor([1., 2.])``, and ``1.0`` in an f-string where it has no axes."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Union

import mindspore as ms
import numpy as np

from .dtypes import dtype_name

__all__ = ["formatted_text", "set_printoptions", "tensor_text"]


class _Options:
    """How tensors are written, as ``torch.set_printoptions`` sets it."""

    precision = 4  # digits behind the point
    threshold: float = 1000  # items that are all shown
    edgeitems = 3  # items shown at each end of an axis, where not all are
    linewidth = 80  # characters in a line
    sci_mode: Optional[bool] = None  # with exponents, without, or where the numbers ask for it


_PROFILES: Dict[str, Dict[str, Any]] = {
    "default": {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80},
    "short": {"precision": 2, "threshold": 1000, "edgeitems": 2, "linewidth": 80},
    "full": {"precision": 4, "threshold": float("inf"), "edgeitems": 3, "linewidth": 80},
}
_PLAIN = ("torch.float32", "torch.int64", "torch.bool", "torch.complex64")  # dtypes that are not named


def set_printoptions(
    precision: Optional[int] = None,
    threshold: Optional[int] = None,
    edgeitems: Optional[int] = None,
    linewidth: Optional[int] = None,
    profile: Optional[str] = None,
    sci_mode: Optional[bool] = None,
) -> None:
    """Set how the texts of tensors are written from now on; ``profile`` is "default", "short" or "full"."""
    wanted = dict(_PROFILES[profile]) if profile is not None else {}
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    wanted.update((name, value) for name, value in given.items() if value is not None)
    for name, value in wanted.items():
        setattr(_Options, name, value)
    _Options.sci_mode = sci_mode


def formatted_text(value: Any) -> str:
    """Return what ``f"{value}"`` is in PyTorch: the number itself of a tensor without axes."""
    if isinstance(value, ms.Tensor) and not isinstance(value, ms.Parameter) and value.ndim == 0:
        return str(value.item())
    return tensor_text(value) if not isinstance(value, str) else value


def tensor_text(value: Any, function: str = "") -> str:
    """Return ``repr(value)`` as PyTorch writes it; tensors in lists, tuples and dicts included.

    ``function`` is what returned the value, where PyTorch names its fields: ``torch.return_types.max(...)``.
    """
    if function:
        names = ("min", "max") if function == "aminmax" else ("values", "indices")
        parts = [f"{name}={tensor_text(item)}" for name, item in zip(names, value)]
        return f"torch.return_types.{function}(\n" + ",\n".join(parts) + ")"
    if isinstance(value, ms.Parameter) and not getattr(value, "is_gradient", False):  # set by runtime.gradients
        return f"Parameter containing:\n{_tensor(value, trained=bool(value.requires_grad))}"
    if isinstance(value, ms.Tensor):
        return _tensor(value)
    if type(value) is list:
        return f"[{', '.join(map(tensor_text, value))}]"
    if type(value) is tuple:
        return f"({', '.join(map(tensor_text, value))}{',' if len(value) == 1 else ''})"
    if type(value) is dict:
        return "{" + ", ".join(f"{key!r}: {tensor_text(item)}" for key, item in value.items()) + "}"
    return repr(value)


def _tensor(value: Any, trained: bool = False) -> str:
    name = dtype_name(value.dtype)
    array = (value.astype(ms.float32) if name == "torch.bfloat16" else value).asnumpy()
    indent = len("tensor(")
    text = _body(array, indent)
    ends = []
    if array.size == 0 and array.ndim != 1:
        ends.append(f"size={tuple(value.shape)}")
    if name not in (_PLAIN if array.size else _PLAIN[:1]):
        ends.append(f"dtype={name}")
    if trained:
        ends.append("requires_grad=True")
    used = len(text) - text.rfind("\n") + 1
    text = f"tensor({text}"
    for end in ends:
        if used + len(end) + 2 > _Options.linewidth:
            text, used = f"{text},\n{' ' * indent}{end}", indent + len(end)
        else:
            text, used = f"{text}, {end}", used + len(end) + 2
    return text + ")"


def _body(array: Any, indent: int) -> str:
    if array.size == 0:
        return "[]"
    is_cut = array.size > _Options.threshold
    shown = _ends(array) if is_cut else array
    if array.dtype.kind != "c":
        return _nested(array, indent, is_cut, _Form(shown))
    return _nested(array, indent, is_cut, _ComplexForm(shown))


def _ends(array: Any) -> Any:
    """Return the items of an array that are shown, for every axis those at its ends."""
    for axis, size in enumerate(array.shape):
        if size > 2 * _Options.edgeitems:
            array = np.take(array, [*range(_Options.edgeitems), *range(size - _Options.edgeitems, size)], axis)
    return array


class _Form:
    """How the numbers of one tensor are written: all with the same width, and all with or without an exponent."""

    def __init__(self, array: Any) -> None:
        self.width = 1
        self.write: Callable[[Any], str] = str
        if array.dtype.kind != "f":
            self.width = max(len(str(item)) for item in array.ravel().tolist())
            return
        found = array[np.isfinite(array) & (array != 0)].astype(np.float64)
        is_whole = bool((found == np.ceil(found)).all())
        sizes = np.abs(found)
        self.write = _whole
        wide = found.size and (sizes.max() / sizes.min() > 1000 or sizes.max() > 1e8 or sizes.min() < 1e-4)
        if wide if _Options.sci_mode is None else _Options.sci_mode:
            self.write = f"{{:.{_Options.precision}e}}".format
        elif not is_whole:
            self.write = f"{{:.{_Options.precision}f}}".format
        if found.size:
            self.width = max(len(self.write(item)) for item in found.tolist())

    def __call__(self, item: Any) -> str:
        return str(self.write(item)).rjust(self.width)


def _whole(item: float) -> str:
    return f"{item:.0f}." if np.isfinite(item) else f"{item:.0f}"


class _ComplexForm:
    """How complex numbers are written: real and imaginary parts each in a form of their own."""

    def __init__(self, array: Any) -> None:
        self.real, self.imag = _Form(array.real), _Form(array.imag)
        self.width = self.real.width + self.imag.width + 1

    def __call__(self, item: complex) -> str:
        imag = f"{self.imag(item.imag)}j".lstrip()
        return f"{self.real(item.real)}{'' if imag.startswith('-') else '+'}{imag}"


def _nested(array: Any, indent: int, is_cut: bool, form: Union[_Form, _ComplexForm]) -> str:
    if array.ndim == 0:
        return form(array.item())
    edge = _Options.edgeitems
    is_cut_here = is_cut and len(array) > 2 * edge
    kept = [*range(edge), *range(len(array) - edge, len(array))] if is_cut_here else range(len(array))
    if array.ndim == 1:
        parts: List[str] = [form(array[index].item()) for index in kept]
        if is_cut_here:
            parts.insert(edge, " ...")
        count = max(1, (_Options.linewidth - indent) // (form.width + 2))
        lines = [", ".join(parts[start : start + count]) for start in range(0, len(parts), count)]
        return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"
    parts = [_nested(array[index], indent + 1, is_cut, form) for index in kept]
    if is_cut_here:
        parts.insert(edge, "...")
    between: str = "," + "\n" * (array.ndim - 1) + " " * (indent + 1)
    return f"[{between.join(parts)}]"
