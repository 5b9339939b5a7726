"""PyTorch's gradient of batch and instance normalization on CPU, where PyTorch itself gets it wrong.

For a batch of one whose result is transposed as a view next, ``bn(x).flatten(2).transpose(1, 2)``, what comes back has
strides of both memory formats, and PyTorch 2.13's kernel reads it in the wrong one: finite differences and the formula
written out contradict it by more than the gradient's size, in float32 and in float64. A reference must be right.
"""

from __future__ import annotations

import functools
from typing import Any

import torch

__all__ = ["repair"]


def repair() -> None:
    """Let the gradients of ``torch.batch_norm`` and ``torch.instance_norm`` come back contiguous."""
    for name in ("batch_norm", "instance_norm"):
        setattr(torch, name, _with_contiguous_gradient(getattr(torch, name)))


def _with_contiguous_gradient(function: Any) -> Any:
    @functools.wraps(function)
    def normalize(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        if result.requires_grad:
            result.register_hook(lambda gradient: gradient.contiguous())
        return result

    return normalize
