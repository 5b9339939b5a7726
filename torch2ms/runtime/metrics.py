"""Metrics of training and evaluation that add up over batches and over the ranks of a distributed run."""

from __future__ import annotations

from string import Formatter
from typing import Any, Dict, Sequence, Tuple

import mindspore as ms
import numpy as np

from . import distributed

__all__ = ["Average", "Top", "accuracy", "formatted", "number"]


def _array(value: Any) -> np.ndarray[Any, Any]:
    return value.asnumpy() if isinstance(value, ms.Tensor) else np.asarray(value)


def number(value: Any) -> Any:
    """Return the number in a tensor of one element, or ``value`` itself where it is a number already."""
    return value.item() if isinstance(value, ms.Tensor) else value


def formatted(template: str, *args: Any, **values: Any) -> str:
    """Return ``template.format(...)``; tensors without dimensions are formatted as the numbers in them.

    For templates and values that are put together at run time, such as ``formatted(template, **meter.__dict__)``, and
    for what objects hold: ``formatted("{top1.avg:.3f}", top1=top1)``.
    """
    return _Numbers().vformat(template, args, values)


class _Numbers(Formatter):
    """Formats tensors without dimensions as the numbers in them."""

    def format_field(self, value: Any, format_spec: str) -> str:
        plain = value.item() if isinstance(value, ms.Tensor) and value.ndim == 0 else value
        return str(super().format_field(plain, format_spec))


class Average:
    """A mean over samples, such as the loss's: ``update(value, count)`` with each batch's mean and size."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forget everything."""
        self.total, self.count = 0.0, 0

    def update(self, value: Any, count: int = 1) -> None:
        """Add a batch of ``count`` samples whose mean is ``value`` (number or 0-dimensional tensor)."""
        self.total += float(_array(value)) * count
        self.count += count

    def compute(self) -> float:
        """Return the mean over all samples of all ranks; nan where there was none."""
        total, count = distributed.sum_over_ranks([self.total, float(self.count)])
        return total / count if count else float("nan")


class Top:
    """Top-k accuracies: how often the true class is among the k largest logits."""

    def __init__(self, ks: Sequence[int] = (1,)) -> None:
        self.ks = tuple(ks)
        self.clear()

    def clear(self) -> None:
        """Forget everything."""
        self.hits = [0] * len(self.ks)
        self.count = 0

    def update(self, logits: Any, labels: Any) -> None:
        """Add a batch: ``logits`` (N, classes), ``labels`` (N,)."""
        hits = _hits(_array(logits), _array(labels), self.ks)
        self.hits = [before + new for before, new in zip(self.hits, hits)]
        self.count += len(_array(labels))

    def compute(self) -> Dict[str, float]:
        """Return ``{"top1": share, ...}`` over all samples of all ranks, each from 0 to 1."""
        *hits, count = distributed.sum_over_ranks([*map(float, self.hits), float(self.count)])
        return {f"top{k}": hit / count if count else float("nan") for k, hit in zip(self.ks, hits)}


def _hits(logits: np.ndarray[Any, Any], labels: np.ndarray[Any, Any], ks: Sequence[int]) -> Tuple[int, ...]:
    order = np.argsort(-logits, axis=1, kind="stable")[:, : max(ks)]
    match = order == labels.reshape(-1, 1)
    return tuple(int(match[:, :k].sum()) for k in ks)


def accuracy(logits: Any, labels: Any, topk: Sequence[int] = (1,)) -> Tuple[float, ...]:
    """Return the top-k accuracies of one batch as shares from 0 to 1."""
    labels = _array(labels)
    return tuple(hit / max(1, len(labels)) for hit in _hits(_array(logits), labels, topk))
