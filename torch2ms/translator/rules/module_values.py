"""Modules that a program handles as values: hands on, or looks names up in that only the running program knows."""

from __future__ import annotations

__all__ = ["MODULES", "SAME_CALLS"]

MODULES = {
    "torch": "mindspore",
    "torch.nn": "mindspore.nn",
    "torch.nn.functional": "mindspore.ops",
    "torch.optim": "torch2ms.runtime.optimizers",
    "torch.optim.lr_scheduler": "mindspore.experimental.optim.lr_scheduler",
    "torch.nn.init": "mindspore.common.initializer",
    "torch.distributions": "torch2ms.runtime.distributions",
    "torchvision.datasets": "torch2ms.runtime.datasets",
    "torchvision.models": "torch2ms.runtime.vision_models",
}

# What these become has PyTorch's names and arguments, so that calls through it need no change.
SAME_CALLS = frozenset({"torch.optim", "torch.distributions", "torchvision.datasets", "torchvision.models"})
