"""Data-parallel training with MindSpore's own engine: start with ``msrun``, call :func:`init` first.

Ranks come from the launcher; in a process that it did not start, everything here is the one-process case (rank 0 of 1).
On CPU the collectives are MindSpore's ``mccl``; AllReduce, AllGather and Broadcast work there, its Barrier does not,
so that :func:`barrier` is a reduction that is waited for. When a worker dies, msrun ends the others with an error after
the cluster's time-out (about half a minute). In a process that msrun started, the variables that torchrun sets (RANK,
LOCAL_RANK, WORLD_SIZE, MASTER_ADDR, ...) are there too, for programs that read them.
"""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
from typing import Any, Callable, Iterator, List, Optional, Sequence, Tuple

import mindspore as ms
import numpy as np
from mindspore import nn, ops

__all__ = [
    "all_gather",
    "all_reduce",
    "average_accumulated",
    "barrier",
    "broadcast",
    "broadcast_parameters",
    "gradient_reducer",
    "init",
    "is_initialized",
    "is_main_process",
    "local_rank",
    "no_sync",
    "rank",
    "spawn",
    "sum_over_ranks",
    "was_launched",
    "world_size",
]


class _Group:
    """Whether this process has joined, its rank and how many there are."""

    joined = False
    is_apart = False
    rank = 0
    size = 1


def was_launched() -> bool:
    """Return whether a launcher (msrun, or mpirun) started this process as one of several."""
    return "MS_WORKER_NUM" in os.environ or "OMPI_COMM_WORLD_SIZE" in os.environ or "RANK_TABLE_FILE" in os.environ


def _export_ranks() -> None:
    """Set the variables of torchrun from those of msrun, which starts workers and one scheduler."""
    given = os.environ
    if "MS_WORKER_NUM" not in given or "MS_SCHED_PORT" not in given:
        return
    host = given.get("MS_SCHED_HOST", "127.0.0.1")
    values = {
        "RANK": given.get("RANK_ID", "0"),
        "LOCAL_RANK": given.get("DEVICE_ID", "0"),
        "WORLD_SIZE": given["MS_WORKER_NUM"],
        "MASTER_ADDR": host,
        "MASTER_PORT": given["MS_SCHED_PORT"],
    }
    if host in ("127.0.0.1", "localhost"):  # all workers are here
        values["LOCAL_WORLD_SIZE"] = given["MS_WORKER_NUM"]
    for name, value in values.items():
        given.setdefault(name, value)


_export_ranks()


def init(backend: Optional[str] = None, *_: object, **__: object) -> int:
    """Join the process group and switch to data parallelism with averaged gradients; return the rank.

    ``backend`` and further arguments of other frameworks are ignored: MindSpore takes the one of its device. Does
    nothing where no launcher started the process. Raises RuntimeError (from MindSpore) where joining fails.
    """
    del backend
    if _Group.joined or not was_launched():
        return _Group.rank
    from mindspore.communication import get_group_size, get_rank
    from mindspore.communication import init as join

    join()
    _Group.joined, _Group.rank, _Group.size = True, int(get_rank()), int(get_group_size())
    ms.set_auto_parallel_context(
        parallel_mode=ms.ParallelMode.DATA_PARALLEL, gradients_mean=True, device_num=_Group.size
    )
    return _Group.rank


def is_initialized() -> bool:
    """Return whether :func:`init` joined a group."""
    return _Group.joined


def rank() -> int:
    """Return this process's rank, from 0."""
    return _Group.rank


def local_rank() -> int:
    """Return this process's number on its machine, from 0."""
    return int(os.environ.get("DEVICE_ID", "0")) if was_launched() else 0


def world_size() -> int:
    """Return the number of processes."""
    return _Group.size


def is_main_process() -> bool:
    """Return whether this process prints and saves (rank 0)."""
    return _Group.rank == 0


def all_reduce(tensor: ms.Tensor, op: str = "sum") -> ms.Tensor:
    """Return the ranks' tensors combined by ``op``: "sum", "mean", "max", "min" or "prod"."""
    if not _Group.joined:
        return tensor
    kinds = {"sum": ops.ReduceOp.SUM, "mean": ops.ReduceOp.SUM, "max": ops.ReduceOp.MAX, "min": ops.ReduceOp.MIN}
    if op == "prod":
        return ops.prod(ops.AllGather()(tensor.expand_dims(0)), 0)
    result = ops.AllReduce(kinds[op])(tensor)
    return result / _Group.size if op == "mean" else result


