from __future__ import annotations

import mindspore as ms
import numpy as np
import pytest
from mindspore import nn
from mindspore.experimental import optim as experimental

from torch2ms.runtime import checkpoint, optim, optimizers, schedules

NAMES = ["SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Adadelta", "Adamax", "NAdam", "RAdam", "ASGD", "Rprop"]


def network():
    ms.set_seed(1)
    return nn.SequentialCell(nn.Dense(3, 4), nn.Dense(4, 2))


def take_steps(optimizer, count, first=0):
    for number in range(first, first + count):
        stream = np.random.RandomState(number)
        optimizer(tuple(ms.Tensor(stream.randn(*p.shape).astype(np.float32)) for p in optimizer.parameters))
    return [parameter.asnumpy().copy() for parameter in optimizer.parameters]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_state_goes_on_exactly(name, tmp_path):
    options = {"momentum": 0.9} if name == "SGD" else {"amsgrad": True} if name == "Adam" else {}
    first, second = network(), network()
    whole = optim.create_optimizer(name, first.trainable_params(), lr=0.01, **options)
    take_steps(whole, 3)
    checkpoint.save({"net": checkpoint.weights_of(first), "opt": optim.state_dict(whole)}, tmp_path / "x")
    expected = take_steps(whole, 3, first=3)
    part = optim.create_optimizer(name, second.trainable_params(), lr=0.5, **options)
    state = checkpoint.load(tmp_path / "x")
    checkpoint.load_weights(second, state["net"])
    optim.load_state_dict(part, state["opt"])
    assert optim.get_lr(part) == np.float32(0.01)
    for ours, theirs in zip(take_steps(part, 3, first=3), expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_state_of_another_optimizer_is_refused():
    net = network()
    adam = optim.create_optimizer("Adam", net.trainable_params(), lr=0.1)
    sgd = optim.create_optimizer("SGD", net.trainable_params(), lr=0.1)
    with pytest.raises(ValueError, match="does not fit"):
        optim.load_state_dict(adam, optim.state_dict(sgd))


def test_groups_without_decay():
    net = nn.SequentialCell(nn.Conv2d(3, 4, 3, has_bias=True), nn.BatchNorm2d(4), nn.Dense(4, 2))
    decayed, plain = optim.group_parameters(net, 0.1)
    assert [parameter.name for parameter in decayed["params"]] == ["0.weight", "2.weight"]
    assert {parameter.name for parameter in plain["params"]} == {"0.bias", "1.gamma", "1.beta", "2.bias"}
    optimizer = optim.create_optimizer("SGD", [decayed, plain], lr=0.1)
    assert [group["weight_decay"] for group in optimizer.param_groups] == [0.1, 0.0]


def test_learning_rates_are_set_group_by_group():
    net = network()
    groups = [{"params": [parameter]} for parameter in net.trainable_params()]
    optimizer = optim.create_optimizer("SGD", groups, lr=0.1)
    optim.set_lr(optimizer, [0.1, 0.2, 0.3, 0.4])
    assert [round(float(rate.asnumpy()), 6) for rate in optimizer.lrs] == [0.1, 0.2, 0.3, 0.4]
    optim.set_lr(optimizer, 0.5)
    assert optim.get_lr(optimizer) == 0.5


def test_unknown_names_are_refused():
    parameters = network().trainable_params()
    with pytest.raises(ValueError, match="unknown optimizer 'Lion': choose one of ASGD"):
        optim.create_optimizer("Lion", parameters, lr=0.1)
    optimizer = optim.create_optimizer("Adam", parameters, lr=0.1, betas=[0.8, 0.9])
    with pytest.raises(ValueError, match="no scheduler 'WarpLR'"):
        schedules.create_scheduler("WarpLR", optimizer)
    assert schedules.create_scheduler(None, optimizer) is None


ONE_CYCLE = [
    {"total_steps": 20},
    {"epochs": 4, "steps_per_epoch": 6, "anneal_strategy": "linear", "pct_start": 0.25},
    {"total_steps": 21, "three_phase": True, "div_factor": 10.0, "final_div_factor": 100.0},
    {"total_steps": 7, "pct_start": 0.5},
]


@pytest.mark.slow
@pytest.mark.parametrize("options", ONE_CYCLE)
def test_one_cycle_is_pytorchs(run_torch, options):
    theirs = run_torch(f"""
options = {options!r}
w = torch.zeros(1, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.3)
scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.5, cycle_momentum=False, **options)
result = [scheduler.get_last_lr()[0]]
for _ in range(scheduler.total_steps - 1):
    optimizer.step()
    scheduler.step()
    result.append(scheduler.get_last_lr()[0])
""")
    optimizer = optim.create_optimizer("SGD", network().trainable_params(), lr=0.3)
    scheduler = schedules.create_scheduler("OneCycleLR", optimizer, max_lr=0.5, **options)
    ours = [scheduler.get_last_lr()[0]]
    for _ in range(scheduler.total_steps - 1):
        scheduler.step()
        ours.append(scheduler.get_last_lr()[0])
        assert optim.get_lr(optimizer) == np.float32(ours[-1])
    np.testing.assert_allclose(ours, theirs, rtol=1e-12)


def test_one_cycle_refuses_what_it_cannot_do():
    optimizer = optim.create_optimizer("SGD", network().trainable_params(), lr=0.3)
    for options, message in (
        ({}, "needs total_steps"),
        ({"total_steps": 0}, "total_steps > 0"),
        ({"total_steps": 5, "cycle_momentum": True}, "cycle_momentum=False"),
        ({"total_steps": 5, "anneal_strategy": "up"}, "'cos' or 'linear'"),
        ({"total_steps": 5, "max_lr": [0.1, 0.2]}, "2 learning rates for 1"),
    ):
        with pytest.raises(ValueError, match=message):
            schedules.OneCycleLR(optimizer, **{"max_lr": 0.5, **options})
    scheduler = schedules.OneCycleLR(optimizer, 0.5, total_steps=2)
    scheduler.step()
    scheduler.step()
    with pytest.raises(ValueError, match="tried to step 3 times"):
        scheduler.step()


SCHEDULERS = [
    ("StepLR", {"step_size": 2}),
    ("MultiStepLR", {"milestones": [2, 5]}),
    ("ExponentialLR", {"gamma": 0.9}),
    ("CosineAnnealingLR", {"T_max": 5}),
    ("CosineAnnealingWarmRestarts", {"T_0": 3}),
    ("LinearLR", {}),
    ("PolynomialLR", {"total_iters": 6}),
    ("CyclicLR", {"base_lr": 0.01, "max_lr": 0.1, "step_size_up": 3}),
    ("OneCycleLR", {"max_lr": 0.5, "total_steps": 20}),
    ("WarmupLR", {"warmup_steps": 6}),
]


@pytest.mark.parametrize(("name", "options"), SCHEDULERS)
def test_schedules_go_on_exactly(name, options, tmp_path):
    def build():
        optimizer = optim.create_optimizer("SGD", network().trainable_params(), lr=0.1)
        return optimizer, schedules.create_scheduler(name, optimizer, **options)

    def rates(optimizer, scheduler, count):
        found = []
        for _ in range(count):
            scheduler.step()
            found.append(optim.get_lr(optimizer))
        return found

    optimizer, scheduler = build()
    rates(optimizer, scheduler, 3)
    checkpoint.save({"opt": optim.state_dict(optimizer), "sched": schedules.state_dict(scheduler)}, tmp_path / "x")
    expected = rates(optimizer, scheduler, 6)
    optimizer, scheduler = build()
    state = checkpoint.load(tmp_path / "x")
    optim.load_state_dict(optimizer, state["opt"])
    schedules.load_state_dict(scheduler, state["sched"])
    assert rates(optimizer, scheduler, 6) == expected
    assert len(set(expected)) > 1


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("StepLR", {"step_size": 2}),
        ("MultiStepLR", {"milestones": [2, 5]}),
        ("ExponentialLR", {"gamma": 0.9}),
        ("CosineAnnealingLR", {"T_max": 8, "eta_min": 0.001}),
        ("PolynomialLR", {"total_iters": 6, "power": 2.0}),
        ("LinearLR", {}),
    ],
)
def test_schedules_of_classic_optimizers_are_the_same(name, options):
    classic = nn.SGD(network().trainable_params(), learning_rate=0.1)
    modern = optim.create_optimizer("SGD", network().trainable_params(), lr=0.1)
    first, second = (schedules.create_scheduler(name, optimizer, **options) for optimizer in (classic, modern))
    for _ in range(8):
        assert optim.get_lr(classic) == pytest.approx(optim.get_lr(modern), rel=1e-5)
        first.step()
        second.step()


