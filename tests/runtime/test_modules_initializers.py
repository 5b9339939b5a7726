"""What a Cell cannot say of its parts, and tensors that are filled in place."""

from __future__ import annotations

import mindspore as ms
import numpy as np
import pytest
from mindspore import nn
from mindspore.experimental import optim

from torch2ms.runtime import initializers, layers, modules, sequences, unbatched, weights
from torch2ms.runtime.mode import OwnMode, trained
from torch2ms.runtime.names import torch_names


def network() -> nn.Cell:
    """Return a network with a BatchNorm, whose statistics Cell counts as parameters."""
    return nn.SequentialCell(nn.Dense(2, 3), nn.BatchNorm1d(3))


def test_what_is_no_cell_is_asked_for_its_own_parameters() -> None:
    class Foreign:
        def parameters(self, recurse: bool = True) -> list[int]:
            return [1] if recurse else []

        def named_parameters(self, prefix: str = "", recurse: bool = True) -> list[tuple[str, int]]:
            return [(f"{prefix}x", 1)]

    assert list(modules.parameters(Foreign())) == [1]
    assert list(modules.parameters(Foreign(), recurse=False)) == []
    assert list(modules.named_parameters(Foreign(), "a.")) == [("a.x", 1)]


def test_parameters_are_weights_without_statistics() -> None:
    net = network()
    assert [name for name, _ in modules.named_parameters(net)] == ["0.weight", "0.bias", "1.weight", "1.bias"]
    assert [name for name, _ in modules.named_buffers(net)] == [
        "1.running_mean",
        "1.running_var",
        "1.num_batches_tracked",
    ]
    assert [name for name, _ in modules.named_buffers(net, "x")][-1] == "x.1.num_batches_tracked"
    assert len(list(net.get_parameters())) == 6


def test_frozen_weights_are_parameters_still() -> None:
    net = modules.requires_grad_(network(), False)
    assert len(list(modules.parameters(net))) == 4
    assert not net.trainable_params()
    modules.requires_grad_(net)
    assert len(net.trainable_params()) == 4  # and the statistics stay as they are


def test_a_buffer_can_be_bound_anew_and_is_no_weight() -> None:
    net = network()
    modules.register_buffer(net, "scale", ms.ops.ones((3,)))
    net.scale = net.scale * 2
    assert net.scale.asnumpy().tolist() == [2.0, 2.0, 2.0]
    assert "scale" in net.state_dict()
    assert "scale" not in dict(modules.named_parameters(net))
    assert "scale" in dict(modules.named_buffers(net))


def test_a_child_that_is_added_runs() -> None:
    net = network()
    modules.add_module(net, "last", nn.Dense(3, 5))
    assert net.set_train(False)(ms.ops.ones((4, 2))).shape == (4, 5)
    assert "last.weight" in net.state_dict()


def test_paths_may_end_in_pytorchs_names() -> None:
    net = network()
    assert modules.get_parameter(net, "1.weight") is net[1].gamma
    assert modules.get_buffer(net, "1.running_mean") is net[1].moving_mean
    assert modules.weight(net[1]) is net[1].gamma
    with pytest.raises(AttributeError, match="no parameter"):
        modules.get_parameter(net, "1.nothing")


@pytest.mark.parametrize("kind", [ms.Tensor, ms.Parameter])
def test_uniform_fills_in_place(kind: type) -> None:
    tensor = kind(ms.ops.zeros((100, 100)))
    assert initializers.uniform_(tensor, 2.0, 3.0) is tensor
    values = tensor.asnumpy()
    assert 2.0 <= values.min() < 2.01
    assert 2.99 < values.max() <= 3.0


def test_unknown_nonlinearities_are_refused() -> None:
    with pytest.raises(ValueError, match="softsign"):
        initializers.calculate_gain("softsign")


