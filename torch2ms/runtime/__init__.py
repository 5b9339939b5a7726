"""What translated programs import besides MindSpore: one small module a concern, each usable alone.

``data``, ``datasets``, ``transforms``, ``train``, ``optim``, ``schedules``, ``amp``, ``checkpoint``, ``metrics``,
``monitor``, ``distributed``, ``device``, ``seed``, ``config``. They need mindspore, numpy and Pillow, and
import one another only relatively, so that this folder can be copied and renamed.

Importing the package sets one environment variable, ``ONEDNN_MAX_CPU_ISA=AVX2``, unless it is already set.
MindSpore 2.9 and 2.10 ship a oneDNN that answers plain float32 convolutions with its reference kernel on CPUs with
AVX-512. With the variable a 3x3 convolution (64 to 64 channels, 8x64x16x16) takes 4 ms instead of 220 ms, and
a ResNet-50 training step is 5.6 times faster. The price is large matrix products, which lose AVX-512: 1024 x 1024
takes 20 ms instead of 12 ms. Programs without convolutions may set ``ONEDNN_MAX_CPU_ISA=DEFAULT`` themselves.
oneDNN reads the variable at its first kernel, hence it may be set after ``import mindspore``, but not after the first
operation. (Measured on two cores of an AVX-512 CPU; other CPUs and devices do not care.)
"""

from __future__ import annotations

import os
from importlib import metadata

__all__ = ["limit_onednn_isa"]


def limit_onednn_isa() -> bool:
    """Set ``ONEDNN_MAX_CPU_ISA=AVX2`` where MindSpore needs it; return whether it was set here."""
    if "ONEDNN_MAX_CPU_ISA" in os.environ:
        return False
    try:
        release = tuple(int(part) for part in metadata.version("mindspore").split(".")[:2])
    except (metadata.PackageNotFoundError, ValueError):
        return False  # a build under another name (mindspore-ascend, a nightly): its CPU kernels were not measured
    if release < (2, 9):
        return False
    os.environ["ONEDNN_MAX_CPU_ISA"] = "AVX2"
    return True


limit_onednn_isa()
