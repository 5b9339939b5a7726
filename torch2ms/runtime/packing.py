"""Packed sequences: sequences of unequal length without their padding, and recurrent layers that take them.

MindSpore's recurrent layers take a padded batch and the lengths (``seq_length``); :func:`run` hands them over.
"""

from __future__ import annotations

from typing import Any, List, NamedTuple, Optional, Sequence, Tuple

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

from .sequences import pad_sequence

__all__ = [
    "PackedSequence",
    "pack_padded_sequence",
    "pack_sequence",
    "pad_packed_sequence",
    "run",
    "unpack_sequence",
    "unpad_sequence",
]


class PackedSequence(NamedTuple):
    """All steps of a batch without padding: step by step, the longest sequence first.

    ``batch_sizes``: how many sequences reach each step; ``sorted_indices`` puts the batch in order of length,
    ``unsorted_indices`` back; None where it was in order.
    """

    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Optional[Tensor] = None
    unsorted_indices: Optional[Tensor] = None

    def to(self, *args: Any, **options: Any) -> PackedSequence:
        """Return the sequence with its data in another dtype, where one is named; devices are left out."""
        wanted = [value for value in (*args, *options.values()) if isinstance(value, type(ms.float32))]
        return self._replace(data=self.data.astype(wanted[0])) if wanted else self

    def cpu(self, *args: Any, **options: Any) -> PackedSequence:
        """Return the sequence as it is: MindSpore moves data itself."""
        return self

    def cuda(self, *args: Any, **options: Any) -> PackedSequence:
        """Return the sequence as it is."""
        return self

    def pin_memory(self) -> PackedSequence:
        """Return the sequence as it is."""
        return self


def _numbers(lengths: Any) -> Any:
    return lengths.asnumpy().astype(np.int64) if isinstance(lengths, Tensor) else np.asarray(lengths, np.int64)


def _places(counts: Any, batch: int) -> Tensor:
    """Return where the steps of sequences of ``counts`` steps stand in (length * batch), step by step."""
    rows = [step * batch + index for step in range(int(counts.max())) for index in range(int((counts > step).sum()))]
    return Tensor(np.asarray(rows, np.int32))


def pack_padded_sequence(
    input: Tensor, lengths: Any, batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """Pack a padded batch (length, batch, *), or (batch, length, *) with ``batch_first``.

    Raises RuntimeError for lengths that are not in falling order, with ``enforce_sorted``.
    """
    counts = _numbers(lengths)
    x = ops.swapaxes(input, 0, 1) if batch_first else input
    order = back = None
    if enforce_sorted:
        if (np.diff(counts) > 0).any():
            raise RuntimeError("`lengths` array must be sorted in decreasing order when `enforce_sorted` is True")
    else:
        ranks = np.argsort(-counts, kind="stable")
        order, back = Tensor(ranks), Tensor(np.argsort(ranks))
        x, counts = ops.gather(x, order.astype(ms.int32), 1), counts[ranks]
    flat = x.reshape((-1, *x.shape[2:]))
    sizes = np.asarray([(counts > step).sum() for step in range(int(counts.max()))], np.int64)
    return PackedSequence(ops.gather(flat, _places(counts, x.shape[1]), 0), Tensor(sizes), order, back)


def pack_sequence(sequences: Sequence[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Pack sequences (length, *)."""
    lengths = [int(sequence.shape[0]) for sequence in sequences]
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def _padded(sequence: PackedSequence) -> Tuple[Tensor, Any]:
    """Return the padded batch (length, batch, *) in order of length, and the lengths."""
    sizes = sequence.batch_sizes.asnumpy()
    batch, steps = int(sizes[0]), len(sizes)
    counts = np.asarray([(sizes > index).sum() for index in range(batch)], np.int64)
    rows = np.full(steps * batch, len(sequence.data), np.int32)
    rows[_places(counts, batch).asnumpy()] = np.arange(len(sequence.data))
    filler = ops.zeros((1, *sequence.data.shape[1:]), sequence.data.dtype)
    flat = ops.gather(ops.concat((sequence.data, filler), 0), Tensor(rows), 0)
    return flat.reshape((steps, batch, *sequence.data.shape[1:])), counts


def pad_packed_sequence(
    sequence: PackedSequence, batch_first: bool = False, padding_value: float = 0.0, total_length: Optional[int] = None
) -> Tuple[Tensor, Tensor]:
    """Return the padded batch, as it was before it was packed, and its lengths."""
    x, counts = _padded(sequence)
    steps = x.shape[0]
    if total_length is not None and total_length > steps:
        filler = ops.zeros((total_length - steps, *x.shape[1:]), x.dtype)
        x, steps = ops.concat((x, filler), 0), total_length
    if padding_value:
        kept = Tensor(np.arange(steps)[:, None] < counts[None, :]).reshape((steps, -1, *(1,) * (x.ndim - 2)))
        x = ops.where(kept, x, Tensor(padding_value, x.dtype))
    if sequence.unsorted_indices is not None:
        back = sequence.unsorted_indices
        x, counts = ops.gather(x, back.astype(ms.int32), 1), counts[back.asnumpy()]
    return ops.swapaxes(x, 0, 1) if batch_first else x, Tensor(counts)


def unpad_sequence(padded_sequences: Tensor, lengths: Any, batch_first: bool = False) -> List[Tensor]:
    """Return the sequences of a padded batch, one tensor each."""
    x = padded_sequences if batch_first else ops.swapaxes(padded_sequences, 0, 1)
    return [x[index, :count] for index, count in enumerate(_numbers(lengths).tolist())]


def unpack_sequence(packed_sequences: PackedSequence) -> List[Tensor]:
    """Return the sequences of a packed batch, one tensor each."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)


def _reordered(state: Any, order: Optional[Tensor]) -> Any:
    """Return a state (layers, batch, hidden), or a pair of them, with its batch in another order."""
    if state is None or order is None:
        return state
    if isinstance(state, (tuple, list)):
        return tuple(_reordered(part, order) for part in state)
    return ops.gather(state, order.astype(ms.int32), 1)


def run(layer: nn.Cell, input: Any, hx: Any = None, *others: Any) -> Any:
    """Return what a recurrent layer makes of a packed sequence: packed outputs, last states."""
    if not isinstance(input, PackedSequence):
        return layer(input) if hx is None and not others else layer(input, hx, *others)
    x, counts = _padded(input)
    batch_first = getattr(layer, "batch_first", False)
    outputs, state = layer(
        ops.swapaxes(x, 0, 1) if batch_first else x,
        _reordered(hx, input.sorted_indices),
        Tensor(counts.astype(np.int32)),
    )
    outputs = ops.swapaxes(outputs, 0, 1) if batch_first else outputs
    flat = outputs.reshape((-1, *outputs.shape[2:]))
    data = ops.gather(flat, _places(counts, x.shape[1]), 0)
    return input._replace(data=data), _reordered(state, input.unsorted_indices)
