"""Normalised weights, beyond what the examples of the mapping tables show."""

from __future__ import annotations

import copy
from pathlib import Path

import numpy as np
import pytest

ms = pytest.importorskip("mindspore")

from mindspore import nn  # noqa: E402

from torch2ms.runtime import checkpoint, layers  # noqa: E402


def names(cell: nn.Cell) -> list[str]:
    return [parameter.name for parameter in cell.get_parameters()]


def test_a_table_of_embeddings_is_normalised_as_any_weight() -> None:
    ms.set_seed(1)  # of singular values that lie side by side one is found slowly
    table = layers.spectral_norm(layers.Embedding(5, 3), n_power_iterations=100)
    assert names(table) == ["weight_orig", "weight_u", "weight_v"]
    found = table.set_train()(ms.Tensor([1, 2])).asnumpy()
    weight = table.weight_orig.asnumpy()
    np.testing.assert_allclose(found, (weight / np.linalg.norm(weight, 2))[[1, 2]], rtol=1e-5)
    layers.remove_spectral_norm(table)
    assert names(table) == ["embedding_table"]
    np.testing.assert_allclose(table(ms.Tensor([1, 2])).asnumpy(), found, rtol=1e-5)


def test_layers_of_both_packages_keep_their_own_classes() -> None:
    for embedding in (layers.Embedding, nn.Embedding, layers.Embedding):
        wrapped = layers.spectral_norm(embedding(5, 3))
        assert type(wrapped).__mro__[2] is embedding
        assert wrapped(ms.Tensor([1, 2])).shape == (2, 3)


def test_a_weight_that_is_drawn_anew_before_the_first_call_is_the_one_that_is_normalised() -> None:
    layer = layers.spectral_norm(nn.Dense(3, 4))
    layer.weight.set_data(ms.ops.ones((4, 3)))
    np.testing.assert_array_equal(layer.weight_orig.asnumpy(), np.ones((4, 3), np.float32))
    layer(ms.ops.ones((1, 3)))
    np.testing.assert_array_equal(layer.weight_orig.asnumpy(), np.ones((4, 3), np.float32))


@pytest.mark.parametrize("count", [np.int64(2), np.int32(2)])
def test_widths_and_kernels_counted_with_numpy_are_numbers(count: np.integer) -> None:
    x = ms.Tensor(np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4))
    assert layers.ReflectionPad2d(count)(x).shape == (1, 1, 8, 8)
    assert layers.Conv2d(1, 2, count, stride=count, padding=count)(x).shape == (1, 2, 4, 4)


