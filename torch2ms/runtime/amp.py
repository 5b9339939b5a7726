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
import functools
import warnings
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import mindspore as ms
from mindspore import amp, nn

from . import gradients
from .autocast_lists import lists
from .device import available_devices, is_accelerated

try:
    from mindspore._c_expression.amp import AmpLevel, get_curr_amp_strategy, pop_amp_strategy, push_amp_strategy
except ImportError:  # an older MindSpore, which casts by network alone
    AmpLevel = None

__all__ = [
    "LEVELS",
    "GradScaler",
    "autocast",
    "cast_network",
    "create_loss_scaler",
    "initialize",
    "is_autocast_enabled",
    "load_scaler_state",
    "no_state",
    "scaler_state",
    "value_and_grad",
]

LEVELS = ("O0", "O1", "O2", "O3")


class autocast(contextlib.ContextDecorator):
    """``torch.autocast``: matrix products and convolutions in half precision, sensitive operators in float32.

        with amp.autocast("cuda", dtype=ms.bfloat16):
            loss = loss_fn(network(data), target)

    ``device_type``: ``"cpu"`` acts where MindSpore runs on a CPU, anything else where it runs on an accelerator; as in
    PyTorch, one for the other device changes nothing. ``dtype``: float16, or bfloat16 (the default on a CPU). Contexts
    nest, and ``enabled=False`` inside of another computes in the types of the inputs. It is a decorator as well. Which
    operators it acts on is in :mod:`.autocast_lists`.

    MindSpore's CPU kernels have no bfloat16, and older releases no such context: there everything stays float32, and a
    warning says so.
    """

    def __init__(
        self, device_type: Any = "cuda", dtype: Any = None, enabled: bool = True, cache_enabled: Any = None
    ) -> None:
        self.device_type, self.dtype, self.enabled = str(device_type), dtype, bool(enabled)
        self._entered: List[bool] = []  # whether each of the contexts that are open has a strategy of its own

    def __enter__(self) -> autocast:
        on_cpu = self.device_type.startswith("cpu")
        self._entered.append(AmpLevel is not None and on_cpu != is_accelerated())
        if self._entered[-1]:
            dtype = self.dtype or (ms.bfloat16 if on_cpu else ms.float16)
            if self.enabled and _is_there(dtype, on_cpu):
                push_amp_strategy(AmpLevel.AmpAuto, dtype, *lists(on_cpu))
            else:
                push_amp_strategy(AmpLevel.AmpO0, ms.float16, [], [])
        elif self.enabled and AmpLevel is None:
            warnings.warn("this MindSpore has no autocast: everything is computed in float32", stacklevel=2)
        return self

    def __exit__(self, *_: object) -> None:
        if self._entered.pop():
            pop_amp_strategy()


def _is_there(dtype: Any, on_cpu: bool) -> bool:
    """Whether a type can be cast to on the device; says so where it cannot."""
    if dtype not in (ms.float16, ms.bfloat16):
        warnings.warn(f"autocast takes float16 and bfloat16, not {dtype}: it is disabled", stacklevel=3)
    elif on_cpu and dtype == ms.bfloat16:
        warnings.warn("MindSpore's CPU kernels have no bfloat16: everything is computed in float32", stacklevel=3)
        return False
    return dtype in (ms.float16, ms.bfloat16)


def is_autocast_enabled(device_type: Any = None) -> bool:
    """Whether :class:`autocast` acts where this is called; ``device_type`` is an accelerator where none is named."""
    if AmpLevel is None or str(device_type).startswith("cpu") == is_accelerated():
        return False
    strategy = get_curr_amp_strategy()
    return strategy is not None and strategy.get_amp_level() == AmpLevel.AmpAuto


def value_and_grad(
    fn: Callable[..., Any], grad_position: Any = 0, weights: Any = None, has_aux: bool = False, *, scaler: Any
) -> Callable[..., Any]:
    """Return ``mindspore.value_and_grad`` of ``fn``, whose loss is scaled while it is differentiated.

    The loss that the function returns is not scaled, and neither are its gradients: those of float16 operators would
    underflow without the scale, or overflow with one too large, which :meth:`GradScaler.step` sees. ``scaler``: a
    :class:`GradScaler`; anything else, and one that is disabled, scales nothing.
    """
    if not isinstance(scaler, GradScaler) or not scaler.is_enabled():
        plain: Callable[..., Any] = ms.value_and_grad(fn, grad_position, weights, has_aux)
        return plain

    @functools.wraps(fn)
    def scaled(*args: Any, **kwargs: Any) -> Any:
        outputs = fn(*args, **kwargs)
        loss, *aux = outputs if has_aux else (outputs,)
        return (scaler.scale(loss), loss, *aux)

    function = ms.value_and_grad(scaled, grad_position, weights, has_aux=True)

    @functools.wraps(fn)
    def unscaled(*args: Any, **kwargs: Any) -> Any:
        (_, *outputs), grads = function(*args, **kwargs)
        return (tuple(outputs) if has_aux else outputs[0]), scaler.unscaled(grads)

    return unscaled


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

    The loss is scaled while it is differentiated (:func:`value_and_grad`), and the gradients are divided by the scale
    at once: what :meth:`step` and :meth:`unscale_` are given is not scaled.
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

    def unscaled(self, grads: Any) -> Any:
        """Return a gradient, or a tuple of them, divided by the scale."""
        if not self._enabled:
            return grads
        if isinstance(grads, ms.Tensor):
            return grads / self._scale
        return tuple(self.unscaled(grad) for grad in grads)

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
