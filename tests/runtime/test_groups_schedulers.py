"""Learning rates that read as numbers, and schedulers that MindSpore lacks or has with other results."""

from __future__ import annotations

from typing import Any

import mindspore as ms
import pytest
from mindspore.experimental import optim
from mindspore.experimental.optim import lr_scheduler

from torch2ms.runtime import groups, schedulers, schedules
from torch2ms.runtime.groups import param_groups


def sgd(lr: float = 0.1, **options: Any) -> Any:
    """Return an optimizer over one parameter of ones."""
    return optim.SGD([ms.Parameter(ms.ops.ones((2,)), name="p")], lr, **options)


def moved(optimizer: Any) -> float:
    """Return how far one step with gradients of 1 moves the parameter."""
    before = optimizer.parameters[0].asnumpy().copy()
    optimizer((ms.ops.ones((2,)),))
    return float((before - optimizer.parameters[0].asnumpy())[0])


def test_a_learning_rate_that_is_set_is_used_and_reads_as_a_number() -> None:
    optimizer = sgd()
    for group in param_groups(optimizer):
        group["lr"] *= 0.5
    assert param_groups(optimizer)[0]["lr"] == 0.05
    assert f"{param_groups(optimizer)[0]['lr']:.4f}" == "0.0500"
    assert moved(optimizer) == pytest.approx(0.05, rel=1e-5)


def test_the_rate_that_a_scheduler_keeps_reads_as_a_number() -> None:
    optimizer = sgd(0.4)
    lr_scheduler.ExponentialLR(optimizer, 0.5)
    assert param_groups(optimizer)[0]["initial_lr"] == 0.4


def test_a_second_scheduler_starts_from_what_the_first_one_found() -> None:
    optimizer = sgd()
    warming = lr_scheduler.LinearLR(optimizer, start_factor=0.5, total_iters=2)
    falling = schedulers.LambdaLR(optimizer, lambda epoch: 0.5**epoch)
    rates = [param_groups(optimizer)[0]["lr"]]
    for _ in range(2):
        warming.step()
        falling.step()
        rates.append(param_groups(optimizer)[0]["lr"])
    assert rates == pytest.approx([0.1, 0.05, 0.025])
    assert param_groups(optimizer)[0]["initial_lr"] == 0.1


def test_schedulers_go_on_from_a_learning_rate_that_was_set() -> None:
    optimizer = sgd()
    scheduler = lr_scheduler.StepLR(optimizer, 1)
    param_groups(optimizer)[0]["lr"] = 0.3
    scheduler.step()
    assert schedulers.last_lr(scheduler) == pytest.approx([0.03])
    assert schedulers.last_epoch(scheduler) == 1
    assert moved(optimizer) == pytest.approx(0.03, rel=1e-5)


def test_other_settings_reach_the_optimizer() -> None:
    optimizer = sgd(weight_decay=0.0)
    param_groups(optimizer)[0]["weight_decay"] = 1.0
    assert moved(optimizer) == pytest.approx(0.2, rel=1e-5)
    with pytest.raises(ValueError, match="make a new one"):
        param_groups(optimizer)[0]["params"] = []


def test_functions_get_plain_numbers() -> None:
    seen: list[object] = []
    optimizer = sgd()
    scheduler = schedulers.LambdaLR(optimizer, lambda epoch: seen.append(epoch) or [1.0, 0.5][epoch])
    scheduler.step()
    assert seen == [0, 1]
    assert scheduler.get_last_lr() == [0.05]


def test_one_cycle_turns_momentum_against_the_learning_rate() -> None:
    optimizer = sgd(momentum=0.9)
    scheduler = schedulers.OneCycleLR(optimizer, 0.1, total_steps=10)
    assert param_groups(optimizer)[0]["momentum"] == pytest.approx(0.95)
    momenta = []
    for _ in range(9):
        scheduler.step()
        momenta.append(param_groups(optimizer)[0]["momentum"])
    assert min(momenta) == pytest.approx(0.85)
    assert momenta[-1] == pytest.approx(0.95)


def test_cycling_momentum_needs_one() -> None:
    optimizer = optim.Adagrad([ms.Parameter(ms.ops.ones((2,)), name="p")], 0.1)
    with pytest.raises(ValueError, match="cycle_momentum=False"):
        schedulers.CyclicLR(optimizer, 0.01, 0.1)


def test_steps_are_whole_numbers() -> None:
    assert schedulers.whole(3.0) == 3
    with pytest.raises(ValueError, match="whole steps"):
        schedulers.whole(2.5)


def test_an_optimizer_takes_the_settings_of_groups_with_its_parameters() -> None:
    weight = ms.Parameter(ms.Tensor([1.0, 2.0], ms.float32), name="w")
    optimizer, other = optim.SGD([weight], lr=0.1), optim.SGD([weight], lr=0.2)
    own = groups.param_groups(optimizer)
    groups.put(optimizer, own)
    groups.put(optimizer, [{**own[0], "lr": 0.5, "note": 3}])
    assert groups.param_groups(optimizer)[0]["lr"] == 0.5
    assert groups.param_groups(optimizer)[0]["note"] == 3
    with pytest.raises(ValueError, match="another"):
        groups.put(optimizer, groups.param_groups(other))
    with pytest.raises(ValueError, match="exchanged"):
        groups.put(optimizer, [{"params": [ms.Parameter(ms.Tensor([1.0]), name="v")]}])
    with pytest.raises(ValueError, match="2"):
        groups.put(optimizer, [*own, *own])


def test_a_scheduler_keeps_what_it_set() -> None:
    optimizer = sgd()
    first = lr_scheduler.StepLR(optimizer, 1)
    second = schedulers.LambdaLR(optimizer, lambda epoch: 0.5**epoch)
    first.step()
    second.step()
    param_groups(optimizer)[0]["lr"] = 3.0
    assert schedulers.last_lr(first) == pytest.approx([0.01])
    assert schedulers.last_lr(second) == [0.05]
    again = lr_scheduler.StepLR(sgd(), 1)
    schedules.load_state_dict(again, {"last_epoch": 4, "_last_lr": [0.25]})  # as PyTorch writes it
    assert schedulers.last_lr(again) == [0.25]
