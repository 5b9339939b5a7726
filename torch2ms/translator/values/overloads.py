"""Results that depend on the arguments: ``x.size()`` and ``x.size(0)``, ``torch.max(x)`` and ``torch.max(x, 1)``.

Also the named tuples that torch returns: MindSpore returns plain ones, whose elements have no names.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from torch2ms.translator.values.kinds import UNKNOWN, Kind

__all__ = ["FIELDS", "field_of", "overloaded"]

_TENSOR = Kind("Tensor", evidence="result of a tensor operation")
_INDICES = Kind("Tensor", "torch.int64", evidence="indices")
_PAIR = Kind("tuple", items=(_TENSOR, _INDICES), evidence="values and indices")
_TENSORS = Kind("list", items=(_TENSOR,))

# The names that torch gives the elements of the tuples it returns.
FIELDS = {
    "values": 0,
    "indices": 1,
    "eigenvalues": 0,
    "eigenvectors": 1,
    "Q": 0,
    "R": 1,
    "U": 0,
    "S": 1,
    "V": 2,
    "Vh": 2,
    "sign": 0,
    "logabsdet": 1,
}


def field_of(base: Kind, name: str) -> int | None:
    """Return the position of a named element of a tuple of tensors that torch returned; None when it is none."""
    if base.name != "tuple" or not all(item.is_tensor for item in base.items):
        return None
    position = FIELDS.get(name)
    return position if position is not None and position < len(base.items) else None


def _extremum(given: list[Kind], names: set[str | None]) -> Kind:
    """Along an axis values and indices, else one tensor."""
    if names & {"dim", "axis"} or (given and given[0].name in ("int", "bool")):
        return _PAIR
    if not given or given[0].is_tensor or "other" in names:
        return _TENSOR
    return UNKNOWN


def _size(given: list[Kind], names: set[str | None]) -> Kind:
    return Kind("int") if given or names & {"dim", "axis"} else Kind("Size")


def _type(given: list[Kind], names: set[str | None]) -> Kind:
    return _TENSOR if given or "dtype" in names else Kind("str")


def _nonzero(given: list[Kind], names: set[str | None]) -> Kind:
    return _TENSORS if "as_tuple" in names else _INDICES


def _unique(given: list[Kind], names: set[str | None]) -> Kind:
    return _TENSORS if len(given) > 1 or names & {"return_inverse", "return_counts"} else _TENSOR


def _where(given: list[Kind], names: set[str | None]) -> Kind:
    return _TENSOR if given or names & {"input", "self", "other"} else _TENSORS


Overload = Callable[[list[Kind], set["str | None"]], Kind]
_METHODS: dict[str, Overload] = {
    "max": _extremum,
    "min": _extremum,
    "median": _extremum,
    "nanmedian": _extremum,
    "size": _size,
    "type": _type,
    "nonzero": _nonzero,
    "unique": _unique,
    "unique_consecutive": _unique,
    "where": _where,
}
_FUNCTIONS = frozenset({"max", "min", "median", "nanmedian", "nonzero", "unique", "unique_consecutive", "where"})


def overloaded(name: str, node: ast.Call, arguments: list[Kind], *, method: bool) -> Kind | None:
    """Return what a call gives where its arguments decide; None where its row says it.

    ``name`` is the method's, or the function's of ``torch``; ``arguments`` are the kinds of the positional ones.
    """
    if any(isinstance(arg, ast.Starred) for arg in node.args) or not (method or name in _FUNCTIONS):
        return None
    overload = _METHODS.get(name)
    if overload is None:
        return None
    names = {keyword.arg for keyword in node.keywords if not _is_off(keyword.value)}
    return overload(arguments if method else arguments[1:], names)


def _is_off(value: ast.expr) -> bool:
    """Whether an option is given as what it is by default: ``as_tuple=False``."""
    return isinstance(value, ast.Constant) and value.value is False
