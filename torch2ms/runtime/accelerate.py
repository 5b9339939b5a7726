"""What programs ask of an ``accelerate.Accelerator``: preparing, accumulating gradients, several processes, saving.

The training step itself is MindSpore's: ``value_and_grad`` and the optimizer. Everything is computed in float32, on the
device that MindSpore is set to. In a process that ``msrun`` started, loaders give each process its own batches and the
steps average the gradients; anywhere else there is one process.
"""

from __future__ import annotations

import contextlib
import logging
import os
import warnings
from pathlib import Path
from typing import Any, Callable, Dict, Iterable, Iterator, List, Sequence

import mindspore as ms
from mindspore import nn, ops

from . import checkpoint, distributed, gradients, modules, optim, schedules
from .device import Device, tensor_device
from .seed import get_rng_state, set_rng_state
from .seed import set_seed as set_all_seeds

__all__ = ["Accelerator", "Settings", "get_logger", "set_seed", "skip_first_batches"]


class Settings:
    """A holder of settings that another engine takes, kept so that programs can read them back."""

    def __init__(self, *values: Any, **settings: Any) -> None:
        self.values = values
        self.__dict__.update(settings)


def set_seed(seed: int, device_specific: bool = False, *_: Any, **__: Any) -> None:
    """Seed all random numbers; with ``device_specific`` those of each process otherwise."""
    set_all_seeds(seed + (distributed.rank() if device_specific else 0))


def get_logger(name: str, log_level: Any = None) -> logging.LoggerAdapter[logging.Logger]:
    """Return a logger that speaks in the main process only, unless ``main_process_only=False`` is given."""
    logger = logging.getLogger(name)
    if log_level is not None:
        logger.setLevel(log_level.upper() if isinstance(log_level, str) else log_level)
    return _MainLogger(logger, {})


class _MainLogger(logging.LoggerAdapter):  # type: ignore[type-arg]
    def log(self, level: Any, msg: Any, *args: Any, **kwargs: Any) -> None:
        """Log, where this process is to speak."""
        only_main = kwargs.pop("main_process_only", True)
        kwargs.pop("in_order", None)
        if not only_main or distributed.is_main_process():
            super().log(level, msg, *args, **kwargs)


def skip_first_batches(dataloader: Any, num_batches: int = 0) -> Any:
    """Return the loader without its first batches, which are read all the same."""
    return _Batches(dataloader, skipped=num_batches)


