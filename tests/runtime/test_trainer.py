"""The trainer of the guides and its losses, on the CPU."""

from __future__ import annotations

import mindspore as ms
import numpy as np
import pytest
from mindspore import nn

from torch2ms.runtime import amp, optim, schedules
from torch2ms.runtime.checkpoint import CheckpointStore
from torch2ms.runtime.losses import DenseCrossEntropy, SparseCrossEntropy
from torch2ms.runtime.metrics import Top
from torch2ms.runtime.trainer import Trainer

RANDOM = np.random.RandomState(3)
LOGITS = RANDOM.standard_normal((6, 5)).astype(np.float32)
LABELS = RANDOM.randint(0, 5, 6)
SHARES = (lambda x: x / x.sum(1, keepdims=True))(RANDOM.rand(6, 5)).astype(np.float32)


def test_smoothed_losses_are_pytorchs(run_torch):
    theirs = run_torch(f"""
logits, labels, shares = torch.tensor({LOGITS.tolist()}), torch.tensor({LABELS.tolist()}), torch.tensor({SHARES.tolist()})
result = []
for target in (labels, shares):
    for smoothing in (0.0, 0.1):
        for reduction in ("mean", "sum", "none"):
            x = logits.clone().requires_grad_()
            loss = torch.nn.functional.cross_entropy(x, target, label_smoothing=smoothing, reduction=reduction)
            loss.sum().backward()
            result.append([loss.reshape(-1).tolist(), x.grad.tolist()])
""")  # noqa: E501
    place = iter(theirs)
    for loss, target in ((SparseCrossEntropy, LABELS), (DenseCrossEntropy, SHARES)):
        for smoothing in (0.0, 0.1):
            for reduction in ("mean", "sum", "none"):
                cell = loss(smoothing, reduction)
                grad_fn = ms.value_and_grad(lambda x, cell=cell, target=target: cell(x, ms.Tensor(target)).sum())
                value, gradient = next(place)
                ours = cell(ms.Tensor(LOGITS), ms.Tensor(target)).asnumpy().reshape(-1)
                np.testing.assert_allclose(ours, value, rtol=1e-5)
                np.testing.assert_allclose(grad_fn(ms.Tensor(LOGITS))[1].asnumpy(), gradient, atol=2e-6)
    with pytest.raises(ValueError, match="outside"):
        SparseCrossEntropy(1.5)
    with pytest.raises(ValueError, match="reduction"):
        SparseCrossEntropy(0.1, "average")


class Two(nn.Cell):
    """A class and a size of each point."""

    def __init__(self):
        super().__init__()
        self.body = nn.SequentialCell(nn.Dense(4, 16), nn.BatchNorm1d(16), nn.ReLU())
        self.kind, self.size = nn.Dense(16, 3), nn.Dense(16, 1)

    def construct(self, x):
        x = self.body(x)
        return self.kind(x), self.size(x)[:, 0]


class KindsRight(Top):
    def update(self, outputs, labels):
        super().update(outputs[0], labels[0])


POINTS = RANDOM.standard_normal((60, 4)).astype(np.float32)
KINDS = (POINTS[:, 0] > 0).astype(np.int32) + (POINTS[:, 1] > 0)
SIZES = POINTS.sum(1)


def batches(epoch):
    order = np.random.RandomState(epoch).permutation(60)
    for start in range(0, 60, 20):
        part = order[start : start + 20]
        yield ms.Tensor(POINTS[part]), (ms.Tensor(KINDS[part]), ms.Tensor(SIZES[part]))


def trainer(folder=None, **options):
    network = Two()
    random = np.random.RandomState(2)
    for weight in network.trainable_params():
        if not weight.name.endswith("gamma"):  # what seeds give depends on what ran before in the process
            weight.set_data(ms.Tensor(0.5 * random.standard_normal(weight.shape).astype(np.float32)))
    groups = optim.group_parameters(network, 1e-3)
    optimizer = optim.create_optimizer("SGD", groups, lr=0.1, momentum=0.9)
    mean = nn.MSELoss()
    return Trainer(
        network,
        {
            "class": lambda outputs, labels: SparseCrossEntropy(0.1)(outputs[0], labels[0]),
            "size": (lambda outputs, labels: mean(outputs[1], labels[1]), 0.5),
        },
        optimizer,
        metric=KindsRight(),
        scheduler=schedules.create_scheduler("StepLR", optimizer, step_size=4, gamma=0.5),
        store=CheckpointStore(folder) if folder else None,
        watch="top1",
        **options,
    )


def test_two_losses_a_metric_and_the_best_checkpoint(tmp_path):
    made = trainer(tmp_path, clip_norm=5.0)
    history = made.fit(batches, 6, batches)
    for figures in history:
        assert figures["loss"] == pytest.approx(figures["class"] + 0.5 * figures["size"], rel=1e-5)
    assert history[-1]["loss"] < 0.5 * history[0]["loss"]
    assert history[-1]["eval_top1"] > 0.7
    assert made.state.best == pytest.approx(max(figures["eval_top1"] for figures in history))
    assert (made.store.best_path).exists()
    assert optim.get_lr(made.optimizer) == pytest.approx(0.05)
    with pytest.raises(ValueError, match="evaluate on"):
        trainer().fit(batches, 1)
    again = trainer(tmp_path)
    more = again.fit(batches, 7, batches)  # goes on where the first has ended
    assert len(more) == 1
    assert more[0]["loss"] < history[0]["loss"]


def test_decay_is_left_off_normalization_and_biases():
    groups = optim.group_parameters(Two(), 1e-3)
    decayed = {parameter.name.rpartition(".")[2] for parameter in groups[0]["params"]}
    plain = {parameter.name.rpartition(".")[2] for parameter in groups[1]["params"]}
    assert (decayed, plain) == ({"weight"}, {"bias", "gamma", "beta"})
    assert [group["weight_decay"] for group in groups] == [1e-3, 0.0]


def test_scales_and_reducers_change_no_number():
    plain = trainer().fit(batches, 2, batches)
    seen = []

    def reduce(grads):
        seen.append(len(grads))
        return grads

    assert trainer(reducer=reduce).fit(batches, 2, batches)[-1]["loss"] == pytest.approx(plain[-1]["loss"], rel=1e-6)
    assert len(seen) == 6
    for scaler in (amp.create_loss_scaler(scale=512.0, dynamic=False), amp.create_loss_scaler(dynamic=True)):
        scaled = trainer(scaler=scaler).fit(batches, 2, batches)
        assert scaled[-1]["loss"] == pytest.approx(plain[-1]["loss"], rel=1e-4)


def test_steps_that_overflow_are_left_out():
    made = trainer(scaler=amp.create_loss_scaler(scale=2.0**10, dynamic=True))
    before = made.network.kind.weight.asnumpy().copy()
    data, labels = next(iter(batches(0)))
    made.network.set_train()
    made.step(data * float("inf"), labels)
    np.testing.assert_array_equal(made.network.kind.weight.asnumpy(), before)
    assert float(made.scaler.scale_value.asnumpy()) == 2.0**9
