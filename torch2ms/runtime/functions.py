"""Functions with gradients of their own: a base class with torch.autograd.Function's interface.

MindSpore has the class as ``mindspore._Function`` (since 2.7, PyNative mode): ``forward(ctx, ...)`` and
``backward(ctx, ...)`` are static methods, ``ctx.save_for_backward``, ``ctx.saved_tensors``, ``ctx.needs_input_grad``
and attributes of ``ctx`` mean the same; a None gradient is none.
"""

from typing import Any, Tuple

try:
    from mindspore.common._grad_function import _Function
except ImportError as error:  # 2.0
    raise ImportError("functions with a backward of their own need MindSpore 2.7 or newer") from error

__all__ = ["Function"]


class Function(_Function):
    """A function whose gradient ``backward`` computes; call it with ``apply``."""

    @property
    def saved_variables(self) -> Tuple[Any, ...]:
        """What ``save_for_backward`` kept, under its old name."""
        saved: Tuple[Any, ...] = self.saved_tensors
        return saved
