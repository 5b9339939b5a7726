from __future__ import annotations

from collections import OrderedDict, namedtuple

import mindspore as ms
import numpy as np
import pytest

from torch2ms.runtime import data, seed
from torch2ms.runtime.data import DataLoader, Dataset, IterableDataset, TensorDataset
from torch2ms.runtime.seed import Generator


class Squares(Dataset):
    def __init__(self, count=10):
        self.count = count

    def __getitem__(self, index):
        return np.full((2,), index, np.float32), index * index

    def __len__(self):
        return self.count


class Stream(IterableDataset):
    def __iter__(self):
        return iter(range(7))


def first_column(loader):
    return [batch[0].asnumpy()[:, 0].astype(int).tolist() for batch in loader]


def test_batches_in_order():
    loader = DataLoader(Squares(), batch_size=4)
    assert first_column(loader) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]] == first_column(loader)
    assert len(loader) == 3
    assert len(loader.dataset) == 10
    assert loader.batch_size == 4
    images, labels = next(iter(loader))
    assert images.dtype == ms.float32
    assert labels.dtype == ms.int64
    assert labels.asnumpy().tolist() == [0, 1, 4, 9]


def test_drop_last_and_early_break():
    loader = DataLoader(Squares(), batch_size=4, drop_last=True)
    assert len(loader) == len(list(loader)) == 2
    for _ in loader:
        break
    assert len(list(loader)) == 2


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_workers_keep_the_order_and_their_errors_arrive(workers):
    assert first_column(DataLoader(Squares(50), 4, num_workers=workers)) == first_column(DataLoader(Squares(50), 4))
    for _ in DataLoader(Squares(50), 4, num_workers=workers):
        break

    class Broken(Squares):
        def __getitem__(self, index):
            raise KeyError("broken sample")

    with pytest.raises(KeyError, match="broken sample"):
        list(DataLoader(Broken(), 4, num_workers=workers))


def test_worker_batches_have_reproducible_random_numbers():
    class Noisy(Squares):
        def __getitem__(self, index):
            return seed.default_generator().rand()

    def draw(workers):
        return [
            batch.asnumpy().tolist() for batch in DataLoader(Noisy(40), 5, num_workers=workers, generator=generator)
        ]

    results = []
    for workers in (1, 4):
        generator = Generator().manual_seed(1)
        results.append(draw(workers))
    assert results[0] == results[1]


@pytest.mark.slow
def test_orders_are_pytorchs(run_torch):
    theirs = run_torch("""
from torch.utils.data import *
g = lambda: torch.Generator().manual_seed(3)
class Squares(Dataset):
    def __getitem__(self, index): return index
    def __len__(self): return 23
loader = DataLoader(Squares(), 5, shuffle=True, generator=g())
torch.manual_seed(8)
plain = DataLoader(Squares(), 5, shuffle=True)
result = {
    "generator": [[b.tolist() for b in loader] for _ in range(2)],
    "seed": [[b.tolist() for b in plain] for _ in range(2)],
    "split": [list(part.indices) for part in random_split(range(23), [0.5, 0.3, 0.2], generator=g())],
    "counts": [list(part.indices) for part in random_split(range(23), [20, 3], generator=g())],
    "replacement": list(RandomSampler(range(100), True, 45, generator=g())),
    "more": list(RandomSampler(range(10), num_samples=25, generator=g())),
    "subset": list(SubsetRandomSampler([5, 6, 7, 8, 9], generator=g())),
    "distributed": [list(DistributedSampler(range(11), 3, r, seed=4)) for r in range(3)],
    "dropped": [list(DistributedSampler(range(11), 3, r, shuffle=False, drop_last=True)) for r in range(3)],
}
""")

    class Plain(Squares):
        def __getitem__(self, index):
            return index

    def generator():
        return Generator().manual_seed(3)

    def lists(loader):
        return [[batch.asnumpy().tolist() for batch in loader] for _ in range(2)]

    assert lists(DataLoader(Plain(23), 5, shuffle=True, generator=generator())) == theirs["generator"]
    seed.set_seed(8)
    assert lists(DataLoader(Plain(23), 5, shuffle=True)) == theirs["seed"]
    parts = data.random_split(range(23), [0.5, 0.3, 0.2], generator=generator())
    assert [part.indices for part in parts] == theirs["split"]
    parts = data.random_split(range(23), [20, 3], generator=generator())
    assert [part.indices for part in parts] == theirs["counts"]
    assert list(data.RandomSampler(range(100), True, 45, generator())) == theirs["replacement"]
    assert list(data.RandomSampler(range(10), num_samples=25, generator=generator())) == theirs["more"]
    assert list(data.SubsetRandomSampler([5, 6, 7, 8, 9], generator())) == theirs["subset"]
    assert [list(data.DistributedSampler(range(11), 3, r, seed=4)) for r in range(3)] == theirs["distributed"]
    dropped = [list(data.DistributedSampler(range(11), 3, r, False, drop_last=True)) for r in range(3)]
    assert dropped == theirs["dropped"]


