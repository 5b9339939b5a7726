"""Switches of PyTorch that MindSpore lacks, for programs that read what they have set.

    switches.put("torch.backends.cudnn.benchmark", True)
    switches.get("torch.backends.cudnn.benchmark", False)    # True

They change nothing that is computed.
"""

from __future__ import annotations

from typing import Any, Dict

__all__ = ["get", "put"]

_values: Dict[str, Any] = {}


def get(name: str, default: Any) -> Any:
    """Return what the program has set, or PyTorch's default."""
    return _values.get(name, default)


def put(name: str, value: Any) -> None:
    """Keep the value of a switch."""
    _values[name] = value
