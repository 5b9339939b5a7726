"""Differential checks of a translation: torch and mindspore in separate processes, arrays in ``.npz`` between them.

docs/parity.md says what is compared and what counts as equal: PyTorch in float64 is the reference, PyTorch in
float32 gives the noise floor, and MindSpore in float32 may be at most 4 times as far off.

The names load on first use: the translator, which has no need of NumPy, passes through here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch2ms.verify.report import VerifyReport
    from torch2ms.verify.verification import verify

__all__ = ["VerifyReport", "verify"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from torch2ms.verify import report, verification

        return verification.verify if name == "verify" else report.VerifyReport
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
