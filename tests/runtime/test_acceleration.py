from __future__ import annotations

import mindspore as ms
import numpy as np
import pytest

from torch2ms.runtime import acceleration, pipeline
from torch2ms.runtime.device import DeviceError


def test_nothing_is_turned_on_by_default(monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("a switch was turned")

    for name in ("set_context", "set_auto_parallel_context", "Profiler"):
        monkeypatch.setattr(ms, name, refuse)
    acceleration.configure()


def test_gradient_buckets_have_a_size(monkeypatch):
    seen = {}
    monkeypatch.setattr(ms, "set_auto_parallel_context", lambda **options: seen.update(options))
    acceleration.configure(gradient_fusion=32)
    assert seen == {"comm_fusion": {"allreduce": {"mode": "size", "config": 32}}}
    with pytest.raises(ValueError, match="MB"):
        acceleration.configure(gradient_fusion=-1)


def test_graph_kernels_are_a_context(monkeypatch):
    seen = {}
    monkeypatch.setattr(ms, "set_context", lambda **options: seen.update(options))
    acceleration.configure(graph_kernels=True)
    assert seen == {"enable_graph_kernel": True}


class Numbers:
    """Forty samples, each an image of its own number."""

    def __len__(self):
        return 40

    def __getitem__(self, index):
        return np.full((2,), index, np.float32), index


def test_sunk_batches_are_those_of_the_loop_in_their_order(monkeypatch):
    """What is sunk is one dataset for the rest of the run; the loop goes on from where training was interrupted."""

    def queue(function, dataset):  # what the device does: it takes the dataset's next batch
        rows = dataset.create_tuple_iterator(num_epochs=1)
        return lambda: function(*next(rows))

    batches = pipeline.Pipeline(Numbers(), 8, shuffle=True, drop_last=True, seed=3)
    expected = [labels.asnumpy().tolist() for epoch in (1, 2) for _, labels in batches.batches(epoch)][2:]
    monkeypatch.setattr(ms, "data_sink", queue)
    monkeypatch.setattr(ms, "get_context", lambda name: {"device_target": "Ascend"}[name])
    step, sunk = acceleration.sink(lambda images, labels: labels.asnumpy().tolist(), batches, 1, 2, 3)
    assert len(sunk) == len(batches) == 5
    seen = [step(*batch) for epoch, first in ((1, 2), (2, 0)) for batch in sunk.batches(epoch, first)]
    assert seen == expected
    assert len(seen) == 8


def test_a_cpu_and_batches_of_several_shapes_cannot_be_sunk():
    full = pipeline.Pipeline(Numbers(), 8, drop_last=True)
    with pytest.raises(DeviceError, match="the device is CPU: leave it out"):
        acceleration.sink(print, full, 0, 0, 1)
    with pytest.raises(ValueError, match="drop_last"):
        acceleration.sink(print, pipeline.Pipeline(Numbers(), 7), 0, 0, 1)
