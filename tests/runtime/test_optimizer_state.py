"""An optimizer's state under PyTorch's names, parameter groups that are added later, and writes that stay in order."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

ms = pytest.importorskip("mindspore")

from mindspore import nn, ops  # noqa: E402
from mindspore.experimental import optim  # noqa: E402

from torch2ms.runtime import checkpoint, groups, initializers, optimizer_state  # noqa: E402
from torch2ms.runtime import optim as optimizers  # noqa: E402
from torch2ms.runtime import optimizers as optimizer_kinds  # noqa: E402
from torch2ms.runtime.adam import Adam  # noqa: E402


def _weight(name: str) -> ms.Parameter:
    return ms.Parameter(ops.ones((2,)), name=name)


def test_the_state_is_empty_before_the_first_step() -> None:
    weight = _weight("w")
    optimizer = Adam([weight], lr=0.1)
    assert optimizer_state.state(optimizer)[weight] == {}
    optimizer((ops.ones((2,)),))
    found = optimizer_state.state(optimizer)[weight]
    assert sorted(found) == ["exp_avg", "exp_avg_sq", "step"]
    assert float(found["step"]) == 1.0
    assert float(found["exp_avg"][0]) == pytest.approx(0.1)


def test_a_state_goes_back_into_another_optimizer() -> None:
    first, second = _weight("a"), _weight("b")
    trained, fresh = Adam([first], lr=0.1), Adam([second], lr=0.1)
    trained((ops.ones((2,)),))
    state = optimizers.state_dict(trained)
    assert float(state["state"][0]["step"]) == 1.0
    optimizers.load_state_dict(fresh, state)
    assert float(optimizer_state.state(fresh)[second]["exp_avg"][0]) == pytest.approx(0.1)


KINDS = ["SGD", "Adam", "AdamW", "Adagrad", "Adadelta", "Adamax", "NAdam", "RAdam", "RMSprop", "Rprop", "ASGD"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_state_read_from_disk_goes_on_as_the_optimizer_that_wrote_it(kind: str, tmp_path: Path) -> None:
    def make() -> tuple[ms.Parameter, ms.Parameter, Any]:
        one, other = _weight("one"), _weight("other")
        options = {"momentum": 0.9} if kind == "SGD" else {}
        parts = [{"params": [one]}, {"params": [other], "lr": 0.2}]
        return one, other, getattr(optimizer_kinds, kind)(parts, lr=0.1, **options)

    gradients = ops.full((2,), 0.5, dtype=ms.float32), ops.full((2,), 2.0, dtype=ms.float32)
    first, second, trained = make()
    trained(gradients)
    trained(gradients)
    groups.param_groups(trained)[1]["weight_decay"] = 0.125
    checkpoint.save({"optimizer": optimizers.state_dict(trained)}, tmp_path / "x.pt")
    again, also, fresh = make()
    again.set_data(first.copy())
    also.set_data(second.copy())
    optimizers.load_state_dict(fresh, checkpoint.load(tmp_path / "x.pt")["optimizer"])
    trained(gradients)
    fresh(gradients)
    assert again.asnumpy().tolist() == first.asnumpy().tolist()
    assert also.asnumpy().tolist() == second.asnumpy().tolist()


def test_the_state_of_an_optimizer_without_steps_begins_anew(tmp_path: Path) -> None:
    checkpoint.save(optimizers.state_dict(Adam([_weight("a")], lr=0.5)), tmp_path / "x.pt")
    weight = _weight("b")
    trained = Adam([weight], lr=0.1)
    trained((ops.ones((2,)),))
    optimizers.load_state_dict(trained, checkpoint.load(tmp_path / "x.pt"))
    assert optimizer_state.state(trained)[weight] == {}
    assert optimizers.get_lr(trained) == 0.5


def test_an_added_group_is_trained() -> None:
    first, second = _weight("a"), _weight("b")
    optimizer = optim.SGD([first], lr=0.1)
    optimizer_state.add_param_group(optimizer, {"params": [second], "lr": 0.5})
    optimizer((ops.ones((2,)), ops.ones((2,))))
    assert first.asnumpy().tolist() == pytest.approx([0.9, 0.9])
    assert second.asnumpy().tolist() == pytest.approx([0.5, 0.5])


def test_a_group_added_after_a_counted_step_is_refused() -> None:
    optimizer = Adam([_weight("a")], lr=0.1)
    optimizer((ops.ones((2,)),))
    with pytest.raises(NotImplementedError, match="has made steps"):
        optimizer_state.add_param_group(optimizer, {"params": [_weight("b")]})


def test_what_was_computed_before_a_tensor_is_filled_keeps_its_value() -> None:
    for _ in range(20):
        tensor = ops.zeros((3, 5))
        before = initializers.constant_(tensor, 2).sum()
        after = initializers.zeros_(tensor).sum()
        assert (float(before), float(after)) == (30.0, 0.0)


def test_parameters_of_another_network_are_told_apart() -> None:
    first, second = _weight("weight"), _weight("weight")
    optimizer = optim.SGD([first], lr=0.1)
    optimizer_state.add_param_group(optimizer, {"params": [second], "lr": 0.5})
    optimizer((ops.ones((2,)), ops.ones((2,))))
    assert [float(p[0]) for p in (first, second)] == pytest.approx([0.9, 0.5])


class _Agent(nn.Cell):
    """A network with its own optimizer, as agents of reinforcement learning are written."""

    def __init__(self, kind: Any, **options: Any) -> None:
        super().__init__()
        self.fc = nn.Dense(2, 1, weight_init="ones", has_bias=False)
        object.__setattr__(self, "opt", kind(self.trainable_params(), **options))

    def learn(self) -> float:
        x = ms.Tensor([[1.0, 2.0]])
        grad_fn = ms.value_and_grad(lambda: self.fc(x).pow(2).mean(), None, self.opt.parameters)
        loss, grads = grad_fn()
        self.opt(grads)
        return float(loss)


@pytest.mark.parametrize(
    ("kind", "options"), [(Adam, {"lr": 0.1}), (optim.Adam, {"lr": 0.1}), (optim.SGD, {"lr": 0.05, "momentum": 0.9})]
)
def test_the_copy_of_a_network_is_trained_by_the_copy_of_its_optimizer(kind: Any, options: Any) -> None:
    agent = _Agent(kind, **options)
    for _ in range(3):
        agent.learn()
    target = copy.deepcopy(agent)
    assert target.opt is not agent.opt
    assert target.opt.parameters[0] is target.fc.weight
    copied = [target.learn() for _ in range(3)]
    assert copied[0] != copied[-1]
    assert [agent.learn() for _ in range(3)] == copied  # untouched by the copy's steps, and with the same moments
