"""Datasets and loaders with the object API that PyTorch programs are written against.

``DataLoader`` yields MindSpore tensors. Types follow PyTorch: Python integers become int64, floats float64, arrays keep
theirs; the losses cast labels to the int32 that MindSpore asks for. The order of samples is defined: as the sampler
says, also with workers; from equal seeds it is PyTorch's. ``num_workers`` says where random numbers come from, and who
reads which part of a stream (:mod:`.workers`); batches are made when they are asked for, in the program's own thread,
because operations of MindSpore in two threads at a time end the process now and then (2.10, CPU). ``pin_memory``,
``timeout``, ``prefetch_factor``, ``multiprocessing_context``, ``persistent_workers`` and the like are accepted and
have no effect.
"""

from __future__ import annotations

import bisect
import functools
import inspect
import itertools
import math
from typing import (
    Any,
    Callable,
    Dict,
    Generic,
    Iterable,
    Iterator,
    List,
    Optional,
    Sequence,
    Tuple,
    TypeVar,
    Union,
)

import mindspore as ms
import numpy as np

from . import workers
from .samplers import (
    BatchSampler,
    DistributedSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)
from .seed import Generator, default_generator, use_generator
from .workers import get_worker_info

__all__ = [
    "BatchSampler",
    "ChainDataset",
    "ConcatDataset",
    "DataLoader",
    "Dataset",
    "DistributedSampler",
    "IterableDataset",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "Subset",
    "SubsetRandomSampler",
    "TensorDataset",
    "WeightedRandomSampler",
    "default_collate",
    "default_convert",
    "get_worker_info",
    "random_split",
]

T_co = TypeVar("T_co", covariant=True)


def _of_plain_places(own: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(own)
    def getitem(self: Any, index: Any, *rest: Any, **named: Any) -> Any:
        return own(self, index.item() if isinstance(index, np.integer) else index, *rest, **named)

    return getitem


class Dataset(Generic[T_co]):
    """Base of datasets: ``__getitem__(index)`` and, mostly, ``__len__()``.

    A place that is a number of NumPy's, ``data[np.random.permutation(n)[0]]``, comes to ``__getitem__`` as Python's:
    MindSpore's tensors take no other as an index.
    """

    def __init_subclass__(cls, **settings: Any) -> None:
        """Let the class's own ``__getitem__`` see Python's numbers."""
        super().__init_subclass__(**settings)
        own = cls.__dict__.get("__getitem__")
        if inspect.isfunction(own):
            cls.__getitem__ = _of_plain_places(own)  # type: ignore[method-assign]

    def __getitem__(self, index: Any) -> T_co:
        raise NotImplementedError(f"{type(self).__name__} has no __getitem__")

    def __add__(self, other: Dataset[Any]) -> ConcatDataset:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[T_co]):
    """Base of datasets that are streams: ``__iter__()``."""

    def __iter__(self) -> Iterator[T_co]:
        raise NotImplementedError(f"{type(self).__name__} has no __iter__")

    def __add__(self, other: Dataset[Any]) -> ChainDataset:  # type: ignore[override]
        return ChainDataset([self, other])


class TensorDataset(Dataset[Tuple[ms.Tensor, ...]]):
    """Samples are the rows of tensors of equal length."""

    def __init__(self, *tensors: ms.Tensor) -> None:
        if any(tensor.shape[0] != tensors[0].shape[0] for tensor in tensors):
            raise ValueError("TensorDataset: the tensors differ in length")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> Tuple[ms.Tensor, ...]:
        return tuple(tensor[_plain(index)] for tensor in self.tensors)

    def rows(self, indices: List[int]) -> Tuple[ms.Tensor, ...]:
        """Return a whole batch at once, far faster than row by row."""
        return tuple(ms.Tensor(tensor.asnumpy()[indices]) for tensor in self.tensors)

    def __len__(self) -> int:
        return int(self.tensors[0].shape[0])


def _plain(index: Any) -> Any:
    """Return an index of NumPy's as Python's: tensors of MindSpore take no other."""
    return int(index) if isinstance(index, np.integer) else index


class Subset(Dataset[Any]):
    """Some samples of a dataset, by index."""

    def __init__(self, dataset: Any, indices: Sequence[int]) -> None:
        self.dataset, self.indices = dataset, indices

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, (list, tuple)):
            return self.dataset[[_plain(self.indices[place]) for place in index]]
        return self.dataset[_plain(self.indices[index])]

    def __len__(self) -> int:
        return len(self.indices)


