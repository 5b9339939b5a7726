"""Types of PyTorch of which MindSpore has no objects: for annotations, and for ``isinstance``, which answers no.

And libraries of PyTorch's operators, which cannot be loaded: programs that ask for one go on without it, or with the
operators of the runtime. Nothing in
MindSpore warns with the warnings, so that filters for them have nothing to do. A size is an int in
MindSpore, also while a network is compiled; tensors have one layout and one memory format.
"""

from __future__ import annotations

import os
from typing import Any

__all__ = [
    "DispatchKeySet",
    "Layout",
    "MemoryFormat",
    "ScriptWarning",
    "SourceChangeWarning",
    "SymBool",
    "SymFloat",
    "SymInt",
    "TracerWarning",
    "load_library",
]


# Libraries, and the packages that they lie in, whose operators are those of :mod:`.compiled`
_OF_THE_RUNTIME = {("torchvision", "_C"), ("torchvision", "_C_stable")}


def load_library(path: str) -> None:
    """Raise OSError, as PyTorch does for a library that it cannot load: its operators take PyTorch's tensors.

    Where the runtime has the operators of a library, there is nothing to load.
    """
    package, name = os.path.split(os.path.abspath(path))
    if (os.path.basename(package), name.partition(".")[0]) not in _OF_THE_RUNTIME:
        raise OSError(f"Could not load this library: {path}")


class DispatchKeySet:
    """``torch._C.DispatchKeySet``: which of PyTorch's kernels a call goes through; MindSpore has no such choice."""

    def __init__(self, *keys: Any) -> None:
        self.keys = frozenset(keys)

    def __or__(self, other: DispatchKeySet) -> DispatchKeySet:
        return DispatchKeySet(*self.keys, *other.keys)


class TracerWarning(Warning):
    """``torch.jit.TracerWarning``: what a trace does not follow."""


class ScriptWarning(Warning):
    """``torch.jit.ScriptWarning``: what a script does not hold."""


class SourceChangeWarning(Warning):
    """``torch.serialization.SourceChangeWarning``: a stored network whose source has changed."""


class SymInt:
    """``torch.SymInt``: a size that is not known yet."""


class SymFloat:
    """``torch.SymFloat``: a number made of sizes that are not known yet."""


class SymBool:
    """``torch.SymBool``: what is asked of sizes that are not known yet."""


class Layout:
    """``torch.layout``: whether a tensor is dense."""


class MemoryFormat:
    """``torch.memory_format``: in which order the elements of a tensor lie."""