class Scaled(nn.Cell):
    """A parametrization with a weight of its own, which knows what gives the first values."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = ms.Parameter(ms.ops.ones(1) * 2)

    def construct(self, x: ms.Tensor) -> ms.Tensor:
        return x * self.scale

    def right_inverse(self, x: ms.Tensor) -> ms.Tensor:
        return x / self.scale


def test_a_parametrization_of_the_program_s_own() -> None:
    layer = nn.Dense(3, 4)
    before = layer.weight.asnumpy().copy()
    layers.register_parametrisation(layer, "weight", Scaled())
    found = [name for name, _ in layer.parameters_and_names()]
    assert sorted(found) == ["bias", "parametrizations.weight.0.scale", "parametrizations.weight.original"]
    assert isinstance(layer, nn.Dense)
    np.testing.assert_allclose(layer.weight.asnumpy(), before, rtol=1e-6)
    layer.parametrizations.weight.original.set_data(ms.ops.ones((4, 3)))
    np.testing.assert_array_equal(layer.weight.asnumpy(), np.full((4, 3), 2, np.float32))  # computed when asked for
    layers.register_parametrisation(layer, "weight", nn.Tanh())
    assert "weight" in layer.parametrizations
    assert "bias" not in layer.parametrizations
    assert isinstance(layer.parametrizations["weight"][1], nn.Tanh)
    assert len(layer.parametrizations.weight) == 2
    np.testing.assert_allclose(layer(ms.ops.eye(3)).asnumpy() - layer.bias.asnumpy(), np.tanh(2), rtol=1e-5)
    layers.remove_parametrisations(layer, "weight")
    assert type(layer) is nn.Dense
    assert not layers.is_parametrised(layer)
    np.testing.assert_allclose(layer.weight.asnumpy(), np.tanh(2), rtol=1e-5)


def test_parameters_of_layers_that_a_network_has_already_are_named_by_their_path() -> None:
    net = nn.SequentialCell(nn.Dense(2, 2), nn.Dense(2, 2))
    for layer in (net[0], net[1]):
        layers.weight_norm(layer)
        layers.register_parametrisation(layer, "bias", nn.Tanh())
    assert names(net) == [name for name, _ in net.parameters_and_names()]
    assert len(set(names(net))) == 6


@pytest.mark.parametrize(("dim", "shape"), [(-3, (4, 1, 1, 1)), (-2, (1, 3, 1, 1)), (0, (4, 1, 1, 1))])
def test_an_axis_from_the_end_is_counted_in_torchs_weight(dim: int, shape: tuple[int, ...]) -> None:
    layer = layers.weight_norm(nn.Conv1d(3, 4, 3, pad_mode="valid"), dim=dim)
    assert shape in [parameter.shape for parameter in layer.trainable_params()]


def parametrised() -> nn.Cell:
    layer = layers.register_parametrisation(nn.Dense(3, 4), "weight", nn.Tanh())
    return layers.register_parametrisation(layer, "bias", nn.Tanh())


NORMALISED = {
    "weight_norm": lambda: layers.weight_norm(nn.Dense(3, 4)),
    "parametrised_weight_norm": lambda: layers.parametrised_weight_norm(nn.Dense(3, 4)),
    "spectral_norm": lambda: layers.spectral_norm(nn.Dense(3, 4)),
    "parametrised_spectral_norm": lambda: layers.parametrised_spectral_norm(nn.Dense(3, 4)),
    "parametrisation": parametrised,
    "pruning": lambda: layers.pruning.l1_unstructured(nn.Dense(3, 4), "weight", 0.5),
}


@pytest.mark.parametrize("kind", NORMALISED)
def test_a_copy_computes_its_weights_from_its_own_parameters(kind: str, tmp_path: Path) -> None:
    network = nn.SequentialCell(NORMALISED[kind]()).set_train(False)
    x = ms.Tensor(np.arange(6, dtype=np.float32).reshape(2, 3))
    before = network(x).asnumpy()
    checkpoint.save(network, tmp_path / "whole.pt")
    copies = [copy.deepcopy(network), checkpoint.load(tmp_path / "whole.pt")]
    for parameter in network.get_parameters():
        parameter.set_data(parameter * 3 + 1)
    for copied in copies:
        np.testing.assert_array_equal(copied(x).asnumpy(), before)
        assert names(copied) == names(network)
        assert type(copied[0]) is type(network[0])


def test_a_programs_own_way_of_pruning_goes_on_from_what_is_kept() -> None:
    class Other(layers.pruning.BasePruningMethod):
        def compute_mask(self, t: ms.Tensor, default_mask: ms.Tensor) -> ms.Tensor:
            mask = default_mask.copy()
            mask.view(-1)[::2] = 0
            return mask

    class Columns(Other):
        PRUNING_TYPE, dim = "structured", 1

        def compute_mask(self, t: ms.Tensor, default_mask: ms.Tensor) -> ms.Tensor:
            seen.append(t.shape)
            return default_mask

    seen: list[tuple[int, ...]] = []
    layer = nn.Dense(4, 2)
    layers.pruning.custom_from_mask(layer, "weight", ms.Tensor([[1.0, 0, 1, 1], [1, 0, 1, 1]]))
    method = Other.apply(layer, "weight")
    assert layer.weight_mask.asnumpy().tolist() == [[0, 0, 1, 0], [1, 0, 0, 1]]
    Columns.apply(layer, "weight")
    assert seen == [(2, 3)]  # a column of which nothing is kept is not asked about
    method.remove(layer)
    assert not layers.pruning.is_pruned(layer)
    with pytest.raises(TypeError, match="only unstructured"):
        layers.pruning.global_unstructured([(layer, "weight")], Columns)


def test_what_is_pruned_is_a_copy() -> None:
    values = ms.Tensor([3.0, -1.0, 2.0, 0.5])
    method = layers.pruning.L1Unstructured(amount=2)
    assert method.prune(values).asnumpy().tolist() == [3.0, 0.0, 2.0, 0.0]
    assert method.prune(values, importance_scores=-1 / values).asnumpy().tolist() == [0.0, -1.0, 0.0, 0.5]
    assert method.prune(values, ms.Tensor([0.0, 1, 1, 1])).asnumpy().tolist() == [0.0, 0.0, 2.0, 0.0]
