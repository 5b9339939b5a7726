from __future__ import annotations

import mindspore as ms
import numpy as np
import pytest
from mindspore import nn

from torch2ms.runtime import amp, checkpoint, optim, schedules, seed
from torch2ms.runtime.checkpoint import CheckpointStore
from torch2ms.runtime.pipeline import Pipeline
from torch2ms.runtime.synthetic import SyntheticImages
from torch2ms.runtime.train import TrainState, build_eval_step, build_train_step, evaluate
from torch2ms.runtime.transforms import RandomCrop, ToTensor, build


class Small(nn.Cell):
    def __init__(self, drop=0.0):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, 2, pad_mode="pad", padding=1)
        self.bn = nn.BatchNorm2d(4)
        self.flatten = nn.Flatten()
        self.drop = nn.Dropout(p=drop)
        self.fc = nn.Dense(4 * 8 * 8, 10)

    def construct(self, x):
        return self.fc(self.drop(self.flatten(self.bn(self.conv(x)))))


def images(train=True, transform=("RandomCrop", "ToTensor")):
    specs = [{"RandomCrop": {"size": 16, "padding": 2}} if name == "RandomCrop" else name for name in transform]
    known = {"RandomCrop": RandomCrop, "ToTensor": ToTensor}
    return SyntheticImages(48, train, build(specs, known), image_size=16)


def begin(drop=0.0, name="Adam"):
    seed.set_seed(4)
    network = Small(drop)
    optimizer = optim.create_optimizer(name, network.trainable_params(), lr=0.01)
    scheduler = schedules.create_scheduler("StepLR", optimizer, step_size=1, gamma=0.5)
    return TrainState(network, optimizer, scheduler)


def run(state, epochs, pipeline, jit=False):
    step = build_train_step(state.network, nn.CrossEntropyLoss(), state.optimizer, jit)
    losses = []
    while state.epoch < epochs:
        seed.start_epoch(state.network, 4, state.epoch)
        state.network.set_train()
        for data, label in pipeline.batches(state.epoch, state.step):
            losses.append(float(step(data, label)[0].asnumpy()))
        state.scheduler.step()
        state.epoch += 1
    return losses


def weights(state):
    return {name: value.asnumpy().copy() for name, value in checkpoint.weights_of(state.network).items()}


@pytest.mark.slow
@pytest.mark.parametrize("jit", [False, True])
def test_resuming_is_the_same_as_never_stopping(tmp_path, jit):
    pipeline = Pipeline(images(), 16, shuffle=True, seed=9)
    whole = begin()
    losses = run(whole, 3, pipeline, jit)

    first = begin()
    start = run(first, 1, pipeline, jit)
    store = CheckpointStore(tmp_path)
    first.save(store)
    seed.set_seed(77)
    second = begin(name="Adam")
    seed.set_seed(78)
    assert second.resume(store)
    rest = run(second, 3, pipeline, jit)
    assert start + rest == losses
    for name, value in weights(whole).items():
        np.testing.assert_array_equal(weights(second)[name], value, err_msg=name)
    assert optim.get_lr(second.optimizer) == optim.get_lr(whole.optimizer)


def test_dropout_starts_anew_with_every_epoch():
    def mask(epoch):
        layer = nn.Dropout(p=0.5)
        layer.set_train()
        seed.start_epoch(layer, 3, epoch)
        return [layer(ms.Tensor(np.ones((4, 8), np.float32))).asnumpy().tolist() for _ in range(2)]

    assert mask(1) == mask(1)
    assert mask(1) != mask(2)
    first, second = mask(1)
    assert first != second


def test_an_epoch_that_goes_on_in_the_middle():
    pipeline = Pipeline(images(), 16, shuffle=True, seed=1)
    whole = [data.asnumpy() for data, _ in pipeline.batches(2)]
    rest = [data.asnumpy() for data, _ in pipeline.batches(2, first_step=1)]
    assert len(whole) == len(pipeline) == 3
    np.testing.assert_array_equal(whole[1:], rest)
    assert not np.array_equal(whole[0], next(iter(pipeline.batches(3)))[0].asnumpy())


def test_ranks_share_the_order_of_one_process():
    dataset = images(transform=("ToTensor",))
    one = [label.asnumpy().tolist() for _, label in Pipeline(dataset, 16, True, True, seed=3).batches(1)]
    two = [
        [label.asnumpy().tolist() for _, label in Pipeline(dataset, 8, True, True, 3, 1, rank, 2).batches(1)]
        for rank in range(2)
    ]
    assert [sorted(first + second) for first, second in zip(*two, strict=True)] == [sorted(batch) for batch in one]
    uneven = [Pipeline(dataset, 10, rank=rank, world_size=5) for rank in range(5)]
    assert sum(len(label) for part in uneven for _, label in part.batches()) == 48
    assert [len(part) for part in uneven] == [len(list(part.batches())) for part in uneven]


def test_labels_are_int32_and_workers_change_nothing():
    one, two = Pipeline(images(), 16, True, seed=2), Pipeline(images(), 16, True, seed=2, num_workers=2)
    for (data, label), (data2, label2) in zip(one.batches(), two.batches(), strict=True):
        assert label.dtype == ms.int32
        np.testing.assert_array_equal(data.asnumpy(), data2.asnumpy())
        np.testing.assert_array_equal(label.asnumpy(), label2.asnumpy())


