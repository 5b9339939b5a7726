"""Mixup and CutMix: pictures and targets of a batch mixed with those of the batch the other way round.

Zhang et al., "mixup: Beyond Empirical Risk Minimization" (2018); Yun et al., "CutMix" (2019). The random numbers are
NumPy's, drawn in timm's order.
"""

from __future__ import annotations

from typing import Any, Optional, Sequence, Tuple

import mindspore as ms
import numpy as np
from mindspore import Tensor

__all__ = ["Mixup", "mixup_target", "one_hot", "rand_bbox"]

Box = Tuple[Any, Any, Any, Any]


def one_hot(x: Tensor, num_classes: int, on_value: float = 1.0, off_value: float = 0.0, **_: Any) -> Tensor:
    """Return (batch, num_classes) with ``on_value`` at the class of each."""
    places = x.asnumpy().astype(np.int64).reshape(-1)
    made = np.full((places.size, num_classes), off_value, np.float32)
    made[np.arange(places.size), places] = on_value
    return Tensor(made)


def mixup_target(target: Tensor, num_classes: int, lam: Any = 1.0, smoothing: float = 0.0, *_: Any) -> Tensor:
    """Return smoothed targets, mixed with those of the batch the other way round."""
    off_value = smoothing / num_classes
    own = one_hot(target, num_classes, 1.0 - smoothing + off_value, off_value)
    return own * lam + Tensor(np.ascontiguousarray(own.asnumpy()[::-1])) * (1.0 - lam)


