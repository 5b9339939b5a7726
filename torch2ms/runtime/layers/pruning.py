"""Pruning with the names of ``torch.nn.utils.prune``: a weight is its original times a mask, anew before each call."""

from __future__ import annotations

import functools
from typing import Any, Iterable, List, Optional, Tuple, Union

import numpy as np
from mindspore import Parameter, Tensor, ops

from .reparametrised import Reparametrised, place_parameter, recompute, take_parameter

__all__ = [
    "L1Unstructured",
    "RandomUnstructured",
    "custom_from_mask",
    "global_unstructured",
    "identity",
    "is_pruned",
    "l1_unstructured",
    "ln_structured",
    "random_structured",
    "random_unstructured",
    "remove",
]

Amount = Union[int, float]
_BUFFERS = "_torch2ms_buffers"  # as modules.py marks the parameters of a cell that are buffers


class L1Unstructured:
    """Names the method for ``global_unstructured``: the smallest weights go."""


class RandomUnstructured:
    """Names the method for ``global_unstructured``: weights drawn by chance go."""


def _count(amount: Amount, size: int) -> int:
    """Return how many of ``size`` go: ``amount`` is a number of them (int), or a share from 0 to 1 (float)."""
    if amount < 0 or (isinstance(amount, float) and amount > 1.0) or (not isinstance(amount, float) and amount > size):
        raise ValueError(f"amount={amount} should be a share from 0 to 1, or a number up to {size}")
    return round(amount * size) if isinstance(amount, float) else int(amount)


def _numbers(value: Any) -> Any:
    return value.asnumpy() if isinstance(value, Tensor) else np.asarray(value)


def _mask_of(module: Any, name: str) -> Any:
    """Return the mask that a weight has, or one that keeps all."""
    mask = getattr(module, f"{name}_mask", None)
    return np.ones(getattr(module, name).shape, np.float32) if mask is None else _numbers(mask).copy()


def _set_mask(module: Any, name: str, mask: Any) -> Any:
    """Give a weight another mask, from then on."""
    kept, original = f"{name}_mask", f"{name}_orig"
    if hasattr(module, kept):
        getattr(module, kept).set_data(Tensor(mask, getattr(module, kept).dtype))
    else:
        weight = take_parameter(module, name)
        place_parameter(module, original, weight.value().copy(), module, weight.requires_grad)
        place_parameter(module, kept, Tensor(mask, weight.dtype), module, False)
        module.__dict__[_BUFFERS] = {**module.__dict__.get(_BUFFERS, {}), kept: 0}
        recompute(module, name, functools.partial(_masked, module, original, kept))
    module.__dict__[name] = ops.stop_gradient(_masked(module, original, kept))
    return module


def _masked(module: Any, original: str, kept: str) -> Any:
    return getattr(module, original) * getattr(module, kept)


def _drop(scores: Any, kept: Any, amount: Amount) -> Any:
    """Return the mask ``kept`` without the ``amount`` lowest of what it keeps."""
    places = np.flatnonzero(kept)
    order = np.argsort(scores.ravel()[places], kind="stable")
    mask = kept.copy()
    mask.ravel()[places[order[: _count(amount, len(places))]]] = 0
    return mask


def _magnitudes(module: Any, name: str, importance_scores: Optional[Tensor]) -> Any:
    return np.abs(_numbers(getattr(module, name) if importance_scores is None else importance_scores))


def identity(module: Any, name: str) -> Any:
    """Make a weight one that can be pruned, and keep all of it."""
    return _set_mask(module, name, _mask_of(module, name))


def custom_from_mask(module: Any, name: str, mask: Tensor) -> Any:
    """Keep of a weight what ``mask`` says, of what is kept already."""
    return _set_mask(module, name, _mask_of(module, name) * _numbers(mask))


def l1_unstructured(module: Any, name: str, amount: Amount, importance_scores: Optional[Tensor] = None) -> Any:
    """Set the smallest numbers of a weight to 0."""
    kept = _mask_of(module, name)
    return _set_mask(module, name, _drop(_magnitudes(module, name, importance_scores), kept, amount))


def random_unstructured(module: Any, name: str, amount: Amount) -> Any:
    """Set numbers of a weight to 0 by chance."""
    kept = _mask_of(module, name)
    return _set_mask(module, name, _drop(_numbers(ops.rand(kept.size)), kept, amount))


def ln_structured(
    module: Any, name: str, amount: Amount, n: Any, dim: int, importance_scores: Optional[Tensor] = None
) -> Any:
    """Set the places along ``dim`` to 0 whose ``n``-norms are the smallest."""
    scores = _magnitudes(module, name, importance_scores)
    lines = np.moveaxis(scores, dim, 0).reshape(scores.shape[dim], -1)
    return _drop_lines(module, name, amount, dim, np.linalg.norm(lines, ord=float(n), axis=1))


def random_structured(module: Any, name: str, amount: Amount, dim: int) -> Any:
    """Set places along ``dim`` to 0 by chance."""
    return _drop_lines(module, name, amount, dim, _numbers(ops.rand(getattr(module, name).shape[dim])))


def _drop_lines(module: Any, name: str, amount: Amount, dim: int, scores: Any) -> Any:
    kept = _mask_of(module, name)
    lines = np.moveaxis(kept, dim, 0)  # a view
    alive = lines.reshape(len(lines), -1).any(1).astype(np.float32)
    lines[_drop(scores, alive, amount) == 0] = 0
    return _set_mask(module, name, kept)


def global_unstructured(
    parameters: Iterable[Tuple[Any, str]], pruning_method: Any, importance_scores: Any = None, **options: Any
) -> None:
    """Prune several weights, ``(module, name)`` each, as if they were one."""
    pairs: List[Tuple[Any, str]] = list(parameters)
    given = importance_scores or {}
    kept = [_mask_of(module, name) for module, name in pairs]
    scores = [_magnitudes(*pair, given.get(pair)).ravel() for pair in pairs]
    joined = np.concatenate(scores)
    if issubclass(pruning_method, RandomUnstructured):
        joined = _numbers(ops.rand(len(joined)))
    mask = _drop(joined, np.concatenate([each.ravel() for each in kept]), **options)
    start = 0
    for (module, name), each in zip(pairs, kept):
        _set_mask(module, name, mask[start : start + each.size].reshape(each.shape))
        start += each.size


def is_pruned(module: Any) -> bool:
    """Whether a weight of a network, or of a part of it, has a mask."""
    return any(name.endswith("_mask") for cell in module.cells_and_names() for name in cell[1]._params)


def remove(module: Any, name: str) -> Any:
    """Make the pruned weight an ordinary parameter, for good."""
    if f"{name}_mask" not in module._params:
        raise ValueError(f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed")
    original, mask = module._params.pop(f"{name}_orig"), module._params.pop(f"{name}_mask")
    module.__dict__.pop(name, None)
    module._torch2ms_weights.pop(name)
    value = original.value() * mask.value()
    setattr(module, name, Parameter(value.copy(), name=name, requires_grad=original.requires_grad))
    if not module._torch2ms_weights and isinstance(module, Reparametrised):
        module.__class__ = type(module).__mro__[2]
    return module
