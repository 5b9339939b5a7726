"""Names that ``mindspore.nn.Cell`` keeps for itself: a translated network has them with an underscore."""

__all__ = ["source_name"]

_RESERVED = frozenset({"apply", "cells", "cls_name", "construct", "param_prefix", "phase", "register_buffer"})


def source_name(name: str) -> str:
    """Return the name that the source gave to a part or a parameter of a translated network."""
    return name[:-1] if name.endswith("_") and name[:-1] in _RESERVED else name
