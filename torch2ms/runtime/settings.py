"""Settings that PyTorch's layers tell of themselves, and MindSpore's do not, or keep elsewhere."""

from __future__ import annotations

from typing import Any

__all__ = ["affine", "input_size", "track_running_stats"]


def affine(layer: Any) -> bool:
    """Whether a normalisation has a weight and a bias; MindSpore's own are only made for those that have."""
    return bool(getattr(layer, "affine", True))


def track_running_stats(layer: Any) -> bool:
    """Whether a batch normalisation keeps statistics; MindSpore's own are only made for those that do."""
    return bool(getattr(layer, "track_running_stats", True))


def input_size(layer: Any) -> int:
    """Return the number of features that a recurrent layer takes."""
    return int(layer.weight_ih_l0.shape[1])