class ConcatDataset(Dataset[Any]):
    """Datasets one behind the other."""

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise ValueError("ConcatDataset: no datasets given")
        self.cumulative_sizes = list(itertools.accumulate(len(dataset) for dataset in self.datasets))

    def __getitem__(self, index: int) -> Any:
        if index < 0:
            index += len(self)
        if not 0 <= index < len(self):
            raise IndexError("ConcatDataset: index out of range")
        part = bisect.bisect_right(self.cumulative_sizes, index)
        return self.datasets[part][index - (self.cumulative_sizes[part - 1] if part else 0)]

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]


class ChainDataset(IterableDataset[Any]):
    """Iterable datasets one behind the other."""

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = list(datasets)

    def __iter__(self) -> Iterator[Any]:
        return itertools.chain.from_iterable(self.datasets)

    def __len__(self) -> int:
        return sum(len(dataset) for dataset in self.datasets)


def random_split(
    dataset: Any, lengths: Sequence[Union[int, float]], generator: Optional[Generator] = None
) -> List[Subset]:
    """Split at random into parts of ``lengths`` (counts, or shares that sum to 1).

    With a generator of an equal seed the parts are PyTorch's. Raises ValueError where the lengths do not add up.
    """
    counts = [int(length) for length in lengths]
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        counts = [math.floor(len(dataset) * share) for share in lengths]
        for place in range(len(dataset) - sum(counts)):
            counts[place % len(counts)] += 1
    if sum(counts) != len(dataset):
        raise ValueError(f"random_split: the lengths sum to {sum(counts)}, the dataset has {len(dataset)}")
    order = (generator if generator is not None else default_generator()).randperm(sum(counts))
    ends = itertools.accumulate(counts)
    return [Subset(dataset, order[end - count : end]) for end, count in zip(ends, counts)]


def default_collate(batch: Sequence[Any]) -> Any:
    """Join samples into a batch: tensors, arrays and numbers are stacked; dicts, tuples and lists are joined inside.

    Strings stay a list. Raises TypeError for samples of another type, ValueError for unequal shapes.
    """
    first = batch[0]
    if isinstance(first, ms.Tensor):
        return ms.Tensor(np.stack([sample.asnumpy() for sample in batch]))
    if isinstance(first, np.ndarray) and first.dtype.kind not in "SUOa":
        return ms.Tensor(np.stack(batch))
    if isinstance(first, np.generic) and first.dtype.kind not in "SU":
        return ms.Tensor(np.asarray(batch))
    if isinstance(first, bool):
        return ms.Tensor(np.asarray(batch, dtype=np.bool_))
    if isinstance(first, float):
        return ms.Tensor(np.asarray(batch, dtype=np.float64))
    if isinstance(first, int):
        return ms.Tensor(np.asarray(batch, dtype=np.int64))
    if isinstance(first, (str, bytes)):
        return batch
    if isinstance(first, dict):
        joined = {key: default_collate([sample[key] for sample in batch]) for key in first}
        return joined if type(first) is dict else _rebuild(first, joined)
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return type(first)(*(default_collate(column) for column in zip(*batch)))
    if isinstance(first, (list, tuple)):
        if any(len(sample) != len(first) for sample in batch):
            raise ValueError("default_collate: the samples of a batch differ in length")
        return [default_collate(column) for column in zip(*batch)]
    raise TypeError(f"default_collate: cannot make a batch of {type(first).__name__}")


def _rebuild(sample: Dict[Any, Any], joined: Dict[Any, Any]) -> Any:
    try:
        return type(sample)(joined)
    except TypeError:
        return joined


def default_convert(data: Any) -> Any:
    """Turn arrays in a sample into tensors; what a loader without batches does."""
    if isinstance(data, ms.Tensor):
        return data
    if isinstance(data, (np.ndarray, np.generic)) and data.dtype.kind not in "SUOa":
        return ms.Tensor(np.asarray(data))
    if isinstance(data, dict):
        return {key: default_convert(value) for key, value in data.items()}
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*(default_convert(value) for value in data))
    if isinstance(data, (list, tuple)):
        return [default_convert(value) for value in data]
    return data


class _Batches:
    """What iterates over a loader: it knows how many batches there are in all, as PyTorch's does."""

    def __init__(self, loader: DataLoader, batches: Iterator[Any]) -> None:
        self._loader, self._batches = loader, batches

    def __iter__(self) -> _Batches:
        return self

    def __next__(self) -> Any:
        return next(self._batches)

    def __len__(self) -> int:
        return len(self._loader)


