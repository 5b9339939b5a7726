"""What tokenizers and processors of Hugging Face's packages give, as MindSpore's tensors."""

from __future__ import annotations

from typing import Any

import mindspore as ms
import numpy as np

__all__ = ["as_labels", "as_tensors", "cast", "with_labels"]

_LABELS = ("labels", "label", "next_sentence_label", "sentence_order_label", "start_positions", "end_positions")


def as_labels(value: Any) -> Any:
    """Return class numbers as int32: the losses of some of mindone's networks take no others."""
    return value.astype(ms.int32) if isinstance(value, ms.Tensor) and value.dtype == ms.int64 else value


def cast(batch: Any, dtype: Any) -> Any:
    """Give the floating tensors of a batch another dtype, in place as ``batch.to(dtype)`` does."""
    for key, value in batch.items():
        if isinstance(value, ms.Tensor) and value.is_floating_point():
            batch[key] = value.astype(dtype)
    return batch


def with_labels(batch: Any) -> Any:
    """Return the arguments of a network with its labels as ``as_labels`` has them."""
    return {key: as_labels(value) if key in _LABELS else value for key, value in batch.items()}


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
