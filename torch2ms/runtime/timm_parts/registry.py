"""Networks that a program enters under their names and asks for by them."""

from __future__ import annotations

import fnmatch
from typing import Any, Callable, Dict, List

from mindspore import nn

__all__ = ["create_model", "is_model", "list_models", "model_entrypoint", "register_model"]

Builder = Callable[..., nn.Cell]
_BUILDERS: Dict[str, Builder] = {}


def register_model(fn: Builder) -> Builder:
    """Enter a function that builds a network under its name; return the function."""
    _BUILDERS[fn.__name__] = fn
    return fn


def is_model(model_name: str) -> bool:
    """Whether the program has entered a network of this name."""
    return model_name in _BUILDERS


def model_entrypoint(model_name: str) -> Builder:
    """Return the function that builds a network. Raises RuntimeError for one that the program has not entered."""
    if model_name not in _BUILDERS:
        raise RuntimeError(
            f"Unknown model ({model_name}): timm's own networks are not part of this program. Put timm's source file "
            "of the network into the project and translate it, or use mindcv.create_model"
        )
    return _BUILDERS[model_name]


def list_models(filter: str = "", **_: Any) -> List[str]:  # timm's name of it
    """Return the names that the program has entered, those that a pattern fits."""
    return sorted(name for name in _BUILDERS if not filter or fnmatch.fnmatch(name, filter))


def create_model(model_name: str, pretrained: bool = False, checkpoint_path: str = "", **options: Any) -> nn.Cell:
    """Return a network that the program has entered, in train mode; options that are None are left out."""
    build = model_entrypoint(model_name)
    if checkpoint_path:
        raise ValueError("load a file of weights with load_state_dict")
    given = {name: value for name, value in options.items() if value is not None}
    return build(pretrained=pretrained, **given).set_train()
