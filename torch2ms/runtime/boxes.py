"""Boxes of detectors: areas, overlaps, forms, and what to keep of many (torchvision's ``ops``).

Boxes are float tensors (number, 4) of corners ``x1, y1, x2, y2`` unless a form says otherwise. What is differentiable
in torchvision is so here; which boxes are kept is decided in numpy.
"""

from __future__ import annotations

import math
from typing import Any, Sequence, Tuple

import mindspore as ms
import numpy as np
from mindspore import Tensor, ops

from .functional import selections

__all__ = [
    "batched_nms",
    "box_area",
    "box_convert",
    "box_iou",
    "clip_boxes_to_image",
    "complete_box_iou",
    "complete_box_iou_loss",
    "distance_box_iou",
    "distance_box_iou_loss",
    "generalized_box_iou",
    "generalized_box_iou_loss",
    "masks_to_boxes",
    "nms",
    "remove_small_boxes",
    "sigmoid_focal_loss",
]


def box_area(boxes: Tensor, fmt: str = "xyxy") -> Tensor:
    """Return the area of each box."""
    corners = box_convert(boxes, fmt, "xyxy")
    return (corners[..., 2] - corners[..., 0]) * (corners[..., 3] - corners[..., 1])


def box_convert(boxes: Tensor, in_fmt: str, out_fmt: str) -> Tensor:
    """Return boxes in another form: ``xyxy``, ``xywh`` (corner and size) or ``cxcywh`` (centre and size)."""
    if not {in_fmt, out_fmt} <= {"xyxy", "xywh", "cxcywh"}:
        raise ValueError(f"unknown form of boxes: {in_fmt} or {out_fmt}")
    if in_fmt == out_fmt:
        return boxes.copy()
    first, second = boxes[..., :2], boxes[..., 2:]
    if in_fmt == "xywh":
        first, second = first, first + second
    elif in_fmt == "cxcywh":
        first, second = first - 0.5 * second, first + 0.5 * second
    if out_fmt == "xywh":
        second = second - first
    elif out_fmt == "cxcywh":
        first, second = (first + second) / 2, second - first
    return ops.cat([first, second], -1)


def _overlaps(boxes1: Tensor, boxes2: Tensor) -> Tuple[Tensor, Tensor]:
    """Return the areas that each box of the one list has in common with each of the other, and of both together."""
    left_top = ops.maximum(boxes1[:, None, :2], boxes2[None, :, :2])
    right_bottom = ops.minimum(boxes1[:, None, 2:], boxes2[None, :, 2:])
    sizes = ops.clamp(right_bottom - left_top, 0)
    common = sizes[:, :, 0] * sizes[:, :, 1]
    return common, box_area(boxes1)[:, None] + box_area(boxes2)[None] - common


def box_iou(boxes1: Tensor, boxes2: Tensor, fmt: str = "xyxy") -> Tensor:
    """Return the overlaps (number of boxes1, number of boxes2): common area over joint area."""
    common, joint = _overlaps(box_convert(boxes1, fmt, "xyxy"), box_convert(boxes2, fmt, "xyxy"))
    return common / joint


def generalized_box_iou(boxes1: Tensor, boxes2: Tensor) -> Tensor:
    """Return the overlaps less the part of the enclosing box that is empty (Rezatofighi et al. 2019)."""
    common, joint = _overlaps(boxes1, boxes2)
    left_top = ops.minimum(boxes1[:, None, :2], boxes2[None, :, :2])
    right_bottom = ops.maximum(boxes1[:, None, 2:], boxes2[None, :, 2:])
    sizes = ops.clamp(right_bottom - left_top, 0)
    whole = sizes[:, :, 0] * sizes[:, :, 1]
    return common / joint - (whole - joint) / whole


def clip_boxes_to_image(boxes: Tensor, size: Sequence[int]) -> Tensor:
    """Return boxes (..., 4) cut off at the edges of an image of ``size`` (height, width)."""
    height, width = size
    edges = Tensor([width, height, width, height], boxes.dtype)
    return ops.minimum(ops.clamp(boxes, 0), edges)


