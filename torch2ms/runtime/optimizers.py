"""Optimizers with PyTorch's own signatures, for calls whose arguments are only known when the program runs.

``make_optimizer(**options)`` of a translated program may carry what MindSpore's optimizers do not know (``foreach``,
``fused``): it is dropped here. The formulas are those of ``mindspore.experimental.optim`` and :mod:`.adam`.
"""

from __future__ import annotations

from typing import Any, ClassVar, Dict, List

from mindspore import ops
from mindspore.experimental import optim

from . import adam, sgd
from . import gradients as kept

__all__ = [
    "ASGD",
    "SGD",
    "Adadelta",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "NAdam",
    "RAdam",
    "RMSprop",
    "Rprop",
]

_IMPLEMENTATION = frozenset(["foreach", "fused", "capturable", "differentiable", "decoupled_weight_decay"])


class _WithTorchsArguments:
    """Takes the arguments of PyTorch's optimizer; those that only choose an implementation go.

    Raises ValueError for one that would change the numbers and has no counterpart.
    """

    _defaults: ClassVar[Dict[str, Any]] = {}
    _knows_maximize: ClassVar[bool] = True
    _decouples: ClassVar[bool] = False

    def __init__(self, params: Any, *args: Any, **options: Any) -> None:
        if options.get("differentiable"):
            raise ValueError("differentiable=True has no equivalent in MindSpore's optimizers")
        kept = {name: value for name, value in options.items() if name not in _IMPLEMENTATION}
        climbs = bool(kept.get("maximize"))
        if not climbs or not self._knows_maximize:
            kept.pop("maximize", None)
        for name in ("betas", "etas", "step_sizes"):
            if name in kept:
                kept[name] = tuple(kept[name])
        for name in ("lr", "t0", "eps", "weight_decay"):
            if isinstance(kept.get(name), int):
                kept[name] = float(kept[name])  # MindSpore's check the type
        if not args:
            kept = {**self._defaults, **kept}
        rests = bool((args[0] if args else kept.get("lr")) == 0)  # MindSpore's own refuse it; a schedule may begin so
        if rests:
            params = list(params)
            own = [isinstance(group, dict) and "lr" in group for group in params]  # MindSpore adds it to the others
            args, kept = (1.0, *args[1:]) if args else (), kept if args else {**kept, "lr": 1.0}
        super().__init__(params, *args, **kept)  # type: ignore[call-arg]
        if rests:
            self._rest(own)
        followed = {} if self._knows_maximize else {"maximize": climbs}
        if self._decouples:
            followed["decoupled_weight_decay"] = bool(options.get("decoupled_weight_decay"))
        for settings in (self.defaults, *self.param_groups):  # type: ignore[attr-defined]
            for name, value in followed.items():
                settings.setdefault(name, value)

    @property
    def has_own_step(self) -> bool:
        """Whether a class of the program changes what a step does."""
        return type(self).step is not _WithTorchsArguments.step

    def step(self, closure: Any = None) -> Any:
        """Use the gradients that are kept with the weights; what ``closure`` returns is returned."""
        return kept.update_by(self, super().__call__, closure)  # type: ignore[misc]

    def __call__(self, gradients: Any) -> Any:
        """Take one step with these gradients, in the order of the weights."""
        if not self.has_own_step:
            return super().__call__(gradients)  # type: ignore[misc]
        kept.reset(self)
        kept.keep(self.parameters, gradients)  # type: ignore[attr-defined]
        result = self.step()
        kept.reset(self)
        return result

    def _rest(self, own: List[bool]) -> None:
        """Set the learning rate to 0, but of groups that have their own."""
        self.defaults["lr"] = 0.0  # type: ignore[attr-defined]
        for rate, is_own in zip(self.lrs, own):  # type: ignore[attr-defined]
            if not is_own:
                ops.assign(rate, 0.0)

    def construct(self, gradients: Any) -> Any:
        """Change the parameters; a decoupled decay shrinks them first, as in AdamW. Frozen ones stay what they are."""
        frozen = [(p, p.value().copy()) for p in self.parameters if not p.requires_grad]  # type: ignore[attr-defined]
        given = gradients if self._knows_maximize else self._descending(gradients)
        decays = self._decay() if self._decouples else {}
        try:
            done = super().construct(given)  # type: ignore[misc]
        finally:
            for index, decay in decays.items():
                self.param_groups[index]["weight_decay"] = decay  # type: ignore[attr-defined]
        for parameter, value in frozen:  # PyTorch's have no gradient, and are neither updated nor decayed
            ops.assign(parameter, value)
        return done

    def _descending(self, gradients: Any) -> Any:
        """Return the gradients, those of groups that are to climb with the other sign."""
        groups = self.param_groups  # type: ignore[attr-defined]
        climbs = [bool(group["maximize"]) for group in groups for _ in group["params"]]
        return tuple(ops.neg(one) if up else one for one, up in zip(gradients, climbs)) if any(climbs) else gradients

    def _decay(self) -> Dict[int, float]:
        """Shrink the parameters of groups with a decoupled decay; return it, while the update is to see none."""
        decays: Dict[int, float] = {}
        for index, group in enumerate(self.param_groups):  # type: ignore[attr-defined]
            if group["decoupled_weight_decay"] and group["weight_decay"]:
                for parameter in group["params"]:
                    ops.assign(parameter, parameter * (1 - group["lr"] * group["weight_decay"]))
                decays[index], group["weight_decay"] = group["weight_decay"], 0.0
        return decays