def rand_bbox(img_shape: Sequence[int], lam: float, margin: float = 0.0, count: Optional[int] = None) -> Box:
    """Draw a box of a share ``1 - lam`` of the picture, cut off at its border: first and last row, and column."""
    height, width = img_shape[-2:]
    ratio = np.sqrt(1 - lam)
    cut_h, cut_w = int(height * ratio), int(width * ratio)
    margin_h, margin_w = int(margin * cut_h), int(margin * cut_w)
    row = np.random.randint(margin_h, height - margin_h, size=count)
    column = np.random.randint(margin_w, width - margin_w, size=count)
    rows = (np.clip(row - cut_h // 2, 0, height), np.clip(row + (cut_h + 1) // 2, 0, height))
    columns = (np.clip(column - cut_w // 2, 0, width), np.clip(column + (cut_w + 1) // 2, 0, width))
    return (*rows, *columns)


def _box_between(img_shape: Sequence[int], bounds: Sequence[float]) -> Box:
    """Draw a box whose sides are shares of the picture's between two bounds."""
    height, width = img_shape[-2:]
    cut_h = np.random.randint(int(height * bounds[0]), int(height * bounds[1]))
    cut_w = np.random.randint(int(width * bounds[0]), int(width * bounds[1]))
    row = np.random.randint(0, height - cut_h + 1)
    column = np.random.randint(0, width - cut_w + 1)
    return row, row + cut_h, column, column + cut_w


class Mixup:
    """Mix a batch of pictures and its targets: one mix a batch, a pair or an element (``mode``)."""

    def __init__(
        self,
        mixup_alpha: float = 1.0,
        cutmix_alpha: float = 0.0,
        cutmix_minmax: Optional[Sequence[float]] = None,
        prob: float = 1.0,
        switch_prob: float = 0.5,
        mode: str = "batch",
        correct_lam: bool = True,
        label_smoothing: float = 0.1,
        num_classes: int = 1000,
    ) -> None:
        if cutmix_minmax is not None and len(cutmix_minmax) != 2:
            raise AssertionError("the sides of a box lie between two bounds")
        self.mixup_alpha, self.cutmix_minmax = mixup_alpha, cutmix_minmax
        self.cutmix_alpha = cutmix_alpha if cutmix_minmax is None else 1.0
        self.mix_prob, self.switch_prob, self.mode = prob, switch_prob, mode
        self.correct_lam, self.label_smoothing, self.num_classes = correct_lam, label_smoothing, num_classes
        self.mixup_enabled = True

    def _alpha(self, use_cutmix: bool) -> float:
        return self.cutmix_alpha if use_cutmix else self.mixup_alpha

    def _check(self) -> None:
        if self.mixup_alpha <= 0.0 and self.cutmix_alpha <= 0.0:
            raise AssertionError("One of mixup_alpha > 0., cutmix_alpha > 0., cutmix_minmax not None should be true.")

    def _params_per_elem(self, batch_size: int) -> Tuple[Any, Any]:
        lam = np.ones(batch_size, np.float32)
        use_cutmix = np.zeros(batch_size, bool)
        if not self.mixup_enabled:
            return lam, use_cutmix
        self._check()
        if self.mixup_alpha > 0.0 and self.cutmix_alpha > 0.0:
            use_cutmix = np.random.rand(batch_size) < self.switch_prob
            cut = np.random.beta(self.cutmix_alpha, self.cutmix_alpha, size=batch_size)
            mixed = np.where(use_cutmix, cut, np.random.beta(self.mixup_alpha, self.mixup_alpha, size=batch_size))
        else:
            use_cutmix = np.full(batch_size, self.mixup_alpha <= 0.0)
            alpha = self._alpha(bool(use_cutmix[0]))
            mixed = np.random.beta(alpha, alpha, size=batch_size)
        return np.where(np.random.rand(batch_size) < self.mix_prob, mixed.astype(np.float32), lam), use_cutmix

    def _params_per_batch(self) -> Tuple[float, bool]:
        if not self.mixup_enabled or np.random.rand() >= self.mix_prob:
            return 1.0, False
        self._check()
        both = self.mixup_alpha > 0.0 and self.cutmix_alpha > 0.0
        use_cutmix = bool(np.random.rand() < self.switch_prob) if both else self.mixup_alpha <= 0.0
        alpha = self._alpha(use_cutmix)
        return float(np.random.beta(alpha, alpha)), use_cutmix

    def _box(self, shape: Sequence[int], lam: float) -> Tuple[Box, float]:
        """Return a box and the share of the picture outside of it."""
        box = rand_bbox(shape, lam) if self.cutmix_minmax is None else _box_between(shape, self.cutmix_minmax)
        if self.correct_lam or self.cutmix_minmax is not None:
            lam = 1.0 - (box[1] - box[0]) * (box[3] - box[2]) / float(shape[-2] * shape[-1])
        return box, lam

    def _mix_one(self, made: Any, source: Any, place: int, lam: Any, cut: bool) -> Any:
        """Mix one picture with its partner in ``source``; return the share that is its own."""
        other = source[len(source) - place - 1]
        if not cut:
            made[place] = made[place] * lam + other * (1 - lam)
            return lam
        (top, bottom, left, right), lam = self._box(made.shape[1:], lam)
        made[place, :, top:bottom, left:right] = other[:, top:bottom, left:right]
        return lam

    def _mix_elem(self, made: Any, source: Any) -> Any:
        lams, cuts = self._params_per_elem(len(made))
        for place in range(len(made)):
            if lams[place] != 1.0:
                lams[place] = self._mix_one(made, source, place, lams[place], bool(cuts[place]))
        return lams[:, None]

    def _mix_pair(self, made: Any, source: Any) -> Any:
        lams, cuts = self._params_per_elem(len(made) // 2)
        for place, cut in enumerate(cuts):
            partner, lam = len(made) - place - 1, lams[place]
            if lam == 1.0:
                continue
            if cut:
                (top, bottom, left, right), lams[place] = self._box(made.shape[1:], lam)
                made[place, :, top:bottom, left:right] = source[partner, :, top:bottom, left:right]
                made[partner, :, top:bottom, left:right] = source[place, :, top:bottom, left:right]
            else:
                made[place] = made[place] * lam + source[partner] * (1 - lam)
                made[partner] = made[partner] * lam + source[place] * (1 - lam)
        return np.concatenate((lams, lams[::-1]))[:, None]

    def _mix_batch(self, made: Any, source: Any) -> float:
        lam, use_cutmix = self._params_per_batch()
        if lam == 1.0:
            return 1.0
        if not use_cutmix:
            made[...] = made * np.float32(lam) + source[::-1] * np.float32(1.0 - lam)
            return lam
        (top, bottom, left, right), lam = self._box(made.shape, lam)
        made[:, :, top:bottom, left:right] = source[::-1][:, :, top:bottom, left:right]
        return lam

    def __call__(self, x: Tensor, target: Tensor) -> Tuple[Tensor, Tensor]:
        """Return the batch mixed, and its targets as shares of the classes."""
        if len(x) % 2:
            raise AssertionError("Batch size should be even when using this")
        made = x.asnumpy().copy()
        mix = {"elem": self._mix_elem, "pair": self._mix_pair}.get(self.mode)
        lam: Any = mix(made, made.copy()) if mix is not None else self._mix_batch(made, made.copy())
        if not isinstance(lam, float):
            lam = Tensor(np.asarray(lam, np.float32).astype(made.dtype)).astype(ms.float32)
        return Tensor(made), mixup_target(target, self.num_classes, lam, self.label_smoothing)