def test_sequences_of_unequal_length() -> None:
    rows = [ms.Tensor([1.0]), ms.Tensor([2.0, 3.0])]
    assert sequences.pad_sequence(rows, batch_first=True, padding_value=9.0).asnumpy().tolist() == [[1, 9], [2, 3]]
    parameters = [ms.Parameter(ms.ops.zeros((2,)), name="a"), ms.Parameter(ms.ops.zeros((1, 1)), name="b")]
    sequences.vector_to_parameters(ms.Tensor(np.arange(3, dtype=np.float32)), parameters)
    assert sequences.parameters_to_vector(parameters).asnumpy().tolist() == [0, 1, 2]


def test_weights_of_two_networks_get_names_of_their_own() -> None:
    first, second = nn.Dense(2, 3), nn.Dense(2, 3)
    both = modules.distinct([*first.trainable_params(), *second.trainable_params()])
    assert [parameter.name for parameter in both] == ["weight", "bias", "weight.2", "bias.2"]
    assert both[2] is second.weight
    groups = modules.distinct([{"params": first.weight, "lr": 0.1}, {"params": iter([second.weight])}])
    assert groups[0] == {"params": [first.weight], "lr": 0.1}
    assert [parameter.name for parameter in modules.distinct(both)] == ["weight", "bias", "weight.2", "bias.2"]


def test_a_dictionary_of_cells_takes_containers() -> None:
    cells = layers.ModuleDict({"a": nn.Dense(2, 3), "b": nn.CellList([nn.Dense(3, 4)])})
    cells["c"] = nn.SequentialCell(nn.ReLU(), nn.Dense(4, 5))
    assert list(cells) == ["a", "b", "c"] == list(cells.keys())
    assert [name for name, _ in cells.parameters_and_names()][::2] == ["a.weight", "b.0.weight", "c.1.weight"]
    assert cells.a is cells["a"]
    del cells["a"]
    assert (len(cells), "a" in cells, len(cells.values())) == (2, False, 2)
    assert cells.pop("b")[0].weight.name == "b.0.weight"


def test_what_is_put_into_empty_containers_is_named_by_its_place() -> None:
    def block() -> nn.Cell:
        return nn.SequentialCell(nn.Dense(2, 2), nn.Dense(2, 2))

    net = nn.Cell()
    net.downs, net.ups, net.heads, net.tails = (
        layers.ModuleList(), layers.ModuleList(), layers.ModuleDict(), layers.ModuleDict()
    )  # fmt: skip
    for _ in range(2):
        net.downs.append(block())
        net.ups.append(block())
    net.ups.insert(0, block())
    net.heads["a"] = block()
    net.tails.update({"a": block()})
    whole = nn.CellList([net])
    assert [p.name for p in whole.get_parameters()] == [name for name, _ in whole.parameters_and_names()]
    optim.SGD(whole.trainable_params(), lr=0.1)


def test_parts_that_were_set_to_eval_mode_stay_so_in_a_new_network() -> None:
    net = trained(nn.SequentialCell(nn.Dense(3, 3), nn.SequentialCell(nn.Dropout(p=0.5)).set_train(False), Frozen()))
    assert [net.training, net[0].training, net[1].training, net[1][0].training] == [True, True, False, False]
    assert net[2].training
    net.set_train()
    assert net[1][0].training


class Frozen(OwnMode, nn.Cell):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(2)
        self.calls = 0

    def set_train(self, mode=True):
        super().set_train(mode)
        self.norm.set_train(False)
        self.calls += 1
        return self


def test_a_set_train_of_its_own_is_called_for_a_part():
    net = nn.SequentialCell(Frozen(), nn.BatchNorm1d(2))
    net.set_train()
    assert (net[0].training, net[0].norm.training, net[1].training, net[0].calls) == (True, False, True, 1)
    net[0].set_train(False)
    assert (net[0].training, net[0].calls) == (False, 2)


def test_a_set_train_that_returns_nothing_gives_the_network():
    class Quiet(Frozen):
        def set_train(self, mode=True):
            super().set_train(mode)

    net = Quiet()
    assert net.set_train() is net