def test_tensor_dataset_takes_batches_at_once():
    rows = ms.Tensor(np.arange(12, dtype=np.float32).reshape(6, 2))
    labels = ms.Tensor(np.arange(6, dtype=np.int32))
    dataset = TensorDataset(rows, labels)
    assert dataset[1][0].asnumpy().tolist() == [2, 3]
    batches = list(DataLoader(dataset, 4))
    assert [batch[1].asnumpy().tolist() for batch in batches] == [[0, 1, 2, 3], [4, 5]]
    assert batches[0][1].dtype == ms.int32
    with pytest.raises(ValueError, match="differ in length"):
        TensorDataset(rows, labels[:3])


def test_streams():
    assert [batch.asnumpy().tolist() for batch in DataLoader(Stream(), 3)] == [[0, 1, 2], [3, 4, 5], [6]]
    assert len(list(DataLoader(Stream(), 3, drop_last=True))) == 2
    assert list(DataLoader(Stream(), None)) == list(range(7))
    assert list(Stream() + Stream()) == [*range(7), *range(7)]
    with pytest.raises(TypeError):
        len(DataLoader(Stream(), 3))
    with pytest.raises(ValueError, match="no order to choose"):
        DataLoader(Stream(), 3, shuffle=True)


def test_concat_and_subset():
    joined = Squares(3) + Squares(2)
    assert [joined[index][1] for index in range(5)] == [0, 1, 4, 0, 1]
    assert joined[-1][1] == 1
    with pytest.raises(IndexError):
        joined[5]
    assert data.Subset(Squares(), [4, 2])[1][1] == 4


def test_collate_nested():
    Point = namedtuple("Point", "x y")
    samples = [
        {"a": 1.5, "b": [ms.Tensor([index, 2]), np.float32(index)], "name": str(index), "p": Point(index, True)}
        for index in range(3)
    ]
    batch = data.default_collate(samples)
    assert batch["a"].dtype == ms.float64
    assert batch["b"][0].shape == (3, 2)
    assert batch["b"][1].dtype == ms.float32
    assert batch["name"] == ["0", "1", "2"]
    assert batch["p"].x.asnumpy().tolist() == [0, 1, 2]
    assert batch["p"].y.dtype == ms.bool_
    assert isinstance(data.default_collate([OrderedDict(a=1)]), OrderedDict)
    with pytest.raises(TypeError, match="cannot make a batch of object"):
        data.default_collate([object()])
    with pytest.raises(ValueError, match="differ in length"):
        data.default_collate([[1, 2], [1]])


def test_samplers_and_collate_functions():
    loader = DataLoader(Squares(), 3, sampler=[7, 1, 5, 3], collate_fn=lambda batch: [label for _, label in batch])
    assert list(loader) == [[49, 1, 25], [9]]
    loader = DataLoader(Squares(), batch_sampler=[[0, 1], [5]])
    assert first_column(loader) == [[0, 1], [5]]
    assert len(loader) == 2
    assert loader.batch_size is None
    weighted = data.WeightedRandomSampler([0.0, 0.0, 1.0], 5)
    assert list(weighted) == [2] * 5
    assert len(weighted) == 5