def test_plateau_goes_on_exactly(tmp_path):
    def build():
        optimizer = optim.create_optimizer("SGD", network().trainable_params(), lr=0.1)
        return optimizer, schedules.create_scheduler("ReduceLROnPlateau", optimizer, patience=1)

    losses = [1.0, 0.9, 0.95, 0.96, 0.97, 0.98, 0.99]

    def feed(optimizer, scheduler, values):
        found = []
        for value in values:
            scheduler.step(value)
            found.append(optim.get_lr(optimizer))
        return found

    optimizer, scheduler = build()
    feed(optimizer, scheduler, losses[:3])
    checkpoint.save({"opt": optim.state_dict(optimizer), "sched": schedules.state_dict(scheduler)}, tmp_path / "x")
    expected = feed(optimizer, scheduler, losses[3:])
    optimizer, scheduler = build()
    state = checkpoint.load(tmp_path / "x")
    optim.load_state_dict(optimizer, state["opt"])
    schedules.load_state_dict(scheduler, state["sched"])
    assert feed(optimizer, scheduler, losses[3:]) == expected
    assert min(expected) < 0.05


def test_warm_up_then_another_schedule():
    optimizer = experimental.SGD(network().trainable_params(), lr=0.4)
    after = experimental.lr_scheduler.StepLR(optimizer, 1, gamma=0.5)
    scheduler = schedules.WarmupLR(optimizer, 4, after)
    found = [scheduler.get_last_lr()[0]]
    for _ in range(6):
        scheduler.step()
        found.append(round(scheduler.get_last_lr()[0], 6))
    assert found == [0.0, 0.1, 0.2, 0.3, 0.4, 0.2, 0.1]


