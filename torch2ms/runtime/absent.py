"""Types of PyTorch of which MindSpore has no objects: for annotations, and for ``isinstance``, which answers no.

Nothing in MindSpore warns with the warnings, so that filters for them have nothing to do. A size is an int in
MindSpore, also while a network is compiled; tensors have one layout and one memory format.
"""

from __future__ import annotations

__all__ = [
    "Layout",
    "MemoryFormat",
    "ScriptWarning",
    "SourceChangeWarning",
    "SymBool",
    "SymFloat",
    "SymInt",
    "TracerWarning",
]


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