def test_accepted_and_without_effect():
    loader = DataLoader(
        Squares(), 5, pin_memory=True, timeout=3, persistent_workers=True, prefetch_factor=4, pin_memory_device="cuda"
    )
    assert len(list(loader)) == 2


@pytest.mark.parametrize(
    "arguments",
    [
        {"shuffle": True, "sampler": [0]},
        {"batch_sampler": [[0]], "batch_size": 2},
        {"batch_sampler": [[0]], "drop_last": True},
        {"batch_size": None, "drop_last": True},
    ],
)
def test_arguments_that_exclude_one_another(arguments):
    with pytest.raises(ValueError, match="exclude"):
        DataLoader(Squares(), **arguments)


def test_worker_init_fn_is_called_for_each_worker():
    seen = []
    list(DataLoader(Squares(), 5, num_workers=2, worker_init_fn=seen.append))
    assert seen == [0, 1]


def test_distributed_sampler_changes_with_the_epoch():
    sampler = data.DistributedSampler(range(20), 2, 0)
    first = list(sampler)
    sampler.set_epoch(1)
    assert first != list(sampler)
    assert len(sampler) == 10
    with pytest.raises(ValueError, match="rank 2"):
        data.DistributedSampler(range(4), 2, 2)


def test_the_iterator_of_a_loader_knows_how_many_batches_there_are() -> None:
    for workers in (0, 1):
        batches = iter(data.DataLoader([1, 2, 3, 4, 5], batch_size=2, num_workers=workers))
        assert len(batches) == 3
        assert next(batches).asnumpy().tolist() == [1, 2]
        assert len(list(batches)) == 2


class _Stream(data.IterableDataset):
    """Numbers from a start to an end; workers share them where the dataset looks who asks."""

    def __init__(self, end, shares):
        self.start, self.end, self.shares = 0, end, shares

    def __iter__(self):
        info = data.get_worker_info()
        if info is None or not self.shares:
            return iter(range(self.start, self.end))
        return iter(range(self.start + info.id, self.end, info.num_workers))


def _listed(loader):
    return [batch.asnumpy().tolist() for batch in loader]


def test_streams_are_read_by_each_worker_in_turn():
    """The lists are what PyTorch's loader yields."""
    assert _listed(data.DataLoader(_Stream(5, True), batch_size=2)) == [[0, 1], [2, 3], [4]]
    assert _listed(data.DataLoader(_Stream(5, True), batch_size=2, num_workers=2)) == [[0, 2], [1, 3], [4]]
    assert _listed(data.DataLoader(_Stream(3, False), batch_size=2, num_workers=2)) == [[0, 1], [0, 1], [2], [2]]
    assert data.get_worker_info() is None


def test_worker_init_fn_changes_the_workers_own_copy_of_a_stream():
    def split(worker):
        info = data.get_worker_info()
        info.dataset.start, info.dataset.end = worker * 3, worker * 3 + 3

    stream = _Stream(6, False)
    loader = data.DataLoader(stream, batch_size=None, num_workers=2, worker_init_fn=split)
    assert list(loader) == [0, 3, 1, 4, 2, 5]
    assert (stream.start, stream.end) == (0, 6)


def test_a_dataset_with_places_sees_its_worker():
    class Places:
        def __len__(self):
            return 4

        def __getitem__(self, index):
            return data.get_worker_info().id

    assert _listed(data.DataLoader(Places(), batch_size=1, num_workers=2)) == [[0], [1], [0], [1]]


def test_places_that_are_numbers_of_numpy_come_as_pythons():
    class Rows(data.Dataset):
        def __init__(self):
            self.rows = ms.ops.arange(6).reshape(3, 2)

        def __getitem__(self, place):
            """Return a row."""
            return self.rows[place], place

        def __len__(self):
            return 3

    rows = Rows()
    row, place = rows[np.array([2, 0])[0]]
    assert row.tolist() == [4, 5]
    assert type(place) is int
    assert rows[1][0].tolist() == [2, 3]
    assert Rows.__getitem__.__doc__ == "Return a row."
    assert data.Subset(rows, np.array([2, 1]))[1][0].tolist() == [2, 3]
    assert data.TensorDataset(rows.rows)[np.int64(1)][0].tolist() == [2, 3]