def test_lists_of_rates():
    assert schedules.constant_lr(0.1, 3, 2) == [0.05, 0.1, 0.1]
    cosine = schedules.cosine_lr(0.1, 10, warmup_steps=2, min_lr=0.01)
    assert cosine[0] == 0.05
    assert cosine[2] == pytest.approx(0.1)
    assert min(cosine[2:]) == cosine[-1] > 0.01
    assert schedules.step_lr(1.0, 4, [2, 3]) == pytest.approx([1, 1, 0.1, 0.01])
    assert schedules.exponential_lr(1.0, 4, 0.5, 2) == [1, 1, 0.5, 0.5]
    assert schedules.polynomial_lr(1.0, 4) == [1, 0.75, 0.5, 0.25]


@pytest.mark.parametrize("name", ["RMSprop", "Adagrad", "Adadelta", "Adamax", "NAdam", "RAdam", "ASGD", "Rprop"])
def test_a_rate_of_zero_rests(name):
    kind = getattr(optimizers, name)
    own, rest = network().trainable_params(), network().trainable_params()
    optimizer = kind([{"params": own[:2], "lr": 0.5}, {"params": rest[2:]}], lr=0.0)
    assert [float(rate.asnumpy()) for rate in optimizer.lrs] == [0.5, 0.0]
    before = [parameter.asnumpy().copy() for parameter in optimizer.parameters]
    after = take_steps(optimizer, 2)
    same = [
        np.allclose(*pair, rtol=0, atol=1e-5) for pair in zip(before, after, strict=True)
    ]  # Rprop's least step is 1e-6
    assert same == [False, False, True, True]
    assert float(kind(rest, 0).lrs[0].asnumpy()) == 0.0
    assert float(kind(rest, 0.25).lrs[0].asnumpy()) == 0.25
