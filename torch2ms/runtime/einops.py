"""einops on MindSpore's tensors, which the einops package does not know: its functions and layers, under their names.

A pattern (``"b (h w) c -> b c h w"``) becomes at most four plain steps: split the axes, reduce, order, join. The
grammar is that of einops 0.8: names, ``1``, ``()``, groups in parentheses, ``...``; ``*`` in ``pack`` and ``unpack``.
"""

from __future__ import annotations

import math
import re
import string
from functools import lru_cache
from typing import Any, Callable, Dict, List, Mapping, Sequence, Tuple, Union

import numpy as np
from mindspore import Tensor, nn, ops

from .functional.contraction import einsum as _einsum

__all__ = ["Rearrange", "Reduce", "einsum", "pack", "parse_shape", "rearrange", "reduce", "repeat", "unpack"]

Groups = Tuple[Tuple[str, ...], ...]
Reduction = Union[str, Callable[[Tensor, Tuple[int, ...]], Tensor]]

_JOINED = "(...)"  # the axes behind an ellipsis inside of parentheses
_TOKEN = re.compile(r"\.\.\.|…|[A-Za-z_]\w*|\d+|[()*]")


class EinopsError(RuntimeError):
    """A pattern that makes no sense, or does not fit a tensor."""


@lru_cache(maxsize=512)
def _parse(side: str) -> Groups:
    """Return the axes of one side of a pattern, each as the names it is made of; ``1`` is an empty group."""
    groups: List[Tuple[str, ...]] = []
    inside: Union[List[str], None] = None
    if _TOKEN.sub("", side).strip():
        raise EinopsError(f"not a pattern: {side!r}")
    for token in _TOKEN.findall(side):
        token = "..." if token == "…" else token
        if token == "(":
            if inside is not None:
                raise EinopsError(f"parentheses in parentheses: {side!r}")
            inside = []
        elif token == ")":
            if inside is None:
                raise EinopsError(f"a parenthesis too many: {side!r}")
            groups.append(tuple(inside))
            inside = None
        elif token == "1":
            groups.extend([()] if inside is None else [])
        elif inside is None:
            groups.append((token,))
        else:
            inside.append(_JOINED if token == "..." else token)
    if inside is not None:
        raise EinopsError(f"a parenthesis is missing: {side!r}")
    return tuple(groups)


def _sides(pattern: str) -> Tuple[Groups, Groups]:
    left, arrow, right = pattern.partition("->")
    if not arrow:
        raise EinopsError(f"no '->' in the pattern {pattern!r}")
    return _parse(left), _parse(right)


def _expand(groups: Groups, count: int) -> Groups:
    """Return the groups with ``...`` written as ``count`` names."""
    names = tuple(f"...{number}" for number in range(count))
    expanded: List[Tuple[str, ...]] = []
    for group in groups:
        if group == ("...",):
            expanded.extend((name,) for name in names)
        else:
            expanded.append(tuple(name for part in group for name in (names if part == _JOINED else (part,))))
    return tuple(expanded)


def _sizes(groups: Groups, shape: Sequence[int], given: Mapping[str, int], pattern: str) -> Dict[str, int]:
    """Return the length of every name on the left side; one of each group may follow from the others."""
    sizes = {name: int(length) for name, length in given.items()}
    for group, length in zip(groups, shape):
        open_names = [name for name in group if name not in sizes]
        known = math.prod(sizes[name] for name in group if name in sizes)
        if len(open_names) > 1:
            raise EinopsError(f"the lengths of {', '.join(open_names)} do not follow from {pattern!r}")
        if open_names:
            sizes[open_names[0]] = length // known if known else 0
        if math.prod(sizes[name] for name in group) != length:
            raise EinopsError(f"an axis of length {length} is not ({' '.join(group)}) in {pattern!r}")
    return sizes


def _transform(x: Tensor, pattern: str, given: Mapping[str, int], what: str, reduction: Reduction = "") -> Tensor:
    """Split, reduce or repeat, order and join the axes of ``x``."""
    left, right = _sides(pattern)
    hidden = sum("..." in group or _JOINED in group for group in left)
    if not hidden and len(left) != x.ndim:
        raise EinopsError(f"{pattern!r} is about {len(left)} axes, the tensor has {x.ndim}")
    count = x.ndim - len(left) + hidden
    left, right = _expand(left, count), _expand(right, count)
    sizes = _sizes(left, x.shape, given, pattern)
    names = [name for group in left for name in group]
    wanted = [name for group in right for name in group]
    extra = [name for name in wanted if name not in names]
    gone = [name for name in names if name not in wanted]
    if (extra and what != "repeat") or (gone and what != "reduce"):
        raise EinopsError(f"{', '.join(extra + gone)} of {pattern!r} stands on one side only: not for {what}")
    x = x.reshape(tuple(sizes[name] for name in names))
    if gone:
        x = _reduced(x, tuple(names.index(name) for name in gone), reduction)
        names = [name for name in names if name in wanted]
    order = tuple(names.index(name) for name in wanted if name in names)
    if order != tuple(range(len(order))):
        x = ops.transpose(x, order)
    if extra:
        x = x.reshape(tuple(1 if name in extra else sizes[name] for name in wanted))
        x = ops.tile(x, tuple(sizes[name] if name in extra else 1 for name in wanted))
    return x.reshape(tuple(math.prod(sizes[name] for name in group) for group in right))