class SGD(_WithTorchsArguments, sgd.SGD):
    """MindSpore's SGD with the arguments of PyTorch's."""

    _defaults: ClassVar[Dict[str, Any]] = {"lr": 0.001}


class Adam(_WithTorchsArguments, adam.Adam):
    """MindSpore's Adam with the arguments of PyTorch's."""

    _decouples: ClassVar[bool] = True


class AdamW(_WithTorchsArguments, optim.AdamW):
    """MindSpore's AdamW with the arguments of PyTorch's."""


class RMSprop(_WithTorchsArguments, optim.RMSprop):
    """MindSpore's RMSprop with the arguments of PyTorch's."""


class Adagrad(_WithTorchsArguments, optim.Adagrad):
    """MindSpore's Adagrad with the arguments of PyTorch's."""


class Adadelta(_WithTorchsArguments, optim.Adadelta):
    """MindSpore's Adadelta with the arguments of PyTorch's."""


class Adamax(_WithTorchsArguments, optim.Adamax):
    """MindSpore's Adamax with the arguments of PyTorch's."""


class NAdam(_WithTorchsArguments, optim.NAdam):
    """MindSpore's NAdam with the arguments of PyTorch's."""

    _knows_maximize: ClassVar[bool] = False
    _decouples: ClassVar[bool] = True


class RAdam(_WithTorchsArguments, optim.RAdam):
    """MindSpore's RAdam with the arguments of PyTorch's."""

    _knows_maximize: ClassVar[bool] = False
    _decouples: ClassVar[bool] = True


class ASGD(_WithTorchsArguments, optim.ASGD):
    """MindSpore's ASGD with the arguments of PyTorch's: any number does for ``t0``."""

    def __init__(
        self,
        params: Any,
        lr: float = 0.01,
        lambd: float = 0.0001,
        alpha: float = 0.75,
        t0: float = 1000000.0,
        weight_decay: float = 0.0,
        **options: Any,
    ) -> None:
        super().__init__(params, lr=lr, lambd=lambd, alpha=alpha, t0=t0, weight_decay=weight_decay, **options)


class Rprop(_WithTorchsArguments, optim.Rprop):
    """MindSpore's Rprop with the arguments of PyTorch's."""