@pytest.mark.slow
def test_compiled_and_eager_steps_agree_and_modes_are_kept_apart():
    pipeline = Pipeline(images(transform=("ToTensor",)), 16)
    results = []
    for jit in (False, True):
        state = begin(drop=0.0)
        losses = run(state, 2, pipeline, jit)
        eval_step = build_eval_step(state.network, nn.CrossEntropyLoss(), jit)
        before = evaluate(state.network, eval_step, pipeline.batches())
        assert state.network.training
        statistics = state.network.bn.moving_mean.asnumpy().copy()
        after = evaluate(state.network, eval_step, pipeline.batches())
        np.testing.assert_array_equal(statistics, state.network.bn.moving_mean.asnumpy())
        assert before == after
        results.append((*losses, *before.values()))
    np.testing.assert_allclose(results[0], results[1], rtol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("jit", [False, True])
def test_mixed_precision_trains_and_keeps_names_and_float32_weights(jit):
    pipeline = Pipeline(images(transform=("ToTensor",)), 16)
    outcomes = {}
    for level in amp.LEVELS:
        state = begin(name="SGD")
        names = [parameter.name for parameter in state.network.get_parameters()]
        saved = list(checkpoint.weights_of(state.network))
        cell, scaler = amp.cast_network(state.network, level), amp.create_loss_scaler(level)
        assert list(checkpoint.weights_of(state.network)) == saved
        assert [parameter.name for parameter in state.network.get_parameters()] == names
        step = build_train_step(cell, nn.CrossEntropyLoss(), state.optimizer, jit, scaler=scaler)
        cell.set_train()
        losses = []
        for epoch in range(3):
            for data, label in pipeline.batches(epoch):
                loss, logits = step(data, label)
                assert logits.dtype == ms.float32
                losses.append(float(loss.asnumpy()))
        assert losses[-1] < losses[0]
        assert all(parameter.dtype == ms.float32 for parameter in state.network.trainable_params())
        outcomes[level] = losses
    assert outcomes["O2"] != outcomes["O0"]
    np.testing.assert_allclose(outcomes["O2"], outcomes["O0"], rtol=0.02)


def test_steps_that_overflow_are_left_out():
    network = nn.Dense(2, 1)
    optimizer = optim.create_optimizer("SGD", network.trainable_params(), lr=0.1)
    scaler = amp.create_loss_scaler("O2", scale=2.0**10, window=2)
    step = build_train_step(network, nn.MSELoss(), optimizer, scaler=scaler)
    before = network.weight.asnumpy().copy()
    step(ms.Tensor([[1e30, 1.0]]), ms.Tensor([[1e38]]))
    np.testing.assert_array_equal(network.weight.asnumpy(), before)
    assert float(scaler.scale_value.asnumpy()) == 2.0**9
    state = amp.scaler_state(scaler)
    step(ms.Tensor([[1.0, 1.0]]), ms.Tensor([[0.5]]))
    assert not np.array_equal(network.weight.asnumpy(), before)
    amp.load_scaler_state(scaler, state)
    assert int(scaler.counter.asnumpy()) == int(state["counter"])


def test_scalers_of_the_levels():
    assert amp.create_loss_scaler("O0") is None
    assert hasattr(amp.create_loss_scaler("O1"), "counter")
    assert not hasattr(amp.create_loss_scaler("O3"), "counter")
    with pytest.raises(ValueError, match="unknown mixed precision level 'O9'"):
        amp.cast_network(nn.Dense(1, 1), "O9")


def test_gradients_are_clipped_and_reduced():
    network = nn.Dense(2, 1, has_bias=False)
    network.weight.set_data(ms.Tensor([[0.0, 0.0]]))
    optimizer = optim.create_optimizer("SGD", network.trainable_params(), lr=1.0)
    step = build_train_step(network, nn.MSELoss(), optimizer, clip_norm=0.5, reducer=lambda grads: grads)
    step(ms.Tensor([[3.0, 4.0]]), ms.Tensor([[10.0]]))
    np.testing.assert_allclose(network.weight.asnumpy(), [[0.3, 0.4]], rtol=1e-4)


def test_best_metric():
    state = begin()
    assert [state.improve(value) for value in (0.5, 0.4, 0.6, 0.6)] == [True, False, True, False]
    assert state.capture()["best"] == 0.6


def test_resume_without_a_checkpoint(tmp_path):
    assert not begin().resume(CheckpointStore(tmp_path / "none"))


def test_the_gradient_of_a_weight():
    from torch2ms.runtime import autograd

    network = ms.nn.Dense(2, 3)
    grads = (ms.Tensor([1.0]), ms.Tensor([2.0]))
    weights = network.trainable_params()
    assert autograd.gradient_of(network.bias, weights, grads) is grads[1]
    assert autograd.gradient_of(network.bias, weights, None) is None
    with pytest.raises(ValueError, match="does not train it"):
        autograd.gradient_of(network.bias, weights[:1], grads[:1])
    network.bias.requires_grad = False
    assert autograd.gradient_of(network.bias, weights[:1], grads[:1]) is None
