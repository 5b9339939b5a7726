"""Switches of MindSpore's engine that change how fast a program runs and not what it computes; all are off by default.

Graph kernels fuse small operators into larger ones: graph mode on Ascend and GPU (on CPU they need a MindSpore built
with AKG, and the packages decorator and psutil). Gradient fusion joins the gradients of data-parallel training into
buckets before they are averaged: graph mode on Ascend and GPU. Data sinking keeps batches in a queue on the device,
filled while it computes: Ascend and GPU. The profiler runs on every device. Executed here, on CPU: the profiler, that
graph kernels and fusion are accepted, and the order of the batches that are sunk.
"""

from __future__ import annotations

import atexit
from typing import Any, Callable, Iterator, Tuple

import mindspore as ms

from .device import DeviceError
from .pipeline import Pipeline

__all__ = ["SunkPipeline", "configure", "sink", "start_profiler"]


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


class SunkPipeline:
    """Stands in a loop for a pipeline whose batches wait on the device: it yields a ``()`` for each of them."""

    def __init__(self, pipeline: Pipeline) -> None:
        self.pipeline = pipeline

    def __len__(self) -> int:
        """Return the number of batches an epoch of this rank has."""
        return len(self.pipeline)

    def batches(self, epoch: int = 0, first_step: int = 0) -> Iterator[Tuple[()]]:
        """Yield once for each batch of an epoch from step ``first_step`` on."""
        for _ in range(first_step, len(self)):
            yield ()


def sink(
    train_step: Callable[..., Any], pipeline: Pipeline, epoch: int, step: int, epochs: int
) -> Tuple[Callable[..., Any], SunkPipeline]:
    """Sink the batches from ``step`` of ``epoch`` on, up to epoch ``epochs``; return step and pipeline of such a loop.

    The step that is returned has no arguments: it computes on the queue's next batch. All batches must be full
    (``drop_last``), because the queue has one shape: ValueError otherwise. Raises DeviceError on CPU.
    """
    if not pipeline.drop_last:
        raise ValueError("data sinking takes full batches only: create the pipeline with drop_last=True")
    target = str(ms.get_context("device_target"))
    if target not in ("Ascend", "GPU"):
        raise DeviceError(f"data sinking keeps batches on an Ascend or a GPU; the device is {target}: leave it out")
    return ms.data_sink(train_step, pipeline.stream(epoch, step, epochs)), SunkPipeline(pipeline)
