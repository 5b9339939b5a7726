"""Lists of tensors as one: sequences of unequal length, and parameters as a vector."""

from __future__ import annotations

from typing import Iterable, List, Sequence

import mindspore as ms
from mindspore import ops

from .weight_data import put

__all__ = ["pad_sequence", "parameters_to_vector", "vector_to_parameters"]


def pad_sequence(
    sequences: Sequence[ms.Tensor],
    batch_first: bool = False,
    padding_value: float = 0.0,
    padding_side: str = "right",
) -> ms.Tensor:
    """Stack sequences (length, *) padded with ``padding_value`` to the longest: (longest, batch, *), or batch first."""
    if padding_side not in ("left", "right"):
        raise ValueError(f"padding_side is 'left' or 'right', not {padding_side!r}")
    longest = max(int(sequence.shape[0]) for sequence in sequences)
    rows: List[ms.Tensor] = []
    for sequence in sequences:
        missing = longest - int(sequence.shape[0])
        if missing:
            shape = (missing, *sequence.shape[1:])
            filler = ops.zeros(shape, sequence.dtype) + ms.Tensor(padding_value, sequence.dtype)
            parts = (filler, sequence) if padding_side == "left" else (sequence, filler)
            sequence = ops.cat(parts, 0)
        rows.append(sequence)
    return ops.stack(rows, 0 if batch_first else 1)


def parameters_to_vector(parameters: Iterable[ms.Tensor]) -> ms.Tensor:
    """Return all parameters, flattened, one after the other."""
    return ops.cat([parameter.reshape(-1) for parameter in parameters], 0)


def vector_to_parameters(vec: ms.Tensor, parameters: Iterable[ms.Parameter]) -> None:
    """Copy a vector of :func:`parameters_to_vector` back into the parameters."""
    start = 0
    for parameter in parameters:
        count = int(parameter.size)
        put(parameter, vec[start : start + count].reshape(parameter.shape))  # in the dtype of the vector, as PyTorch
        start += count
