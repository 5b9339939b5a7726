"""The accelerator of translated programs: shares of processes, complete gradients, schedules, saving."""

from __future__ import annotations

from typing import Any

import mindspore as ms
import numpy as np
import pytest
from mindspore import nn
from mindspore.experimental import optim

from torch2ms.runtime import accelerate


class Loader:
    def __init__(self, count: int) -> None:
        self.count = count
        self.batch_size = 2
        self.dataset = range(2 * count)

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Any:
        return iter(range(self.count))


@pytest.mark.parametrize("count", [1, 2, 5, 6, 7])
@pytest.mark.parametrize("size", [1, 2, 3])
def test_every_process_gets_as_many_batches_and_all_are_seen(count: int, size: int) -> None:
    shares = [list(accelerate._Batches(Loader(count), rank, size)) for rank in range(size)]
    lengths = {len(accelerate._Batches(Loader(count), rank, size)) for rank in range(size)}
    assert {len(share) for share in shares} == lengths == {-(-count // size)}
    rounds = [batch for turn in zip(*shares, strict=True) for batch in turn]
    assert rounds[:count] == list(range(count))
    assert rounds[count:] == [place % count for place in range(len(rounds) - count)]


def test_first_batches_are_skipped() -> None:
    loader = accelerate.skip_first_batches(Loader(5), 2)
    assert list(loader) == [2, 3, 4]
    assert len(loader) == 3
    assert loader.batch_size == 2


def test_gradients_are_complete_every_so_often_and_at_the_end_of_a_loader() -> None:
    engine = accelerate.Accelerator(gradient_accumulation_steps=3)
    network = nn.Dense(2, 1)
    loader = engine.prepare(Loader(5))
    said = []
    for _ in range(2):
        for _ in loader:
            with engine.accumulate(network):
                said.append(engine.sync_gradients)
    assert said == [False, False, True, False, True] * 2


def test_added_gradients_are_averaged_and_used_once() -> None:
    engine = accelerate.Accelerator(gradient_accumulation_steps=2)
    network = nn.Dense(2, 1, has_bias=False)
    network.weight.set_data(ms.Tensor(np.zeros((1, 2), np.float32)))
    optimizer = optim.SGD(network.trainable_params(), lr=1.0)
    schedule = engine.prepare(optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.5))
    network, optimizer = engine.prepare(network, optimizer)
    for value in (1.0, 3.0):
        with engine.accumulate(network):
            engine.keep(optimizer.parameters, [ms.Tensor(np.full((1, 2), value, np.float32))])
            engine.update(optimizer)
            schedule.step()
            engine.reset(optimizer)
    np.testing.assert_allclose(network.weight.asnumpy(), [[-2.0, -2.0]])
    assert float(optimizer.param_groups[0]["lr"]) == pytest.approx(0.5)


def test_gathering_keeps_structures() -> None:
    engine = accelerate.Accelerator()
    x = ms.Tensor([1.0])
    assert engine.gather_for_metrics({"a": (x, [x])}) == {"a": (x, [x])}


def test_a_state_of_other_objects_is_refused(tmp_path: Any) -> None:
    engine = accelerate.Accelerator(project_dir=tmp_path / "run")
    engine.prepare(nn.Dense(2, 1))
    assert engine.save_state() == str(tmp_path / "run")
    with pytest.raises(ValueError, match="1 objects were saved, 0 are prepared"):
        accelerate.Accelerator().load_state(tmp_path / "run")


@pytest.mark.parametrize(("rows", "warned"), [(12, False), (13, True), (14, True), (16, False)])
def test_rows_that_do_not_fill_the_last_batches_are_told(
    rows: int, warned: bool, monkeypatch: pytest.MonkeyPatch, recwarn: pytest.WarningsRecorder
) -> None:
    monkeypatch.setattr(accelerate.distributed, "world_size", lambda: 2)
    loader = Loader(rows // 2)
    loader.dataset = range(rows)
    accelerate.Accelerator().prepare(loader)
    assert bool(recwarn.list) == warned