def test_weights_of_renamed_parts_have_their_source_names():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.cells_ = nn.CellList([nn.Dense(2, 2), nn.LayerNorm([2])])
            self.phase_ = ms.Parameter(ms.Tensor([1.0]), name="phase_")

    net = Net()
    wanted = {"cells.0.weight", "cells.0.bias", "cells.1.weight", "cells.1.bias", "phase"}
    rules = {
        "mindspore.nn.Dense": {"state": "same"},
        "mindspore.nn.LayerNorm": {"state": {"weight": "gamma", "bias": "beta"}},
    }
    assert {entry.torch for entry in weights.key_map(net, rules).entries} == wanted
    named = {path for path, _ in net.parameters_and_names()}
    assert {torch_names(net).get(path, path) for path in named} == wanted


def test_a_child_may_have_any_name():
    net = nn.SequentialCell()
    modules.add_module(net, "first one", nn.Dense(2, 2))
    assert [name for name, _ in net.parameters_and_names()] == ["first one.weight", "first one.bias"]
    assert [parameter.name for parameter in net.trainable_params()] == ["first_one.weight", "first_one.bias"]
    assert net(ms.Tensor([[1.0, 2.0]])).shape == (1, 2)


def test_a_mode_set_through_any_base_is_set_once():
    calls = []

    class Own(OwnMode, nn.Dense):
        def set_train(self, mode=True):
            nn.Dense.set_train(self, mode)
            calls.append(mode)
            return self

    network = nn.SequentialCell(Own(2, 2))
    calls.clear()
    network.set_train()
    assert calls == [True]
    assert network[0].training


def test_a_network_in_bfloat16_computes_on_cpu_with_rounded_weights() -> None:
    net = nn.Dense(2, 1)
    net.weight.set_data(ms.Tensor([[1.001, 2.0]], ms.float32))
    with pytest.warns(UserWarning, match="bfloat16 on CPU"):
        modules.cast(net, ms.bfloat16)
    assert net.weight.dtype == ms.float32
    assert net.weight.asnumpy().tolist() == [[1.0, 2.0]]
    assert net(ms.Tensor([[1.0, 1.0]], ms.float32)).shape == (1, 1)


def test_weights_that_pytorchs_layer_lacks_are_not_missed() -> None:
    norm = layers.GroupNorm(3, 3, affine=False)
    assert modules.state_dict(norm) == {}
    assert modules.load_state_dict(norm, {}).missing_keys == []


def test_a_sequence_of_layers_is_handed_one_sample() -> None:
    net = nn.SequentialCell(nn.Conv2d(1, 2, 3, pad_mode="pad"), nn.ReLU())
    assert unbatched.run(net, ms.ops.ones((1, 6, 6))).shape == (2, 4, 4)
    assert unbatched.run(net, ms.ops.ones((5, 1, 6, 6))).shape == (5, 2, 4, 4)


def test_statistics_that_a_class_of_its_own_registers_are_the_layers() -> None:
    norm = nn.BatchNorm2d(3)
    modules.register_buffer(norm, "running_mean", ms.ops.zeros((6,)))
    assert norm.moving_mean.shape == norm.running_mean.shape == (6,)
    assert norm.moving_mean is norm.running_mean


def test_a_normal_distribution_is_cut_off_far_from_its_mean() -> None:
    weight = initializers.trunc_normal_(ms.Parameter(ms.ops.zeros((100, 50))), std=0.05, a=1.0).asnumpy()
    assert weight.min() >= 1.0
    assert abs(weight.mean() - 1.0025) < 2e-4
    near = initializers.trunc_normal_(ms.Parameter(ms.ops.zeros((100, 50))), mean=3.0, a=-1.0, b=1.0).asnumpy()
    assert near.min() >= -1.0
    assert near.max() <= 1.0
    assert abs(near.mean() - 0.6312) < 0.03
