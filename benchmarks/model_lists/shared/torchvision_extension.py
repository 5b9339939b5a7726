"""Stands for torchvision's compiled operators on PyTorch's side: their schemas alone, so that it can be imported."""

import torch

_LIBRARY = torch.library.Library("torchvision", "DEF")
_LIBRARY.define("nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
_LIBRARY.define("qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")


def _load_library(name):
    return False


def _has_ops():
    return False


def _assert_has_ops():
    raise RuntimeError("Couldn't load custom C++ ops")


def _check_cuda_version():
    return -1
