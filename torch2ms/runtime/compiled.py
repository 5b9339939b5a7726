"""Operators that torchvision compiles, with the arguments of ``torch.ops.torchvision``, for its own source translated.

Those that torchvision gives two results give two: the second says where the first came from.
"""

from __future__ import annotations

from typing import Any, Tuple

import numpy as np
from mindspore import Tensor

from . import boxes, regions
from .functional import sampling

__all__ = [
    "Library",
    "Operators",
    "cuda_version",
    "deform_conv2d",
    "nms",
    "operators",
    "ps_roi_align",
    "ps_roi_pool",
    "roi_align",
    "roi_pool",
]


def nms(dets: Tensor, scores: Tensor, iou_threshold: float) -> Tensor:
    """Return the places of the boxes to keep, best first."""
    return boxes.nms(dets, scores, iou_threshold)


def roi_align(
    input: Tensor,
    rois: Tensor,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
    sampling_ratio: int,
    aligned: bool,
) -> Tensor:
    """Return means of bilinear samples."""
    size = (pooled_height, pooled_width)
    return regions.roi_align(input, rois, size, spatial_scale, sampling_ratio, aligned)


def roi_pool(
    input: Tensor, rois: Tensor, spatial_scale: float, pooled_height: int, pooled_width: int
) -> Tuple[Tensor, Tensor]:
    """Return the largest value of each bin, and its int32 place in the plane of its channel (-1: an empty bin)."""
    size, count = (pooled_height, pooled_width), int(np.prod(input.shape))
    places = regions.largest_places(input, rois.asnumpy(), size, spatial_scale)
    planes = np.where(places == count, -1, places % (input.shape[2] * input.shape[3]))
    return regions.roi_pool(input, rois, size, spatial_scale), Tensor(planes.astype(np.int32))


def _own_channels(values: Tensor) -> Tuple[Tensor, Tensor]:
    """Return values (regions, channels, rows, columns) and the int32 channel that each was taken from."""
    channels = np.arange(int(np.prod(values.shape[1:])), dtype=np.int32).reshape(values.shape[1:])
    return values, Tensor(np.broadcast_to(channels, values.shape).copy())


def ps_roi_align(
    input: Tensor, rois: Tensor, spatial_scale: float, pooled_height: int, pooled_width: int, sampling_ratio: int
) -> Tuple[Tensor, Tensor]:
    """Return means of samples where each bin has channels of its own, and these channels."""
    size = (pooled_height, pooled_width)
    return _own_channels(regions.ps_roi_align(input, rois, size, spatial_scale, sampling_ratio))


def ps_roi_pool(
    input: Tensor, rois: Tensor, spatial_scale: float, pooled_height: int, pooled_width: int
) -> Tuple[Tensor, Tensor]:
    """Return means of bins that have channels of their own each, and these channels."""
    return _own_channels(regions.ps_roi_pool(input, rois, (pooled_height, pooled_width), spatial_scale))


def deform_conv2d(
    input: Tensor,
    weight: Tensor,
    offset: Tensor,
    mask: Tensor,
    bias: Tensor,
    stride_h: int,
    stride_w: int,
    pad_h: int,
    pad_w: int,
    dilation_h: int,
    dilation_w: int,
    groups: int,
    offset_groups: int,
    use_mask: bool,
) -> Tensor:
    """Return the convolution whose kernel reads moved places; the groups follow from the shapes."""
    steps = (stride_h, stride_w), (pad_h, pad_w), (dilation_h, dilation_w)
    return sampling.deform_conv2d(input, offset, weight, bias, *steps, mask if use_mask else None)


def cuda_version() -> int:
    """Return the version of CUDA that the operators are built with: -1, none."""
    return -1


class Operators:
    """``torch.ops.torchvision`` as a value: operators by name, to be called, or named where kernels are registered."""

    def __init__(self, name: str = "torchvision") -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        found = {
            "nms": nms, "roi_align": roi_align, "roi_pool": roi_pool, "ps_roi_align": ps_roi_align,
            "ps_roi_pool": ps_roi_pool, "deform_conv2d": deform_conv2d,
        }  # fmt: skip
        return _Operator(f"{self._name}::{name}", found.get(name))


class _Operator:
    """One operator; ``default`` is the operator itself, as it has one signature."""

    def __init__(self, name: str, function: Any) -> None:
        self._name, self._function, self.default = name, function, self

    def __call__(self, *args: Any, **options: Any) -> Any:
        if self._function is None:
            raise NotImplementedError(f"{self._name} is compiled by torchvision, and not part of the runtime")
        return self._function(*args, **options)


operators = Operators()


class Library:
    """``torch.library.Library("torchvision", ...)``: kernels are registered for PyTorch's dispatcher.

    It is not used: the operators are those of this module, and have their gradients.
    """

    def __init__(self, ns: str, kind: str, dispatch_key: str = "") -> None:
        self.ns, self.kind, self.dispatch_key = ns, kind, dispatch_key

    def impl(self, op_name: Any, fn: Any, *_: Any, **__: Any) -> None:
        """Register nothing."""

    def define(self, schema: str, *_: Any, **__: Any) -> str:
        """Register nothing; return the name that a schema declares."""
        return schema.partition("(")[0]
