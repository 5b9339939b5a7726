"""Mixed precision: levels O0 to O3 and loss scaling.

O0: float32. O1: float16 for matrix products and convolutions. O2: float16 for all but normalisation layers.
O3: float16 throughout. Gradients of float16 networks are scaled against underflow: O1 and O2 with a dynamic scale,
O3 with a static one (Micikevicius et al., "Mixed Precision Training", 2018).

``mindspore.amp.auto_mixed_precision`` wraps the network at O2 and O3, which renames its parameters in place
(``_backbone.``); :func:`cast_network` gives them their names back, so that checkpoints stay the same at every level. On
CPU float16 networks run, slower than float32; bfloat16 convolutions and matrix products have no CPU kernel.
"""

from __future__ import annotations

import contextlib
from typing import Any, Dict, Optional

import mindspore as ms
from mindspore import amp, nn

__all__ = [
    "LEVELS",
    "GradScaler",
    "autocast",
    "cast_network",
    "create_loss_scaler",
    "initialize",
    "load_scaler_state",
    "no_state",
    "scaler_state",
]

LEVELS = ("O0", "O1", "O2", "O3")


class autocast(contextlib.ContextDecorator):
    """Compute in float32 as before: for programs that keep torch's class under a name of their own."""

    def __init__(
        self, device_type: Any = None, dtype: Any = None, enabled: bool = True, cache_enabled: Any = None
    ) -> None:
        self.enabled = enabled

    def __enter__(self) -> autocast:
        return self

    def __exit__(self, *_: object) -> None:
        pass


def initialize(models: Any, optimizers: Any = None, *_: Any, **settings: Any) -> Any:
    """Return the networks and optimizers as they are, as apex's function does with ``enabled=False``."""
    return models if optimizers is None else (models, optimizers)


def no_state(destination: Any = None) -> Dict[str, Any]:
    """Return an empty state: without half precision no scale is kept."""
    return {}


def cast_network(network: nn.Cell, level: str = "O0") -> nn.Cell:
    """Return ``network`` computing at ``level``; its parameters keep float32 and their names.

    The result takes and returns float32 at O2 and O3. At O0 it is the network itself. Raises ValueError for another
    level.
    """
    if level not in LEVELS:
        raise ValueError(f"unknown mixed precision level {level!r}: choose one of {', '.join(LEVELS)}")
    if level == "O0":
        return network
    names = [(parameter, parameter.name) for parameter in network.get_parameters()]
    result = amp.auto_mixed_precision(network, level)
    for parameter, name in names:
        parameter.name = name
    return result


def create_loss_scaler(
    level: str = "O0", scale: Optional[float] = None, dynamic: Optional[bool] = None, window: int = 2000
) -> Any:
    """Return the loss scaler of ``level``: None at O0, dynamic at O1 and O2, static at O3.

    ``scale``: the (first) factor, by default 65536 when dynamic, 1024 when static; ``dynamic`` overrides the
    level's choice. A dynamic scale halves at an overflow and doubles after ``window`` steps without one.
    """
    if level == "O0" and dynamic is None and scale is None:
        return None
    if dynamic is None:
        dynamic = level in ("O1", "O2")
    if dynamic:
        return amp.DynamicLossScaler(scale_value=scale or 2.0**16, scale_factor=2, scale_window=window)
    return amp.StaticLossScaler(scale_value=scale or 1024.0)


def scaler_state(scaler: Any) -> Optional[dict]:  # type: ignore[type-arg]
    """Return a dynamic scaler's state (scale, steps since the last overflow); None where there is none."""
    if not hasattr(scaler, "counter"):
        return None
    return {"scale": scaler.scale_value.asnumpy().copy(), "counter": scaler.counter.asnumpy().copy()}


def load_scaler_state(scaler: Any, state: Optional[dict]) -> None:  # type: ignore[type-arg]
    """Go back to a state of :func:`scaler_state`."""
    if state is not None and hasattr(scaler, "counter"):
        scaler.scale_value.set_data(ms.Tensor(state["scale"]))
        scaler.counter.set_data(ms.Tensor(state["counter"]))


class GradScaler:
    """A gradient scaler that scales by one, as torch's does with ``enabled=False``.

    Translated programs compute in float32, where gradients do not underflow; what such a program asks of its scaler
    outside the training step (its scale, its state in a checkpoint) is answered here. The step itself uses
    ``value_and_grad`` and the optimizer.
    """

    def scale(self, outputs: Any) -> Any:
        """Return ``outputs`` as they are."""
        return outputs

    def unscale_(self, optimizer: Any) -> None:
        """Do nothing: the gradients are not scaled."""

    def update(self, new_scale: Any = None) -> None:
        """Do nothing: the scale stays one."""

    def get_scale(self) -> float:
        """Return 1.0."""
        return 1.0

    def is_enabled(self) -> bool:
        """Return False."""
        return False

    def state_dict(self) -> Dict[str, Any]:
        """Return an empty state, as a disabled scaler of torch does."""
        return {}

    def load_state_dict(self, state_dict: Dict[str, Any]) -> None:
        """Accept the state of any scaler; there is nothing to restore."""
