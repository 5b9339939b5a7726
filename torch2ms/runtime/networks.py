"""Networks kept whole: structure, weights and modes of a Cell as bytes, for programs that save the network itself.

Optimizers are Cells as well; one that is kept together with its network goes on with that network's weights.

As with any pickle, classes are kept by the place they are imported from, and reading runs code: read only files of
people you trust. What survives a move of the code is a ``state_dict``.
"""

from __future__ import annotations

import io
import pickle
from typing import Any

from . import MADE_BY

__all__ = ["from_bytes", "to_bytes"]


class _Pickler(pickle.Pickler):
    """Pickles classes that have no name to be found by as well."""

    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, type) and MADE_BY in vars(obj):
            return tuple(vars(obj)[MADE_BY])
        return NotImplemented


def to_bytes(obj: object) -> bytes:
    """Return ``obj``, a Cell or any object that holds Cells, as bytes.

    Raises TypeError for what has no name to be found by: a lambda, a class defined inside a function, an open file.
    """
    stream = io.BytesIO()
    try:
        _Pickler(stream, protocol=4).dump(obj)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise TypeError(f"cannot save {type(obj).__name__}: {error}") from error
    return stream.getvalue()


def from_bytes(content: bytes) -> Any:
    """Return what :func:`to_bytes` took; its classes must be importable under their old names."""
    return pickle.loads(content)
