"""The key map of a network as lines that a person reviews: each key of PyTorch's, its parameter, shape, type, and rule.

fc.weight  fc.weight  (10, 4)  float32  mindspore.nn.Dense
bn.weight  bn.gamma   (4,)     float32  mindspore.nn.BatchNorm2d
"""

from __future__ import annotations

from typing import Any, Dict, List, Sequence, Tuple

from .weight_files import dtype_of_tensor

__all__ = ["listing"]

_HEAD = ("PyTorch", "MindSpore", "shape", "type", "placed by")


def listing(entries: Sequence[Any], dropped: Sequence[str]) -> List[str]:
    """Return a table: a line for each key of ``weights.Entry``, and for each key without counterpart (``-``)."""
    rows: List[Tuple[str, ...]] = [_HEAD]
    first: Dict[int, str] = {}
    for entry in entries:
        same = first.setdefault(id(entry.tensor), entry.mindspore)
        notes = [entry.layer or "its own name"]
        notes += [f"reshaped: {entry.reshape}"] if entry.reshape else []
        notes += ["where PyTorch has it"] if entry.optional else []
        notes += [f"the same array as {same}"] if same != entry.mindspore else []
        shape = str(tuple(entry.tensor.shape))
        rows.append((entry.torch, entry.mindspore, shape, dtype_of_tensor(entry.tensor), "; ".join(notes)))
    rows += [(key, "-", "", "", "not in MindSpore") for key in dropped]
    widths = [max(map(len, column)) for column in zip(*rows)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]
