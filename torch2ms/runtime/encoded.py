"""What tokenizers and processors of Hugging Face's packages give, as MindSpore's tensors."""

from __future__ import annotations

from typing import Any

import mindspore as ms
import numpy as np

__all__ = ["as_tensors"]


def as_tensors(encoded: Any) -> Any:
    """Return what ``return_tensors="np"`` gave with tensors in place of arrays; a batch keeps its names and its type.

    A batch is changed in place: nothing else holds what a tokenizer has just made.
    """
    if isinstance(encoded, np.ndarray):
        return ms.Tensor(encoded)
    if isinstance(encoded, (list, tuple)):
        return type(encoded)(as_tensors(part) for part in encoded)
    if hasattr(encoded, "keys") and hasattr(encoded, "__setitem__"):
        for key in list(encoded.keys()):
            encoded[key] = as_tensors(encoded[key])
    return encoded
