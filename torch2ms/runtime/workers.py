"""What the workers of a loader do, one after another in the program itself: MindSpore needs no processes for it.

A stream (IterableDataset) is read by each of PyTorch's workers from its own copy: without a look at
``get_worker_info()`` every sample comes once a worker. Batches come in turns, the first worker's first; a worker that
has no more is passed by.
"""

from __future__ import annotations

import contextlib
import copy
import pickle
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, List, Optional

from .seed import Generator, use_generator

__all__ = ["WorkerInfo", "get_worker_info", "in_turns", "working"]


@dataclass
class WorkerInfo:
    """Which worker runs: its number, how many there are, its seed, and its copy of the dataset."""

    id: int
    num_workers: int
    seed: int
    dataset: Any


_current: List[WorkerInfo] = []


def get_worker_info() -> Optional[WorkerInfo]:
    """Return what torch.utils.data.get_worker_info does: None outside of a loader's workers."""
    return _current[-1] if _current else None


@contextlib.contextmanager
def working(info: WorkerInfo) -> Iterator[None]:
    """Run a block as a worker."""
    _current.append(info)
    try:
        yield
    finally:
        _current.pop()


def in_turns(
    dataset: Any,
    count: int,
    base_seed: int,
    prepare: Optional[Callable[[int], Any]],
    read: Callable[[Any], Iterator[Any]],
) -> Iterator[Any]:
    """Yield what ``count`` workers read from their copies of ``dataset``, each in its turn.

    ``prepare(worker)`` runs first in each (``worker_init_fn``); random numbers come from a worker's own seed.
    """
    infos = [WorkerInfo(worker, count, base_seed + worker, _copied(dataset)) for worker in range(count)]
    streams = [Generator().manual_seed(info.seed) for info in infos]
    active = []
    for info, stream in zip(infos, streams):
        with working(info), use_generator(stream):
            if prepare is not None:
                prepare(info.id)
            active.append((info, stream, read(info.dataset)))
    while active:
        for worker in list(active):
            info, stream, batches = worker
            with working(info), use_generator(stream):
                batch = next(batches, _END)
            if batch is _END:
                active.remove(worker)
            else:
                yield batch


_END = object()


def _copied(dataset: Any) -> Any:
    """Return a worker's copy: a process has its own; what cannot be copied (open files) is shared."""
    try:
        return copy.deepcopy(dataset)
    except (TypeError, pickle.PicklingError):
        return copy.copy(dataset)