def remove_small_boxes(boxes: Tensor, min_size: float) -> Tensor:
    """Return the int64 places of the boxes whose sides are both at least ``min_size``."""
    corners = boxes.asnumpy()
    sides = corners[:, 2:] - corners[:, :2]
    return Tensor(np.flatnonzero((sides >= min_size).all(1)).astype(np.int64))


def nms(boxes: Tensor, scores: Tensor, iou_threshold: float) -> Tensor:
    """Return the int64 places of the boxes to keep, best first: none overlaps a better one by more than allowed."""
    corners: Any = boxes.asnumpy()
    order = np.argsort(-scores.asnumpy(), kind="stable")
    areas = (corners[:, 2] - corners[:, 0]) * (corners[:, 3] - corners[:, 1])
    kept = []
    while order.size:
        best, order = order[0], order[1:]
        kept.append(best)
        left_top = np.maximum(corners[best, :2], corners[order, :2])
        right_bottom = np.minimum(corners[best, 2:], corners[order, 2:])
        sizes = np.clip(right_bottom - left_top, 0, None)
        common = sizes[:, 0] * sizes[:, 1]
        order = order[~(common / (areas[best] + areas[order] - common) > iou_threshold)]
    return Tensor(np.asarray(kept, np.int64))


def batched_nms(boxes: Tensor, scores: Tensor, idxs: Tensor, iou_threshold: float) -> Tensor:
    """Do the same for each class of ``idxs`` by itself."""
    classes = idxs.asnumpy()
    kept = []
    for number in np.unique(classes):
        places = np.flatnonzero(classes == number)
        inside = Tensor(places.astype(np.int32))
        kept.append(places[nms(boxes[inside], scores[inside], iou_threshold).asnumpy()])
    places = np.concatenate(kept) if kept else np.zeros(0, np.int64)
    return Tensor(places[np.argsort(-scores.asnumpy()[places], kind="stable")].astype(np.int64))


def sigmoid_focal_loss(
    inputs: Tensor, targets: Tensor, alpha: float = 0.25, gamma: float = 2, reduction: str = "none"
) -> Tensor:
    """Return the binary cross entropy of logits, with less weight for easy examples (Lin et al. 2017)."""
    probability = ops.sigmoid(inputs)
    entropy = ops.relu(inputs) - inputs * targets + ops.log1p(ops.exp(-ops.abs(inputs)))
    right = probability * targets + (1 - probability) * (1 - targets)
    loss = entropy * (1 - right) ** gamma
    if alpha >= 0:
        loss = (alpha * targets + (1 - alpha) * (1 - targets)) * loss
    return selections.mean(loss) if reduction == "mean" else _reduced(loss, reduction)  # NaN of none


def _reduced(loss: Tensor, reduction: str) -> Tensor:
    """Return losses, their mean (0 of none) or their sum. Raises ValueError for another reduction."""
    if reduction == "mean":
        return loss.mean() if loss.size else selections.sum(loss)
    if reduction == "sum":
        return selections.sum(loss)
    if reduction != "none":
        raise ValueError(f"unknown reduction: {reduction!r}")
    return loss


def _floats(boxes: Tensor) -> Tensor:
    return boxes if boxes.dtype in (ms.float32, ms.float64) else boxes.astype(ms.float32)


def _shape_term(boxes1: Tensor, boxes2: Tensor, iou: Tensor, eps: float) -> Tensor:
    """Return what differs in the ratio of the sides, weighed by the overlap; the weight has no gradient."""
    angles = [ops.atan((boxes[..., 2] - boxes[..., 0]) / (boxes[..., 3] - boxes[..., 1])) for boxes in (boxes1, boxes2)]
    value = 4 / math.pi**2 * (angles[0] - angles[1]) ** 2
    return ops.stop_gradient(value / (1 - iou + value + eps)) * value


def _distance_term(boxes1: Tensor, boxes2: Tensor, eps: float) -> Tensor:
    """Return how far apart the centres are, as a share of the diagonal of the box around both, squared."""
    sides = ops.maximum(boxes1[..., 2:], boxes2[..., 2:]) - ops.minimum(boxes1[..., :2], boxes2[..., :2])
    centres = (boxes1[..., :2] + boxes1[..., 2:]) / 2 - (boxes2[..., :2] + boxes2[..., 2:]) / 2
    return (centres**2).sum(-1) / ((sides**2).sum(-1) + eps)


