"""Differential checks of a translation: torch and mindspore in separate processes, arrays in ``.npz`` between them.

design.md, section 6, says what is compared and what counts as equal: PyTorch in float64 is the reference, PyTorch in
float32 gives the noise floor, and MindSpore in float32 may be at most 4 times as far off.
"""

from torch2ms.verify.report import VerifyReport
from torch2ms.verify.verification import verify

__all__ = ["VerifyReport", "verify"]
