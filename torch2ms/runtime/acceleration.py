"""Switches of MindSpore's engine that change how fast a program runs and not what it computes; all are off by default.

Graph kernels fuse small operators into larger ones: graph mode on Ascend and GPU (on CPU they need a MindSpore built
with AKG, and the packages decorator and psutil). Gradient fusion joins the gradients of data-parallel training into
buckets before they are averaged: graph mode on Ascend and GPU. The profiler runs on every device. Executed here, on
CPU: the profiler, and that the other two are accepted.
"""

from __future__ import annotations

import atexit
from typing import Any

import mindspore as ms

__all__ = ["configure", "start_profiler"]


def configure(graph_kernels: bool = False, gradient_fusion: int = 0, profile: str = "") -> None:
    """Turn on what is asked for; call it after the device is chosen and before the network is built.

    ``gradient_fusion``: size of a bucket in MB (0: MindSpore's own choice). ``profile``: folder of the profiler's
    files (empty: no profile). Raises ValueError for a negative size.
    """
    if gradient_fusion < 0:
        raise ValueError(f"gradient fusion takes a size in MB, not {gradient_fusion}")
    if graph_kernels:
        ms.set_context(enable_graph_kernel=True)
    if gradient_fusion:
        ms.set_auto_parallel_context(comm_fusion={"allreduce": {"mode": "size", "config": gradient_fusion}})
    if profile:
        start_profiler(profile)


def start_profiler(folder: str) -> Any:
    """Profile from now on to the end of the program, into ``folder``; return MindSpore's profiler."""
    profiler = ms.Profiler(output_path=folder)
    atexit.register(profiler.analyse)
    return profiler