def distance_box_iou(boxes1: Tensor, boxes2: Tensor, eps: float = 1e-7) -> Tensor:
    """Return the overlaps less the distance of the centres (Zheng et al. 2020)."""
    boxes1, boxes2 = _floats(boxes1), _floats(boxes2)
    return box_iou(boxes1, boxes2) - _distance_term(boxes1[:, None], boxes2[None], eps)


def complete_box_iou(boxes1: Tensor, boxes2: Tensor, eps: float = 1e-7) -> Tensor:
    """Return the overlaps less the distance of the centres and the difference in shape (Zheng et al. 2020)."""
    boxes1, boxes2 = _floats(boxes1), _floats(boxes2)
    iou = box_iou(boxes1, boxes2)
    shape = _shape_term(boxes1[:, None], boxes2[None], iou, eps)
    return iou - _distance_term(boxes1[:, None], boxes2[None], eps) - shape


def _areas(boxes1: Tensor, boxes2: Tensor) -> Tuple[Tensor, Tensor]:
    """Return the area that each box has in common with its partner, and of both together."""
    sizes = ops.minimum(boxes1[..., 2:], boxes2[..., 2:]) - ops.maximum(boxes1[..., :2], boxes2[..., :2])
    meet = ops.logical_and(sizes[..., 0] > 0, sizes[..., 1] > 0)
    common = ops.where(meet, sizes[..., 0] * sizes[..., 1], ops.zeros_like(sizes[..., 0]))
    own = [(boxes[..., 2] - boxes[..., 0]) * (boxes[..., 3] - boxes[..., 1]) for boxes in (boxes1, boxes2)]
    return common, own[0] + own[1] - common


def generalized_box_iou_loss(boxes1: Tensor, boxes2: Tensor, reduction: str = "none", eps: float = 1e-7) -> Tensor:
    """Return 1 less the generalised overlap of each box with its partner (Rezatofighi et al. 2019)."""
    boxes1, boxes2 = _floats(boxes1), _floats(boxes2)
    common, joint = _areas(boxes1, boxes2)
    sides = ops.maximum(boxes1[..., 2:], boxes2[..., 2:]) - ops.minimum(boxes1[..., :2], boxes2[..., :2])
    whole = sides[..., 0] * sides[..., 1]
    return _reduced(1 - common / (joint + eps) + (whole - joint) / (whole + eps), reduction)


def distance_box_iou_loss(boxes1: Tensor, boxes2: Tensor, reduction: str = "none", eps: float = 1e-7) -> Tensor:
    """Return 1 less the overlap of each box with its partner, and the distance of their centres."""
    boxes1, boxes2 = _floats(boxes1), _floats(boxes2)
    common, joint = _areas(boxes1, boxes2)
    return _reduced(1 - common / (joint + eps) + _distance_term(boxes1, boxes2, eps), reduction)


def complete_box_iou_loss(boxes1: Tensor, boxes2: Tensor, reduction: str = "none", eps: float = 1e-7) -> Tensor:
    """Return 1 less the overlap of each box with its partner, the distance of their centres and of their shapes."""
    boxes1, boxes2 = _floats(boxes1), _floats(boxes2)
    common, joint = _areas(boxes1, boxes2)
    iou = common / (joint + 1e-7)  # torchvision hands its eps on to the shape alone
    loss = 1 - iou + _distance_term(boxes1, boxes2, 1e-7) + _shape_term(boxes1, boxes2, iou, eps)
    return _reduced(loss, reduction)


def masks_to_boxes(masks: Tensor) -> Tensor:
    """Return the float32 box around what is set in each mask (number, height, width); zeros where nothing is."""
    found = np.zeros((masks.shape[0], 4), np.float32)
    for box, mask in zip(found, masks.asnumpy() != 0):
        rows, columns = np.flatnonzero(mask.any(1)), np.flatnonzero(mask.any(0))
        if rows.size:
            box[:] = columns[0], rows[0], columns[-1], rows[-1]
    return Tensor(found)
