"""Optimizers and schedules by name, from a program's settings; weights that do not decay in a group of their own."""

from __future__ import annotations

from typing import Any, Collection, Dict, List, Optional, Tuple

from .. import modules, optimizers
from .schedulers import CosineLRScheduler, MultiStepLRScheduler, PolyLRScheduler, StepLRScheduler

__all__ = [
    "add_weight_decay",
    "create_optimizer",
    "create_optimizer_v2",
    "create_scheduler",
    "param_groups_weight_decay",
]

# The class, and what timm gives it besides
_KINDS: Dict[str, Tuple[Any, Dict[str, Any]]] = {
    "sgd": (optimizers.SGD, {"nesterov": True}),
    "nesterov": (optimizers.SGD, {"nesterov": True}),
    "momentum": (optimizers.SGD, {"nesterov": False}),
    "adam": (optimizers.Adam, {}),
    "adamw": (optimizers.AdamW, {}),
    "nadam": (optimizers.NAdam, {}),
    "radam": (optimizers.RAdam, {}),
    "adamax": (optimizers.Adamax, {}),
    "adadelta": (optimizers.Adadelta, {}),
    "adagrad": (optimizers.Adagrad, {"eps": 1e-8}),
    "rmsprop": (optimizers.RMSprop, {"alpha": 0.9}),
}
_WITH_MOMENTUM = ("sgd", "nesterov", "momentum", "rmsprop")


def param_groups_weight_decay(
    model: Any, weight_decay: float = 1e-5, no_weight_decay_list: Collection[str] = ()
) -> List[Dict[str, Any]]:
    """Return two groups: biases, weights of one axis and those that are named do not decay, the others do."""
    groups: Tuple[List[Any], List[Any]] = ([], [])
    for name, weight in modules.named_parameters(model):
        if weight.requires_grad:
            decays = weight.ndim > 1 and not name.endswith(".bias") and name not in no_weight_decay_list
            groups[decays].append(weight)
    made = [{"params": groups[0], "weight_decay": 0.0}, {"params": groups[1], "weight_decay": weight_decay}]
    return [group for group in made if group["params"]]


def add_weight_decay(model: Any, weight_decay: float = 1e-5, skip_list: Collection[str] = ()) -> List[Dict[str, Any]]:
    """Return ``param_groups_weight_decay`` as timm's first releases called it."""
    return param_groups_weight_decay(model, weight_decay, skip_list)


def create_optimizer_v2(
    model_or_params: Any,
    opt: str = "sgd",
    lr: Optional[float] = None,
    weight_decay: float = 0.0,
    momentum: float = 0.9,
    filter_bias_and_bn: bool = True,
    **kwargs: Any,
) -> Any:
    """Return an optimizer by its name; the weights of a network that do not decay are a group of their own.

    Raises ValueError for a name that is not known here.
    """
    name = opt.lower().replace("_", "")
    if name not in _KINDS or kwargs.get("layer_decay") is not None:
        raise ValueError(f"an optimizer {opt!r}{' with layer_decay' if name in _KINDS else ''} is not known here")
    kind, settings = _KINDS[name]
    parameters = model_or_params
    if hasattr(model_or_params, "trainable_params"):
        parameters = list(modules.parameters(model_or_params))
        if weight_decay and filter_bias_and_bn:
            skipped = model_or_params.no_weight_decay() if hasattr(model_or_params, "no_weight_decay") else ()
            parameters, weight_decay = param_groups_weight_decay(model_or_params, weight_decay, skipped), 0.0
    given = {**settings, **{key: value for key, value in kwargs.items() if value is not None}}
    if name in _WITH_MOMENTUM:
        given["momentum"] = momentum
    if lr is not None:
        given["lr"] = lr
    return kind(parameters, weight_decay=weight_decay, **given)


def create_optimizer(args: Any, model: Any, filter_bias_and_bn: bool = True) -> Any:
    """Return the optimizer that a program's settings ask for."""
    optional = {"eps": getattr(args, "opt_eps", None), "betas": getattr(args, "opt_betas", None)}
    optional["layer_decay"] = getattr(args, "layer_decay", None)
    settings = {**optional, **(getattr(args, "opt_args", None) or {})}
    return create_optimizer_v2(
        model, args.opt, args.lr, args.weight_decay, args.momentum, filter_bias_and_bn, **settings
    )


def create_scheduler(args: Any, optimizer: Any, updates_per_epoch: int = 0) -> Tuple[Any, int]:
    """Return the schedule that a program's settings ask for, and the number of epochs it takes.

    Raises ValueError for a name that is not known here.
    """
    in_epochs = not getattr(args, "sched_on_updates", False)
    if not in_epochs and updates_per_epoch <= 0:
        raise AssertionError("updates_per_epoch must be set to number of dataloader batches")
    scale = 1 if in_epochs else updates_per_epoch
    epochs, prefix = getattr(args, "epochs", 100), getattr(args, "warmup_prefix", False)
    warmup: Dict[str, Any] = {
        "warmup_t": getattr(args, "warmup_epochs", 5) * scale,
        "warmup_lr_init": getattr(args, "warmup_lr", 1e-5),
        "warmup_prefix": prefix,
        "t_in_epochs": in_epochs,
        "noise_range_t": getattr(args, "lr_noise", None),
    }
    cycles: Dict[str, Any] = {
        "lr_min": getattr(args, "min_lr", 0.0),
        "cycle_mul": getattr(args, "lr_cycle_mul", 1.0),
        "cycle_decay": getattr(args, "lr_cycle_decay", 0.1),
        "cycle_limit": getattr(args, "lr_cycle_limit", 1),
        "k_decay": getattr(args, "lr_k_decay", 1.0),
    }
    rate = getattr(args, "decay_rate", 0.1)
    made: Any = None
    if args.sched == "cosine":
        made = CosineLRScheduler(optimizer, epochs * scale, **cycles, **warmup)
    elif args.sched == "poly":
        made = PolyLRScheduler(optimizer, epochs * scale, power=rate, **cycles, **warmup)
    elif args.sched == "step":
        made = StepLRScheduler(optimizer, getattr(args, "decay_epochs", 30) * scale, rate, **warmup)
    elif args.sched == "multistep":
        steps = [step * scale for step in getattr(args, "decay_milestones", [30, 60])]
        made = MultiStepLRScheduler(optimizer, steps, rate, **warmup)
    elif args.sched != "none":
        raise ValueError(f"a schedule {args.sched!r} is not known here")
    if hasattr(made, "get_cycle_length"):
        epochs = (made.get_cycle_length() + getattr(args, "cooldown_epochs", 0) * scale) // scale
    elif prefix:
        epochs += getattr(args, "warmup_epochs", 5)
    return made, epochs
