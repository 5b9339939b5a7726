"""The input pipeline of the generated training program: ``mindspore.dataset`` with an order that can be resumed.

The order of an epoch and the random transforms of a sample depend on nothing but (seed, epoch, index of the sample):
not on how many workers or ranks there are, nor on where training was interrupted.
"""

from __future__ import annotations

import os
import threading
from typing import Any, Iterator, List, Tuple

import mindspore as ms
import mindspore.dataset as ds
import numpy as np

from .seed import Generator, mix, use_generator

__all__ = ["Pipeline"]


class _Source:
    """Samples of ``epochs`` epochs for GeneratorDataset: arrays, random numbers by (seed, epoch, index)."""

    def __init__(self, dataset: Any, seed: int, epochs: int) -> None:
        self.dataset, self.seed, self.epochs = dataset, seed, epochs
        self.local = threading.local()  # one generator a thread: seeding again is far cheaper than a new one

    def __len__(self) -> int:
        return len(self.dataset) * self.epochs

    def __getitem__(self, place: int) -> Tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        epoch, index = divmod(int(place), len(self.dataset))
        if not hasattr(self.local, "generator"):
            self.local.generator = Generator()
        with use_generator(self.local.generator.manual_seed(mix(self.seed, epoch, index))):
            image, label = self.dataset[index]
        array = image.asnumpy() if isinstance(image, ms.Tensor) else np.asarray(image)
        return array, np.asarray(label, dtype=np.int32)


class Pipeline:
    """Batches (images, int32 labels) of a dataset, epoch by epoch.

    ``batch_size`` is that of one rank. With ``shuffle`` every epoch has an order of its own. Of ``world_size`` ranks,
    each reads every ``world_size``-th sample of the common order; with ``drop_last`` all ranks have equally many
    batches, without it the last ones may have a batch less. One worker is the fastest as long as transforms are Python:
    two threads that share the interpreter took two to six times as long (32 images, 48 x 48: 16 ms with one, 92 ms with
    two).
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: int,
        shuffle: bool = False,
        drop_last: bool = False,
        seed: int = 0,
        num_workers: int = 1,
        rank: int = 0,
        world_size: int = 1,
    ) -> None:
        self.dataset, self.batch_size, self.shuffle, self.drop_last = dataset, batch_size, shuffle, drop_last
        self.num_workers = min(max(1, num_workers), os.cpu_count() or 1)  # MindSpore refuses more
        self.seed, self.rank, self.world_size = seed, rank, world_size

    def _order(self, epoch: int) -> List[int]:
        count = len(self.dataset)
        order = Generator().manual_seed(mix(self.seed, epoch)).randperm(count) if self.shuffle else list(range(count))
        if self.drop_last:
            order = order[: count - count % (self.batch_size * self.world_size)]
        return order[self.rank :: self.world_size]

    def __len__(self) -> int:
        """Return the number of batches an epoch of this rank has."""
        count = len(self.dataset)
        if self.drop_last:
            return count // (self.batch_size * self.world_size)
        own = len(range(self.rank, count, self.world_size))
        return -(-own // self.batch_size)

    def batches(self, epoch: int = 0, first_step: int = 0) -> Iterator[Tuple[ms.Tensor, ms.Tensor]]:
        """Yield the batches of epoch ``epoch`` from step ``first_step`` on."""
        if first_step >= len(self):
            return
        yield from self.stream(epoch, first_step, epoch + 1).create_tuple_iterator(num_epochs=1)

    def stream(self, epoch: int, first_step: int, epochs: int) -> Any:
        """Return the rest of the run, up to epoch ``epochs``, as one ``mindspore.dataset`` of batches."""
        count = len(self.dataset)
        order = [each * count + index for each in range(epoch, epochs) for index in self._order(each)]
        rows = ds.GeneratorDataset(
            _Source(self.dataset, self.seed, epochs),
            ["image", "label"],
            sampler=order[first_step * self.batch_size :],
            num_parallel_workers=self.num_workers,
            python_multiprocessing=False,
        )
        return rows.batch(self.batch_size, drop_remainder=self.drop_last)
