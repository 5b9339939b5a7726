"""torch2ms: a static source-to-source translator from PyTorch to MindSpore.

The names below load on first use, so that ``import torch2ms`` costs next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch2ms.config import Options, Target
    from torch2ms.reports.model import Report
    from torch2ms.translator.pipeline import translate_project, translate_source

__version__ = "0.1.0"
__all__ = ["Options", "Report", "Target", "__version__", "translate_project", "translate_source"]

_HOMES = {
    "Options": "torch2ms.config",
    "Target": "torch2ms.config",
    "Report": "torch2ms.reports.model",
    "translate_project": "torch2ms.translator.pipeline",
    "translate_source": "torch2ms.translator.pipeline",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        import importlib

        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