def all_gather(tensor: ms.Tensor) -> List[ms.Tensor]:
    """Return the ranks' tensors (of equal shape), by rank."""
    if not _Group.joined:
        return [tensor]
    gathered = ops.AllGather()(tensor.expand_dims(0))
    return [gathered[index] for index in range(_Group.size)]


def broadcast(tensor: ms.Tensor, source: int = 0) -> ms.Tensor:
    """Return rank ``source``'s tensor on every rank."""
    return ops.Broadcast(source)((tensor,))[0] if _Group.joined else tensor


def barrier() -> None:
    """Wait until every rank is here."""
    if _Group.joined:
        ops.AllReduce()(ms.Tensor(np.zeros(1, np.float32))).asnumpy()


def sum_over_ranks(values: Sequence[float]) -> List[float]:
    """Return the sums of ``values`` over the ranks. Counts up to 2**24 stay exact (float32)."""
    if not _Group.joined:
        return list(values)
    return [float(value) for value in all_reduce(ms.Tensor(np.asarray(values, np.float32))).asnumpy()]


def gradient_reducer(parameters: Sequence[ms.Parameter]) -> Any:
    """Return a function that averages a tuple of gradients over the ranks, or None in a single process."""
    if not _Group.joined or _Group.size == 1:
        return None
    return nn.DistributedGradReducer(list(parameters), mean=True, degree=_Group.size)


def spawn(function: Callable[..., Any], args: Sequence[Any] = (), nprocs: int = 1, **_: object) -> None:
    """Run ``function(number, *args)`` in ``nprocs`` processes of this machine, numbered from 0 (torch's mp.spawn).

    MindSpore's processes are started by msrun: the script is started again in each of them, from its top and with the
    same command line, and there this call joins the group, runs the function and ends the process. Objects are not
    shared between the processes. Raises RuntimeError when one of them fails; msrun has then ended the others.
    """
    if was_launched():
        init()
        function(local_rank(), *args)
        sys.stdout.flush()
        sys.exit(0)
    if nprocs <= 1:
        function(0, *args)
        return
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [
        sys.executable, "-m", "mindspore.parallel.cluster.run", f"--worker_num={nprocs}",
        f"--local_worker_num={nprocs}", "--master_addr=127.0.0.1", f"--master_port={port}", "--log_dir=msrun_log",
        "--join=True", *sys.argv,
    ]  # fmt: skip
    # msrun starts what "python" is on the path
    path = os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", "")])
    code = subprocess.call(command, env={**os.environ, "PATH": path})
    if code:
        raise RuntimeError(f"one of {nprocs} processes failed; their output is in msrun_log/worker_*.log")


def data_parallel(network: nn.Cell, *_: object, **__: object) -> nn.Cell:
    """Return ``network`` with the weights of process 0 in all processes (torch's DistributedDataParallel)."""
    if is_initialized():
        broadcast_parameters(network)
    return network


def average_gradients(grads: Sequence[ms.Tensor]) -> Tuple[ms.Tensor, ...]:
    """Return the gradients averaged over all processes; those of a single process are its own."""
    size = world_size()
    if size == 1:
        return tuple(grads)
    return tuple(all_reduce(grad) / size for grad in grads)


@contextlib.contextmanager
def no_sync(*_: object) -> Iterator[None]:
    """Let gradients that build up stay those of this process (DistributedDataParallel.no_sync)."""
    before, _Group.is_apart = _Group.is_apart, True
    try:
        yield
    finally:
        _Group.is_apart = before


def average_accumulated(grads: Optional[Sequence[ms.Tensor]]) -> Optional[Tuple[ms.Tensor, ...]]:
    """Return gradients that build up, averaged over all processes; within :func:`no_sync` as they are."""
    if grads is None or _Group.is_apart:
        return None if grads is None else tuple(grads)
    return average_gradients(grads)


def broadcast_parameters(network: nn.Cell) -> None:
    """Give every rank the weights of rank 0, for networks whose initial weights are not seeded alike."""
    if _Group.joined:
        for parameter in network.get_parameters():
            ops.assign(parameter, broadcast(ms.Tensor(parameter.asnumpy())))