def _reduced(x: Tensor, axes: Tuple[int, ...], reduction: Reduction) -> Tensor:
    if callable(reduction):
        return reduction(x, axes)
    if reduction == "mean":
        return x.mean(axes)
    if reduction == "sum":
        return x.sum(axes)
    if reduction in ("max", "min", "any", "all", "prod"):
        function = {"max": ops.amax, "min": ops.amin, "any": ops.any, "all": ops.all, "prod": ops.prod}[reduction]
        for axis in sorted(axes, reverse=True):
            x = function(x, axis)
        return x
    raise EinopsError(f"not a reduction: {reduction!r}")


def _stacked(x: Any) -> Tensor:
    return ops.stack(list(x)) if isinstance(x, (list, tuple)) else x


def rearrange(tensor: Any, pattern: str, **axes_lengths: int) -> Tensor:
    """Return ``tensor`` (or a list of them, stacked) with its axes split, ordered and joined as ``pattern`` says."""
    return _transform(_stacked(tensor), pattern, axes_lengths, "rearrange")


def reduce(tensor: Any, pattern: str, reduction: Reduction, **axes_lengths: int) -> Tensor:
    """Return ``tensor`` reduced ("mean", "sum", "max", "min", "prod", "any", "all") over what the right side lacks."""
    return _transform(_stacked(tensor), pattern, axes_lengths, "reduce", reduction)


def repeat(tensor: Any, pattern: str, **axes_lengths: int) -> Tensor:
    """Return ``tensor`` repeated along the axes that only the right side has."""
    return _transform(_stacked(tensor), pattern, axes_lengths, "repeat")


def einsum(*tensors_and_pattern: Any) -> Tensor:
    """Return the Einstein sum of tensors; axes have names of any length, separated by spaces."""
    *tensors, pattern = tensors_and_pattern
    letters: Dict[str, str] = {}

    def short(side: str) -> str:
        names = [group[0] if len(group) == 1 else "" for group in _parse(side)]
        if "" in names:
            raise EinopsError(f"einsum has neither groups nor '1': {side!r}")
        return "".join(
            name if name == "..." else letters.setdefault(name, string.ascii_letters[len(letters)]) for name in names
        )

    left, arrow, right = pattern.partition("->")
    inputs = ",".join(short(side) for side in left.split(","))
    return _einsum(f"{inputs}->{short(right)}" if arrow else inputs, *tensors)


def parse_shape(x: Tensor, pattern: str) -> Dict[str, int]:
    """Return the length of each named axis of ``x``; ``_`` passes one over."""
    groups = _parse(pattern)
    if ("...",) in groups:
        groups = _expand(groups, x.ndim - len(groups) + 1)
    if len(groups) != x.ndim:
        raise EinopsError(f"{pattern!r} is about {len(groups)} axes, the tensor has {x.ndim}")
    pairs = zip(groups, x.shape)
    return {group[0]: length for group, length in pairs if group and group[0] != "_" and "..." not in group[0]}


def _around_star(pattern: str) -> Tuple[int, int]:
    names = pattern.split()
    if names.count("*") != 1:
        raise EinopsError(f"one '*' belongs into {pattern!r}")
    place = names.index("*")
    return place, len(names) - place - 1


def pack(tensors: Sequence[Tensor], pattern: str) -> Tuple[Tensor, List[Tuple[int, ...]]]:
    """Return the tensors joined along the axis ``*`` and, for :func:`unpack`, what each of them had there."""
    before, after = _around_star(pattern)
    parts, shapes = [], []
    for tensor in tensors:
        end = tensor.ndim - after
        shapes.append(tuple(tensor.shape[before:end]))
        parts.append(tensor.reshape((*tensor.shape[:before], math.prod(shapes[-1]), *tensor.shape[end:])))
    return ops.cat(parts, axis=before), shapes


def unpack(tensor: Tensor, packed_shapes: Sequence[Sequence[int]], pattern: str) -> List[Tensor]:
    """Return the parts of ``tensor`` along the axis ``*``; one of their lengths may be -1."""
    before, _ = _around_star(pattern)
    lengths = [-1 if -1 in shape else math.prod(shape) for shape in packed_shapes]
    if -1 in lengths:
        lengths[lengths.index(-1)] = tensor.shape[before] - sum(length for length in lengths if length != -1)
    edges = np.cumsum([0, *lengths]).tolist()
    parts = []
    for start, end, shape in zip(edges, edges[1:], packed_shapes):
        part = tensor[(slice(None),) * before + (slice(start, end),)]
        parts.append(part.reshape((*tensor.shape[:before], *(int(n) for n in shape), *tensor.shape[before + 1 :])))
    return parts


class Rearrange(nn.Cell):
    """:func:`rearrange` as a layer."""

    def __init__(self, pattern: str, **axes_lengths: int) -> None:
        super().__init__()
        self.pattern, self.axes_lengths = pattern, axes_lengths

    def construct(self, x: Any) -> Tensor:
        """Return ``x`` rearranged."""
        return rearrange(x, self.pattern, **self.axes_lengths)


class Reduce(nn.Cell):
    """:func:`reduce` as a layer."""

    def __init__(self, pattern: str, reduction: Reduction, **axes_lengths: int) -> None:
        super().__init__()
        self.pattern, self.reduction, self.axes_lengths = pattern, reduction, axes_lengths

    def construct(self, x: Any) -> Tensor:
        """Return ``x`` reduced."""
        return reduce(x, self.pattern, self.reduction, **self.axes_lengths)
