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
from typing import Any, Dict, Optional, Sequence, Tuple

import mindspore as ms
from mindspore import amp, nn

from . import gradients
from .device import available_devices

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
    """``torch.amp.GradScaler``: steps whose gradients are not finite are left out, and the scale follows PyTorch's.

    The training step itself computes in float32, where nothing underflows. So its loss is not scaled, and the gradients
    that :meth:`step` and :meth:`unscale_` are given are not either: a factor of a power of two would change nothing.
    As in PyTorch, a scaler for an accelerator is disabled on a CPU; a disabled one lets every step through.
    """

    def __init__(
        self,
        device: Any = "cuda",
        init_scale: float = 65536.0,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        self._enabled = enabled and (str(device).startswith("cpu") or available_devices() != ["CPU"])
        self._scale = float(init_scale)
        self._settings = (growth_factor, backoff_factor, growth_interval)
        self._growth_tracker = 0
        self._is_finite: Dict[int, bool] = {}  # by optimizer, since the last update

    def scale(self, outputs: Any) -> Any:
        """Return a tensor, or tensors, times the scale."""
        if not self._enabled:
            return outputs
        if isinstance(outputs, ms.Tensor):
            return outputs * self._scale
        return type(outputs)([self.scale(output) for output in outputs])

    def unscale_(self, optimizer: Any, grads: Optional[Sequence[ms.Tensor]] = None) -> None:
        """See whether the gradients, or those kept with the optimizer's weights, are finite before they are clipped."""
        if self._enabled:
            self._is_finite[id(optimizer)] = bool(amp.all_finite(_gradients(optimizer, grads)))

    def step(self, optimizer: Any, grads: Optional[Sequence[ms.Tensor]] = None) -> Any:
        """Let the optimizer use the gradients, or those kept with its weights, where all of them are finite."""
        if self._enabled:
            if id(optimizer) not in self._is_finite:
                self.unscale_(optimizer, grads)
            if not self._is_finite[id(optimizer)]:
                return None
        return gradients.update(optimizer) if grads is None else optimizer(grads)

    def update(self, new_scale: Any = None) -> None:
        """Lower the scale after a step that was left out, raise it after many that were not; or set it."""
        if not self._enabled:
            return
        growth, backoff, interval = self._settings
        if new_scale is not None:
            self._scale = float(new_scale)
        elif not self._is_finite:
            raise AssertionError("No inf checks were recorded prior to update.")
        elif not all(self._is_finite.values()):
            self._scale, self._growth_tracker = self._scale * backoff, 0
        else:
            self._growth_tracker += 1
            if self._growth_tracker == interval:
                self._scale, self._growth_tracker = self._scale * growth, 0
        self._is_finite = {}

    def get_scale(self) -> float:
        """Return the scale, 1.0 where the scaler is disabled."""
        return self._scale if self._enabled else 1.0

    def is_enabled(self) -> bool:
        """Whether steps may be left out."""
        return self._enabled

    def state_dict(self) -> Dict[str, Any]:
        """Return the scale and what it changes by; nothing where the scaler is disabled."""
        if not self._enabled:
            return {}
        names = ("growth_factor", "backoff_factor", "growth_interval")
        return {"scale": self._scale, **dict(zip(names, self._settings)), "_growth_tracker": self._growth_tracker}

    def load_state_dict(self, state_dict: Dict[str, Any]) -> None:
        """Go back to a state of :meth:`state_dict`. Raises RuntimeError for that of a disabled scaler."""
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError("the state of a disabled scaler cannot be loaded into one that is enabled")
        self._scale, self._growth_tracker = float(state_dict["scale"]), int(state_dict["_growth_tracker"])
        names = ("growth_factor", "backoff_factor", "growth_interval")
        self._settings = (state_dict[names[0]], state_dict[names[1]], int(state_dict[names[2]]))


def _gradients(optimizer: Any, grads: Optional[Sequence[ms.Tensor]]) -> Tuple[ms.Tensor, ...]:
    """Return the gradients that are given, or kept. Raises AssertionError, as PyTorch does, where there are none."""
    found = tuple(gradients.kept_of(optimizer) if grads is None else grads)
    if not found:
        raise AssertionError("No inf checks were recorded for this optimizer.")
    return found
