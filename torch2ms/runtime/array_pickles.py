"""Pickles of NumPy arrays, as datasets come in them, read without running code."""

from __future__ import annotations

import pickle
from typing import Any

__all__ = ["ArrayUnpickler"]


class ArrayUnpickler(pickle.Unpickler):
    """Unpickle arrays, lists, dicts and strings; refuse everything that could run code."""

    _ALLOWED = frozenset(
        [
            ("numpy", "ndarray"),
            ("numpy", "dtype"),
            ("numpy.core.multiarray", "_reconstruct"),
            ("numpy._core.multiarray", "_reconstruct"),
            ("_codecs", "encode"),
        ]
    )

    def find_class(self, module: str, name: str) -> Any:
        """Return one of the few things that such a file may name."""
        if (module, name) not in self._ALLOWED:
            raise pickle.UnpicklingError(f"{module}.{name} has no place in a dataset file")
        return super().find_class(module, name)
