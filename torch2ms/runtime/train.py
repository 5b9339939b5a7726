"""Training and evaluation steps, compiled or not.

The train step and the eval step are two functions on purpose: a function compiled by ``ms.jit`` keeps the network's
``training`` flag of its first call.
"""

from __future__ import annotations

from typing import Any, Callable, Optional, Tuple

import mindspore as ms
from mindspore import amp as ms_amp
from mindspore import nn, ops

__all__ = ["build_eval_step", "build_train_step"]

TrainStep = Callable[[Any, Any], Tuple[ms.Tensor, ms.Tensor]]


def build_train_step(
    network: nn.Cell,
    loss_fn: Callable[..., ms.Tensor],
    optimizer: Any,
    jit: bool = False,
    reducer: Optional[Callable[..., Any]] = None,
    scaler: Any = None,
    clip_norm: Optional[float] = None,
) -> TrainStep:
    """Return ``step(data, label) -> (loss, logits)``, which moves the optimizer's parameters once.

    ``reducer`` averages gradients over ranks; ``scaler`` scales the loss (steps whose gradients overflow are left out);
    ``clip_norm`` bounds the gradients' norm. ``jit`` compiles the step: then call ``network.set_train()``
    before the first step, and not ``set_train(False)`` between steps.
    """

    def forward_fn(data: Any, label: Any) -> Tuple[ms.Tensor, ms.Tensor]:
        logits = network(data)
        loss = loss_fn(logits, label)
        if scaler is not None:
            loss = scaler.scale(loss)
        return loss, logits

    grad_fn = ms.value_and_grad(forward_fn, None, optimizer.parameters, has_aux=True)

    def train_step(data: Any, label: Any) -> Tuple[ms.Tensor, ms.Tensor]:
        (loss, logits), grads = grad_fn(data, label)
        if reducer is not None:
            grads = reducer(grads)
        if scaler is not None:
            loss = scaler.unscale(loss)
            grads = scaler.unscale(grads)
            is_finite = ms_amp.all_finite(grads)
            scaler.adjust(is_finite)
            if is_finite:
                if clip_norm is not None:
                    grads = ops.clip_by_global_norm(grads, clip_norm)
                optimizer(grads)
        else:
            if clip_norm is not None:
                grads = ops.clip_by_global_norm(grads, clip_norm)
            optimizer(grads)
        return loss, logits

    return ms.jit(train_step) if jit else train_step  # type: ignore[no-any-return]


def build_eval_step(network: nn.Cell, loss_fn: Callable[..., ms.Tensor], jit: bool = False) -> TrainStep:
    """Return ``step(data, label) -> (loss, logits)`` without gradients; call it with ``network.set_train(False)``."""

    def eval_step(data: Any, label: Any) -> Tuple[ms.Tensor, ms.Tensor]:
        logits = network(data)
        return loss_fn(logits, label), logits

    return ms.jit(eval_step) if jit else eval_step  # type: ignore[no-any-return]
