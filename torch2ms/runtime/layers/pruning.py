"""Pruning with the names of ``torch.nn.utils.prune``: a weight is its original times a mask, anew before each call."""

from __future__ import annotations

import functools
from typing import Any, Iterable, List, Optional, Tuple, Union

import numpy as np
from mindspore import Parameter, Tensor, ops

from .reparametrised import Reparametrised, place_parameter, recompute, take_parameter

__all__ = [
    "BasePruningMethod",
    "CustomFromMask",
    "Identity",
    "L1Unstructured",
    "LnStructured",
    "RandomStructured",
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


class BasePruningMethod:
    """A way of pruning: what is derived from it says in ``compute_mask`` what of a tensor is kept.

    ``PRUNING_TYPE``: "unstructured" methods are given what is kept already, as a line of numbers, "structured" ones
    (along ``self.dim``) the places of which something is kept, and "global" ones everything.
    """

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Return the mask ``default_mask``, of what of ``t`` is kept, with more zeros."""
        raise NotImplementedError(f"{type(self).__name__} defines no compute_mask")

    @classmethod
    def apply(
        cls, module: Any, name: str, *args: Any, importance_scores: Optional[Tensor] = None, **kwargs: Any
    ) -> BasePruningMethod:
        """Prune a weight of a module from then on, on top of what it is pruned by; return the method."""
        method = cls(*args, **kwargs)
        method._tensor_name = name
        scores = _numbers(getattr(module, name) if importance_scores is None else importance_scores)
        _set_mask(module, name, _further(method, scores, _mask_of(module, name)))
        return method

    _tensor_name = ""

    def prune(
        self, t: Tensor, default_mask: Optional[Tensor] = None, importance_scores: Optional[Tensor] = None
    ) -> Tensor:
        """Return a pruned copy of a tensor, by its own numbers or by other scores of them."""
        mask = ops.ones_like(t) if default_mask is None else default_mask
        return t * self.compute_mask(t if importance_scores is None else importance_scores, mask).astype(t.dtype)

    def apply_mask(self, module: Any) -> Tensor:
        """Return the pruned weight."""
        return ops.stop_gradient(_masked(module, f"{self._tensor_name}_orig", f"{self._tensor_name}_mask"))

    def remove(self, module: Any) -> None:
        """Make the pruned weight an ordinary parameter, for good."""
        remove(module, self._tensor_name)


def _further(method: BasePruningMethod, scores: Any, kept: Any) -> Any:
    """Return the mask ``kept`` with what a method takes away of the rest, as its type says."""
    slices: Any = kept == 1
    if method.PRUNING_TYPE == "global":
        slices = ...
    elif method.PRUNING_TYPE == "structured":
        axis = method.dim % kept.ndim  # type: ignore[attr-defined]
        alive = np.moveaxis(kept, axis, 0).reshape(kept.shape[axis], -1).any(1)
        slices = (slice(None),) * axis + (alive,)
    elif method.PRUNING_TYPE != "unstructured":
        raise ValueError(f"Unrecognized PRUNING_TYPE {method.PRUNING_TYPE}")
    mask = kept.copy()
    mask[slices] = _numbers(method.compute_mask(Tensor(scores[slices]), Tensor(kept[slices]))).astype(mask.dtype)
    return mask


class Identity(BasePruningMethod):
    """Keeps all."""

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Return the mask."""
        return default_mask


class _ByScores(BasePruningMethod):
    """Drops an amount of numbers, or of places along an axis, by the scores of :meth:`scores`."""

    dim: Optional[int] = None

    def __init__(self, amount: Amount) -> None:
        self.amount = amount

    def scores(self, values: Any) -> Any:
        """Return the scores of some numbers, or of the places of ``values`` along its first axis."""
        raise NotImplementedError

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Return the mask without the lowest."""
        values, mask = _numbers(t), _numbers(default_mask).copy()
        if self.dim is None:
            return Tensor(_drop(self.scores(values), np.ones_like(mask), self.amount) * mask)
        lines = np.moveaxis(values, self.dim, 0)
        kept = _drop(self.scores(lines), np.ones(len(lines), np.float32), self.amount)
        np.moveaxis(mask, self.dim, 0)[kept == 0] = 0
        return Tensor(mask)


class L1Unstructured(_ByScores):
    """The smallest numbers go."""

    def scores(self, values: Any) -> Any:
        """Return the magnitudes."""
        return np.abs(values)


class RandomUnstructured(_ByScores):
    """Numbers go by chance."""

    def scores(self, values: Any) -> Any:
        """Return random numbers."""
        return _numbers(ops.rand(values.shape))


class LnStructured(_ByScores):
    """The places along an axis go whose norms are the smallest."""

    PRUNING_TYPE = "structured"

    def __init__(self, amount: Amount, n: Any, dim: int = -1) -> None:
        super().__init__(amount)
        self.n, self.dim = n, dim

    def scores(self, values: Any) -> Any:
        """Return the norms."""
        return np.linalg.norm(values.reshape(len(values), -1), ord=float(self.n), axis=1)


class RandomStructured(_ByScores):
    """Places along an axis go by chance."""

    PRUNING_TYPE = "structured"

    def __init__(self, amount: Amount, dim: int = -1) -> None:
        super().__init__(amount)
        self.dim = dim

    def scores(self, values: Any) -> Any:
        """Return random numbers."""
        return _numbers(ops.rand(len(values)))


class CustomFromMask(BasePruningMethod):
    """Keeps what a mask says."""

    PRUNING_TYPE = "global"

    def __init__(self, mask: Tensor) -> None:
        self.mask = mask

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Return what both masks keep."""
        return default_mask * self.mask.astype(default_mask.dtype)


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
    method = pruning_method(**options)
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(f"only unstructured methods prune several weights together, not {method.PRUNING_TYPE} ones")
    kept = [_mask_of(module, name) for module, name in pairs]
    scores = [_numbers(given.get(pair, getattr(*pair))).ravel() for pair in pairs]
    mask = _further(method, np.concatenate(scores), np.concatenate([each.ravel() for each in kept]))
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