class _Batches:
    """The batches of a loader that belong to one process: every ``size``-th; all processes get as many.

    Where the last round is not full, the first batches stand in for the missing ones, as accelerate does.
    """

    def __init__(self, loader: Any, rank: int = 0, size: int = 1, skipped: int = 0) -> None:
        self.loader, self.rank, self.size, self.skipped = loader, rank, size, skipped

    def __len__(self) -> int:
        return -(-len(self.loader) // self.size) - self.skipped

    def __iter__(self) -> Iterator[Any]:
        first: List[Any] = []
        own = None
        count = 0
        for batch in self.loader:
            if len(first) < self.size:
                first.append(batch)
            if count % self.size == self.rank:
                own = batch
            count += 1
            if count % self.size == 0 and count // self.size > self.skipped:
                yield own
        missing = -count % self.size
        if missing and count // self.size >= self.skipped:
            place = self.rank - (self.size - missing)
            yield own if place < 0 else first[place % len(first)]

    def __getattr__(self, name: str) -> Any:
        if name == "loader":
            raise AttributeError(name)
        return getattr(self.loader, name)


class _Schedule:
    """A schedule that moves when the weights do: not while gradients add up, and once for each process."""

    def __init__(self, scheduler: Any, owner: Accelerator) -> None:
        self.scheduler, self.owner = scheduler, owner

    def step(self, *values: Any) -> None:
        """Move on, if the weights were updated."""
        for _ in range(1 if self.owner.split_batches else self.owner.num_processes):
            if self.owner.sync_gradients:
                self.scheduler.step(*values)

    def __getattr__(self, name: str) -> Any:
        if name == "scheduler":
            raise AttributeError(name)
        return getattr(self.scheduler, name)


class Accelerator:
    """The accelerator of a program: what it prepares it hands back, and it knows when gradients are complete.

    ``gradient_accumulation_steps``: passes of ``accumulate`` whose gradients are averaged before a step. Precision,
    trackers and plugins are accepted and not used; ``log`` keeps what it is given in ``history``.
    """

    def __init__(
        self,
        device_placement: bool = True,
        split_batches: bool = False,
        mixed_precision: Any = None,
        gradient_accumulation_steps: int = 1,
        cpu: bool = False,
        *_: Any,
        project_dir: Any = None,
        step_scheduler_with_optimizer: bool = True,
        **settings: Any,
    ) -> None:
        distributed.init()
        self.split_batches, self.mixed_precision = split_batches, "no"
        self.gradient_accumulation_steps = gradient_accumulation_steps
        self.project_dir = project_dir
        self.sync_gradients = True
        self.history: List[Dict[str, Any]] = []
        self.trackers: List[Any] = []
        self.scaler = None
        self._follows = step_scheduler_with_optimizer
        self._passes = 0
        self._ends = False  # whether the pass that is running is the last of its loader
        self._prepared: List[Any] = []
        self._registered: List[Any] = []

    # ---- processes

    @property
    def device(self) -> Device:
        """The device that MindSpore computes on."""
        return tensor_device()

    @property
    def num_processes(self) -> int:
        """How many processes there are."""
        return distributed.world_size()

    @property
    def process_index(self) -> int:
        """The rank of this process."""
        return distributed.rank()

    @property
    def local_process_index(self) -> int:
        """The number of this process on its machine."""
        return distributed.local_rank()

    @property
    def is_main_process(self) -> bool:
        """Whether this is process 0."""
        return distributed.is_main_process()

    @property
    def is_local_main_process(self) -> bool:
        """Whether this is the first process of its machine."""
        return distributed.local_rank() == 0

    @property
    def is_last_process(self) -> bool:
        """Whether this is the process with the highest rank."""
        return distributed.rank() == distributed.world_size() - 1

    @property
    def use_distributed(self) -> bool:
        """Whether there are several processes."""
        return distributed.world_size() > 1

    def wait_for_everyone(self) -> None:
        """Wait until every process is here."""
        distributed.barrier()

    @contextlib.contextmanager
    def main_process_first(self) -> Iterator[None]:
        """Let the others wait until process 0 has left the block."""
        if not self.is_main_process:
            distributed.barrier()
        try:
            yield
        finally:  # the others wait, whatever happened
            if self.is_main_process:
                distributed.barrier()

    local_main_process_first = main_process_first

    def on_main_process(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return ``function``, which does nothing in other processes than the first."""
        return lambda *args, **kwargs: function(*args, **kwargs) if self.is_main_process else None

    on_local_main_process = on_main_process

    def print(self, *values: Any, **settings: Any) -> None:
        """Print in the main process."""
        if self.is_local_main_process:
            print(*values, **settings)

    def gather(self, tensor: Any) -> Any:
        """Return tensors, alone or in lists, tuples and dictionaries, with the rows of all processes."""
        if isinstance(tensor, dict):
            return type(tensor)((name, self.gather(value)) for name, value in tensor.items())
        if isinstance(tensor, (list, tuple)):
            return type(tensor)(self.gather(value) for value in tensor)
        if not self.use_distributed:
            return tensor
        return ops.cat(distributed.all_gather(tensor if tensor.ndim else tensor.reshape(1)))

    def gather_for_metrics(self, input_data: Any, *_: Any, **__: Any) -> Any:
        """Return the rows of all processes; rows that stand in for missing ones at the end are among them."""
        return self.gather(input_data)

    def reduce(self, tensor: ms.Tensor, reduction: str = "sum", scale: float = 1.0) -> ms.Tensor:
        """Return the sum, or the mean, of the processes' tensors."""
        found = distributed.all_reduce(tensor, reduction) if reduction != "none" else tensor
        return found * scale if reduction == "mean" else found

    # ---- preparing

    def prepare(self, *objects: Any, **_: Any) -> Any:
        """Return networks, optimizers, loaders and schedules, in the order given, ready for all processes."""
        made = tuple(self._made_ready(one) for one in objects)
        return made[0] if len(made) == 1 else made

    prepare_model = prepare_optimizer = prepare_data_loader = prepare_scheduler = prepare

    def _made_ready(self, one: Any) -> Any:
        if isinstance(one, nn.Optimizer) or hasattr(one, "param_groups"):
            self._prepared.append(one)
        elif isinstance(one, nn.Cell):
            self._prepared.append(distributed.data_parallel(one))
        elif hasattr(one, "step") and (hasattr(one, "get_last_lr") or hasattr(one, "optimizer")):
            self._prepared.append(one)
            plain = not self._follows or (self.gradient_accumulation_steps == 1 and not self.use_distributed)
            return one if plain else _Schedule(one, self)
        elif hasattr(one, "__iter__") and hasattr(one, "__len__"):
            several = self.gradient_accumulation_steps > 1 or self.use_distributed
            return _Watched(one, self) if several else one
        return one

    def unwrap_model(self, model: Any, *_: Any, **__: Any) -> Any:
        """Return the network, which nothing wraps."""
        return model

    def get_state_dict(self, model: nn.Cell, *_: Any, **__: Any) -> Dict[str, Any]:
        """Return the weights of a network by name."""
        return modules.state_dict(model)

    def free_memory(self, *objects: Any) -> Any:
        """Forget what was prepared; return a None for each object."""
        self._prepared.clear()
        return [None] * len(objects)

    clear = free_memory

    # ---- the training step

    @contextlib.contextmanager
    def accumulate(self, *models: Any) -> Iterator[None]:
        """In every so many passes of this block, and in the last of a loader, the gradients are complete."""
        self._passes = 0 if self._ends else self._passes + 1
        self.sync_gradients = self._passes % self.gradient_accumulation_steps == 0
        yield

    @contextlib.contextmanager
    def no_sync(self, *models: Any) -> Iterator[None]:
        """Do nothing: gradients are averaged where the step is taken."""
        yield

    autocast = no_sync
    join_uneven_inputs = no_sync

    def keep(self, weights: Iterable[ms.Parameter], grads: Sequence[ms.Tensor]) -> None:
        """Add the gradients of one pass to those that are kept: each counts for its share of a step."""
        gradients.keep(weights, [grad / self.gradient_accumulation_steps for grad in grads])

    def update(self, optimizer: Any) -> None:
        """Take a step if the gradients are complete."""
        if self.sync_gradients:
            gradients.update(optimizer)

    def reset(self, *owners: Any) -> None:
        """Forget gradients that a step has used."""
        if self.sync_gradients:
            gradients.reset(*owners)

    # ---- keeping

    def save(self, obj: Any, f: Any, *_: Any, **__: Any) -> None:
        """Write an object in the main process."""
        if self.is_main_process:
            checkpoint.save(obj, f)

    def save_model(self, model: nn.Cell, save_directory: Any, *_: Any, **__: Any) -> None:
        """Write the weights of a network into a folder."""
        Path(save_directory).mkdir(parents=True, exist_ok=True)
        self.save(modules.state_dict(model), os.path.join(save_directory, "model.safetensors"))

    def register_for_checkpointing(self, *objects: Any) -> None:
        """Let :meth:`save_state` keep these as well: by their ``state_dict()``."""
        self._registered.extend(objects)

    def _members(self) -> List[Any]:
        return [*self._prepared, *self._registered]

    def save_state(self, output_dir: Any = None, *_: Any, **__: Any) -> str:
        """Write what was prepared or registered, and the state of the random numbers, into a folder; return it."""
        folder = str(output_dir or self.project_dir or "checkpoint")
        Path(folder).mkdir(parents=True, exist_ok=True)
        states = [_state_of(one) for one in self._members()]
        self.save({"members": states, "random": get_rng_state()}, os.path.join(folder, "state.safetensors"))
        distributed.barrier()
        return folder

    def load_state(self, input_dir: Any = None, *_: Any, **__: Any) -> None:
        """Go back to what :meth:`save_state` wrote. Raises ValueError where other things were prepared."""
        kept = checkpoint.load(os.path.join(str(input_dir or self.project_dir or "checkpoint"), "state.safetensors"))
        members = self._members()
        if len(kept["members"]) != len(members):
            raise ValueError(f"{len(kept['members'])} objects were saved, {len(members)} are prepared")
        for one, state in zip(members, kept["members"]):
            _restore(one, state)
        set_rng_state(kept["random"])

    # ---- following a run

    def init_trackers(self, *_: Any, **__: Any) -> None:
        """Do nothing: no tracker is used."""

    def log(self, values: Dict[str, Any], step: Any = None, **_: Any) -> None:
        """Keep values in ``history``."""
        self.history.append({**values, "step": step})

    def get_tracker(self, name: str, unwrap: bool = False) -> Settings:
        """Return a stand-in for a tracker that was not started."""
        return Settings(name)

    def end_training(self) -> None:
        """Do nothing: no tracker is to be closed."""


class _Watched:
    """A prepared loader: its batches are shared out, and it tells the accelerator which is the last."""

    def __init__(self, loader: Any, owner: Accelerator) -> None:
        self.loader = _Batches(loader, owner.process_index, owner.num_processes) if owner.use_distributed else loader
        self.owner = owner
        rows, size = getattr(loader, "dataset", ()), getattr(loader, "batch_size", None)
        uneven = size and hasattr(rows, "__len__") and len(rows) % (size * owner.num_processes)
        if owner.use_distributed and uneven and not getattr(loader, "drop_last", False):
            warnings.warn(
                f"{len(rows)} rows do not fill the last batches of {owner.num_processes} processes: the first batches "
                "stand in for missing ones, are gathered with the others, and a short batch is not filled up",
                stacklevel=3,
            )

    def __len__(self) -> int:
        return len(self.loader)

    def __iter__(self) -> Iterator[Any]:
        self.owner._ends = False
        batches = iter(self.loader)
        waiting = next(batches, self)
        while waiting is not self:
            batch, waiting = waiting, next(batches, self)
            self.owner._ends = waiting is self
            yield batch

    def __getattr__(self, name: str) -> Any:
        if name == "loader":
            raise AttributeError(name)
        return getattr(self.loader, name)


def _state_of(one: Any) -> Any:
    if isinstance(one, nn.Optimizer) or hasattr(one, "param_groups"):
        return optim.state_dict(one)
    if isinstance(one, nn.Cell):
        return modules.state_dict(one)
    return one.state_dict() if hasattr(one, "state_dict") else schedules.state_dict(one)


def _restore(one: Any, state: Any) -> None:
    if isinstance(one, nn.Optimizer) or hasattr(one, "param_groups"):
        optim.load_state_dict(one, state)
    elif isinstance(one, nn.Cell):
        modules.load_state_dict(one, state)
    elif hasattr(one, "load_state_dict"):
        one.load_state_dict(state)
    else:
        schedules.load_state_dict(one, state)