class DataLoader:
    """Batches of a dataset, as often as it is iterated over.

    ``len(loader)`` is the number of batches; ``dataset``, ``batch_size``, ``sampler``, ``batch_sampler``, ``drop_last``
    and ``collate_fn`` can be read. ``batch_size=None`` yields samples one by one. ``worker_init_fn(worker_id)`` is
    called once an iteration for each worker. Raises ValueError for arguments that exclude one another.
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: Optional[int] = 1,
        shuffle: Optional[bool] = None,
        sampler: Any = None,
        batch_sampler: Any = None,
        num_workers: int = 0,
        collate_fn: Optional[Callable[[Any], Any]] = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Optional[Callable[[int], Any]] = None,
        multiprocessing_context: Any = None,
        generator: Optional[Generator] = None,
        *,
        prefetch_factor: Optional[int] = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
    ) -> None:
        self.dataset, self.num_workers, self.generator = dataset, num_workers, generator
        self.pin_memory, self.timeout, self.persistent_workers = pin_memory, timeout, persistent_workers
        self.worker_init_fn, self.prefetch_factor = worker_init_fn, prefetch_factor
        self.is_stream = isinstance(dataset, IterableDataset) or not hasattr(dataset, "__getitem__")
        if self.is_stream and (shuffle or sampler is not None or batch_sampler is not None):
            raise ValueError("DataLoader: a stream has no order to choose (shuffle, sampler, batch_sampler)")
        if sampler is not None and shuffle:
            raise ValueError("DataLoader: sampler and shuffle exclude each other")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError("DataLoader: batch_sampler excludes batch_size, shuffle, sampler and drop_last")
            batch_size = None
        elif batch_size is None and drop_last:
            raise ValueError("DataLoader: batch_size=None excludes drop_last")
        self.batch_size, self.drop_last = batch_size, drop_last
        if sampler is None and not self.is_stream:
            sampler = RandomSampler(dataset, generator=generator) if shuffle else SequentialSampler(dataset)
        if batch_size is not None and not self.is_stream:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.sampler, self.batch_sampler = sampler, batch_sampler
        self.has_batches = batch_size is not None or batch_sampler is not None
        self.collate_fn = collate_fn or (default_collate if self.has_batches else default_convert)

    def __len__(self) -> int:
        if self.batch_sampler is not None:
            return len(self.batch_sampler)
        if not self.is_stream:
            return len(self.sampler)
        count = len(self.dataset)
        if self.batch_size is None:
            return count
        return count // self.batch_size if self.drop_last else math.ceil(count / self.batch_size)

    def __iter__(self) -> Iterator[Any]:
        stream = self.generator if self.generator is not None else default_generator()
        base_seed = stream.long()  # drawn always: what follows in the stream then is what follows in PyTorch's
        if self.is_stream and self.num_workers > 0:
            prepare = self.worker_init_fn
            return _Batches(
                self, workers.in_turns(self.dataset, self.num_workers, base_seed, prepare, self._read_stream)
            )
        if self.worker_init_fn is not None:
            for worker in range(self.num_workers):
                with workers.working(workers.WorkerInfo(worker, self.num_workers, base_seed + worker, self.dataset)):
                    self.worker_init_fn(worker)
        if self.is_stream:
            return _Batches(self, self._read_stream(self.dataset))
        orders: Iterable[Any] = self.batch_sampler if self.has_batches else self.sampler
        if self.num_workers > 0:
            return _Batches(self, self._read_seeded(iter(orders), base_seed))
        return _Batches(self, map(self._fetch, orders))

    def _fetch(self, order: Any) -> Any:
        """Return the batch (or sample) of these indices."""
        if not self.has_batches:
            return self.collate_fn(self.dataset[_plain(order)])
        if isinstance(self.dataset, TensorDataset) and self.collate_fn is default_collate:
            return list(self.dataset.rows(order))
        if hasattr(self.dataset, "__getitems__"):
            return self.collate_fn(self.dataset.__getitems__(order))
        return self.collate_fn([self.dataset[_plain(index)] for index in order])

    def _read_stream(self, dataset: Any) -> Iterator[Any]:
        samples = iter(dataset)
        if self.batch_size is None:
            yield from map(self.collate_fn, samples)
            return
        while True:
            batch = list(itertools.islice(samples, self.batch_size))
            if not batch or (self.drop_last and len(batch) < self.batch_size):
                return
            yield self.collate_fn(batch)

    def _read_seeded(self, orders: Iterator[Any], base_seed: int) -> Iterator[Any]:
        """Make batches whose random numbers do not depend on what the program draws between them, as workers do."""
        for number, order in enumerate(orders):
            worker = number % self.num_workers
            info = workers.WorkerInfo(worker, self.num_workers, base_seed + worker, self.dataset)
            with workers.working(info), use_generator(Generator().manual_seed(base_seed + number)):
                batch = self._fetch(order)
            yield batch
