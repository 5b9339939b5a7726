"""Orders in which a dataset is read: what :class:`.data.DataLoader` takes as ``sampler`` and ``batch_sampler``."""

from __future__ import annotations

import math
from typing import Any, Generic, Iterable, Iterator, List, Optional, Sequence, TypeVar, Union

import numpy as np

from . import distributed
from .seed import Generator, default_generator

__all__ = [
    "BatchSampler",
    "DistributedSampler",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "SubsetRandomSampler",
    "WeightedRandomSampler",
]

T = TypeVar("T")


class Sampler(Generic[T]):
    """Base of samplers: iterating gives indices (or, for batch samplers, lists of them)."""

    def __init__(self, data_source: object = None) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[T]:
        raise NotImplementedError


class SequentialSampler(Sampler[int]):
    """0, 1, 2, ..."""

    def __init__(self, data_source: Any) -> None:
        super().__init__(data_source)

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))  # type: ignore[arg-type]

    def __len__(self) -> int:
        return len(self.data_source)  # type: ignore[arg-type]


def _stream(generator: Optional[Generator]) -> Generator:
    """Return ``generator``, or a new one seeded from the process's."""
    return generator if generator is not None else Generator().manual_seed(default_generator().long())


class RandomSampler(Sampler[int]):
    """A random order, or with ``replacement`` independent draws; PyTorch's order from equal seeds."""

    def __init__(
        self,
        data_source: Any,
        replacement: bool = False,
        num_samples: Optional[int] = None,
        generator: Optional[Generator] = None,
    ) -> None:
        super().__init__(data_source)
        self.replacement, self._num_samples, self.generator = replacement, num_samples, generator

    @property
    def num_samples(self) -> int:
        """How many indices one pass gives."""
        return len(self.data_source) if self._num_samples is None else self._num_samples  # type: ignore[arg-type]

    def __iter__(self) -> Iterator[int]:
        count, stream = len(self.data_source), _stream(self.generator)  # type: ignore[arg-type]
        if self.replacement:
            for _ in range(self.num_samples):
                yield stream.randint(0, count)
            return
        for _ in range(self.num_samples // count):
            yield from stream.randperm(count)
        yield from stream.randperm(count)[: self.num_samples % count]

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler[int]):
    """The given indices in random order."""

    def __init__(self, indices: Sequence[int], generator: Optional[Generator] = None) -> None:
        super().__init__()
        self.indices, self.generator = indices, generator

    def __iter__(self) -> Iterator[int]:
        stream = self.generator if self.generator is not None else default_generator()
        for place in stream.randperm(len(self.indices)):
            yield self.indices[place]

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler[int]):
    """Draws with probabilities proportional to ``weights`` (same distribution as PyTorch's, another stream)."""

    def __init__(
        self, weights: Any, num_samples: int, replacement: bool = True, generator: Optional[Generator] = None
    ) -> None:
        super().__init__()
        array = weights.asnumpy() if hasattr(weights, "asnumpy") else weights
        self.weights = np.asarray(array, dtype=np.float64)
        self.num_samples, self.replacement, self.generator = num_samples, replacement, generator

    def __iter__(self) -> Iterator[int]:
        stream = (self.generator if self.generator is not None else default_generator()).numpy()
        share = self.weights / self.weights.sum()
        drawn = stream.choice(len(share), self.num_samples, replace=self.replacement, p=share)
        return iter(drawn.tolist())

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler[List[int]]):
    """Lists of ``batch_size`` indices from a sampler."""

    def __init__(self, sampler: Union[Sampler[int], Iterable[int]], batch_size: int, drop_last: bool) -> None:
        super().__init__()
        self.sampler, self.batch_size, self.drop_last = sampler, batch_size, drop_last

    def __iter__(self) -> Iterator[List[int]]:
        batch: List[int] = []
        for index in self.sampler:
            batch.append(index)
            if len(batch) == self.batch_size:
                yield batch
                batch = []
        if batch and not self.drop_last:
            yield batch

    def __len__(self) -> int:
        count = len(self.sampler)  # type: ignore[arg-type]
        return count // self.batch_size if self.drop_last else math.ceil(count / self.batch_size)


class DistributedSampler(Sampler[int]):
    """Every ``num_replicas``-th index from ``rank``, padded (or cut) so that all ranks have equally many.

    Call ``set_epoch`` before each epoch, or every epoch has the same order.
    """

    def __init__(
        self,
        dataset: Any,
        num_replicas: Optional[int] = None,
        rank: Optional[int] = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        super().__init__(dataset)
        self.dataset = dataset
        self.num_replicas = distributed.world_size() if num_replicas is None else num_replicas
        self.rank = distributed.rank() if rank is None else rank
        if not 0 <= self.rank < self.num_replicas:
            raise ValueError(f"rank {self.rank} is not one of {self.num_replicas}")
        self.shuffle, self.seed, self.drop_last, self.epoch = shuffle, seed, drop_last, 0
        count = len(dataset)
        if drop_last and count % self.num_replicas:
            self.num_samples = math.ceil((count - self.num_replicas) / self.num_replicas)
        else:
            self.num_samples = math.ceil(count / self.num_replicas)
        self.total_size = self.num_samples * self.num_replicas

    def __iter__(self) -> Iterator[int]:
        count = len(self.dataset)
        order = Generator().manual_seed(self.seed + self.epoch).randperm(count) if self.shuffle else list(range(count))
        while len(order) < self.total_size:
            order += order[: self.total_size - len(order)]
        return iter(order[self.rank : self.total_size : self.num_replicas])

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Choose the order of epoch ``epoch``."""
        self.epoch = epoch
