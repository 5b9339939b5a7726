"""Gradients of values that were computed before anyone asked for them, where no single function holds the forward pass.

``mindspore.value_and_grad`` wants the whole forward pass as a function. Some programs have none: an agent plays a game
and stores what it will need, a discriminator is trained with three losses of which two share a network's output. With
this module imported, MindSpore records every operation as it runs (not inside ``_no_grad``), and :func:`backward`
asks for the gradients afterwards, as ``mindspore.grad`` of a function that only hands the finished loss over.

    recording.reset(optimizer)                # forget the gradients kept so far
    loss = sum(losses_of_the_episode)
    recording.backward(loss, optimizer)       # add the gradients by the weights of the optimizer to what is kept
    recording.update(optimizer)               # let the optimizer use them

LayerNorm and recurrent layers have no gradient this way: MindSpore 2.10 raises. It needs PyNative mode and MindSpore
2.7 or newer (2.7 to 2.10 were run). Prefer ``value_and_grad`` where one function can hold the step: nothing is recorded
then that is not needed.
"""

from __future__ import annotations

from typing import Any, Dict, Iterable, List, Optional, Tuple

import mindspore as ms
from mindspore import ops

from . import autograd

try:
    from mindspore.graph.api import _pynative_executor
except ImportError:  # MindSpore before 2.10
    from mindspore.common.api import _pynative_executor

__all__ = ["backward", "clip_norm", "clip_value", "gradient_of", "reset", "start", "update"]

_kept: Dict[int, Tuple[ms.Parameter, ms.Tensor]] = {}  # by the identity of the weight, which is held on to


def _everything() -> None:
    """Stand for the program as a whole, which MindSpore wants to know whose operations it records."""


def start() -> None:
    """Record from here on. Importing the module does this; a second call does nothing that can be seen.

    MindSpore 2.0 keeps no record outside of a gradient function: there is nothing to start, RuntimeError says so.
    """
    if not hasattr(ms, "_no_grad"):
        raise RuntimeError("MindSpore 2.7 or newer is needed to ask for gradients of what was computed before")
    _pynative_executor.set_grad_flag(True)
    _pynative_executor.new_graph(_everything)


def _weights(owners: Iterable[Any]) -> List[ms.Parameter]:
    """Return the trained weights of optimizers and networks, each once."""
    found: Dict[int, ms.Parameter] = {}
    for owner in owners:
        if isinstance(owner, ms.Parameter):
            found[id(owner)] = owner
            continue
        # An optimizer is a Cell as well; of the two only an optimizer has the attribute.
        weights = getattr(owner, "parameters", None)
        if weights is None:
            weights = owner.trainable_params() if hasattr(owner, "trainable_params") else owner
        found.update((id(weight), weight) for weight in weights)
    return [weight for weight in found.values() if weight.requires_grad]


def reset(*owners: Any) -> None:
    """Forget the gradients kept for the weights of optimizers or networks."""
    for weight in _weights(owners):
        _kept.pop(id(weight), None)


def backward(loss: ms.Tensor, *owners: Any) -> None:
    """Add the gradients of ``loss`` to those kept for the weights of ``owners``: optimizers, networks, weights.

    ``loss``: a tensor computed since the recording began; one with several elements counts as their sum.
    """
    weights = _weights(owners)
    if not weights:
        return

    def finished() -> ms.Tensor:
        return loss

    for weight, grad in zip(weights, ms.grad(finished, None, weights)()):
        old = _kept.get(id(weight))
        _kept[id(weight)] = (weight, grad if old is None else old[1] + grad)


def gradient_of(weight: ms.Parameter) -> Optional[ms.Tensor]:
    """Return the gradient kept for a weight, None where there is none."""
    found = _kept.get(id(weight))
    return None if found is None else found[1]


def update(optimizer: Any) -> None:
    """Let an optimizer use the gradients kept for its weights; without any it does nothing.

    A weight without a gradient beside others that have one counts as having zeros: MindSpore's optimizers take a
    gradient for each.
    """
    grads = [gradient_of(weight) for weight in optimizer.parameters]
    if all(grad is None for grad in grads):
        return
    filled = [ops.zeros_like(w) if g is None else g for w, g in zip(optimizer.parameters, grads)]
    optimizer(tuple(filled))


def _change(weights: List[ms.Parameter], grads: Iterable[ms.Tensor]) -> None:
    _kept.update((id(weight), (weight, grad)) for weight, grad in zip(weights, grads))


def clip_norm(weights: Any, max_norm: float, norm_type: float = 2.0, **_: Any) -> ms.Tensor:
    """Scale the gradients kept for ``weights`` so that their norm is at most ``max_norm``; return it as it was."""
    held = [weight for weight in _weights([weights]) if id(weight) in _kept]
    if not held:
        return ms.Tensor(0.0)
    grads, norm = autograd.clip_grad_norm([_kept[id(weight)][1] for weight in held], max_norm, norm_type)
    _change(held, grads)
    return norm


def clip_value(weights: Any, limit: float, **_: Any) -> None:
    """Hold every element of the gradients kept for ``weights`` between ``-limit`` and ``limit``."""
    held = [weight for weight in _weights([weights]) if id(weight) in _kept]
    _change(held, autograd.clip_grad_value([_kept[id(weight)][1] for weight in held], limit))


if hasattr(ms, "_no_grad"):
    start()
