"""Gradients as values: clipping, adding up, and switching recording off inside a gradient function.

MindSpore has no ``.grad``; ``value_and_grad`` returns a tuple of gradients in the order of the weights. What torch
programs do to ``.grad`` in place is done here to that tuple.
"""

import contextlib
from typing import Any, ContextManager, List, NamedTuple, Optional, Sequence, Tuple

import mindspore as ms
from mindspore import ops

try:
    from mindspore.graph.api import _pynative_executor
except ImportError:  # MindSpore before 2.10
    from mindspore.common.api import _pynative_executor

Gradients = Tuple[ms.Tensor, ...]

__all__ = [
    "accumulate",
    "clip_grad_norm",
    "clip_grad_value",
    "enable_grad",
    "gradient_of",
    "is_grad_enabled",
    "no_grad",
    "records",
    "requires_grad",
    "set_grad_enabled",
    "total_norm",
    "unpack_dual",
    "variable",
    "zeroed",
]


def total_norm(grads: Sequence[ms.Tensor], norm_type: float = 2.0) -> ms.Tensor:
    """Return the norm of all gradients together, as one float32 value (torch.nn.utils.get_total_norm)."""
    if float(norm_type) == float("inf"):
        return ops.stack([grad.abs().max() for grad in grads]).max()
    powers = [(grad.abs() ** norm_type).sum() if norm_type != 2.0 else (grad * grad).sum() for grad in grads]
    return ops.stack(powers).sum() ** (1.0 / norm_type)


def clip_grad_norm(
    grads: Sequence[ms.Tensor], max_norm: float, norm_type: float = 2.0, **_: Any
) -> Tuple[Gradients, ms.Tensor]:
    """Return the gradients scaled so that their norm is at most ``max_norm``, and their norm before that.

    The factor is ``max_norm / (norm + 1e-6)``, at most 1, as in torch.nn.utils.clip_grad_norm_.
    """
    norm = total_norm(grads, norm_type)
    factor = ops.clamp(max_norm / (norm + 1e-6), max=1.0)
    return tuple(grad * factor for grad in grads), norm


def clip_grad_value(grads: Sequence[ms.Tensor], clip_value: float, **_: Any) -> Gradients:
    """Return the gradients with every element held between ``-clip_value`` and ``clip_value``."""
    return tuple(ops.clamp(grad, -clip_value, clip_value) for grad in grads)


def gradient_of(
    weight: ms.Parameter, weights: Sequence[ms.Parameter], grads: Optional[Sequence[ms.Tensor]]
) -> Optional[ms.Tensor]:
    """Return the gradient of one of ``weights``, whose gradients ``grads`` are, in their order.

    None where there is none: no gradient was computed (``grads`` is None), or the weight is frozen. Raises ValueError
    for a weight that is trained, but not one of ``weights``.
    """
    if grads is None:
        return None
    for known, grad in zip(weights, grads):
        if known is weight:
            return grad
    if getattr(weight, "requires_grad", False):
        raise ValueError(f"the gradient of {weight.name} was not computed: the optimizer does not train it")
    return None


def accumulate(total: Optional[Gradients], grads: Gradients) -> Gradients:
    """Return the sum of two gradient tuples; ``None`` is the empty sum."""
    if total is None:
        return tuple(grads)
    return tuple(old + new for old, new in zip(total, grads))


def zeroed(grads: Optional[Sequence[ms.Tensor]]) -> Optional[Gradients]:
    """Return zeros in the place of gradients, ``zero_grad(set_to_none=False)``; None where there are none yet."""
    return None if grads is None else tuple(ops.zeros_like(grad) for grad in grads)


def no_grad() -> ContextManager[Any]:
    """Return a context in which nothing is recorded for a gradient, for code that runs inside a gradient function."""
    context: ContextManager[Any] = ms._no_grad()
    return context


class set_grad_enabled(contextlib.ContextDecorator):  # named as in torch
    """Switches recording on or off from here on; as a context or a decorator, until its end.

    Inside of a gradient function and for what :mod:`.recording` records. MindSpore has a context for off alone.
    """

    def __init__(self, mode: bool) -> None:
        self.mode, self._before = bool(mode), is_grad_enabled()
        _pynative_executor.set_enable_grad(self.mode)

    def __call__(self, function: Any) -> Any:
        """Return ``function``, run in this mode; elsewhere nothing is switched."""
        _pynative_executor.set_enable_grad(self._before)
        return super().__call__(function)

    def __enter__(self) -> None:
        _pynative_executor.set_enable_grad(self.mode)

    def __exit__(self, *_: Any) -> None:
        _pynative_executor.set_enable_grad(self._before)


class enable_grad(contextlib.ContextDecorator):  # named as in torch
    """A context or decorator in which gradients are recorded again, inside of :func:`no_grad`.

    MindSpore refuses gradient functions inside of ``no_grad``; here they run.
    """

    def __init__(self) -> None:
        self._before: List[bool] = []

    def __enter__(self) -> None:
        self._before.append(is_grad_enabled())
        _pynative_executor.set_enable_grad(True)

    def __exit__(self, *_: Any) -> None:
        _pynative_executor.set_enable_grad(self._before.pop())


def is_grad_enabled() -> bool:
    """Return whether gradients are recorded here, where a gradient function runs or :mod:`.recording` records."""
    enabled = getattr(_pynative_executor, "enable_grad", None)  # MindSpore 2.0 has no such mode
    return enabled is None or bool(enabled())


def records() -> bool:
    """Return whether a gradient function runs, and no ``no_grad`` inside of it: what torch's ``is_grad_enabled`` asks.

    Outside of gradient functions MindSpore records nothing, while torch would, unless the program says otherwise.
    """
    return bool(_pynative_executor.grad_flag()) and is_grad_enabled()


def requires_grad(x: ms.Tensor) -> bool:
    """Return whether a gradient of ``x`` may be asked for, by the gradient function that runs.

    From 2.9 on MindSpore knows of each tensor; before, it may be asked of all that such a function computes.
    """
    if isinstance(x, ms.Parameter):
        return bool(x.requires_grad)
    return bool(_pynative_executor.grad_flag()) and getattr(x, "_requires_grad", None) is not False


class Unpacked(NamedTuple):
    """A tensor, and its tangent in forward mode."""

    primal: ms.Tensor
    tangent: Optional[ms.Tensor]


def unpack_dual(tensor: ms.Tensor) -> Unpacked:
    """Return a tensor without a tangent: MindSpore has no dual numbers (torch.autograd.forward_ad.unpack_dual)."""
    return Unpacked(tensor, None)


def variable(data: ms.Tensor, requires_grad: bool = False, volatile: bool = False) -> ms.Tensor:
    """Return ``data`` without its gradient, as torch.autograd.Variable does: ``map(Variable, batch)``."""
    return ops.stop_gradient(data)
