"""Arguments that PyTorch's layers take and MindSpore's do not, or not in every form."""

from __future__ import annotations

from typing import Any, Dict

__all__ = ["typed"]


def typed(dtype: Any) -> Dict[str, Any]:
    """Return the keyword arguments that say a layer's dtype: none for None, the default, which MindSpore refuses."""
    return {} if dtype is None else {"dtype": dtype}
