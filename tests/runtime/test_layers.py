from __future__ import annotations

import inspect

import mindspore as ms
import numpy as np
import pytest
from mindspore import Parameter, Tensor, nn, ops

from torch2ms.mapping_tables.loader import load
from torch2ms.runtime import layers, resets, settings

RANDOM = np.random.RandomState(3)


def normal(*shape):
    return Tensor(RANDOM.randn(*shape).astype(np.float32))


def as_tuple(value):
    return value if isinstance(value, tuple) else (value,)


def adapters():
    found = {}
    for row in load().rows():
        if row.adapter.startswith("torch2ms.runtime.layers.") and row.kind == "class":
            found[row.name] = row.adapter.rpartition(".")[2]
    return sorted(found.items())


@pytest.mark.parametrize(("torch_name", "name"), adapters())
def test_adapters_take_torchs_arguments(torch_name, name):
    tables = load()
    wanted = tables.signature(torch_name)
    assert wanted is not None
    ours = inspect.signature(getattr(layers, name)).parameters
    if any(item.kind == item.VAR_KEYWORD for item in ours.values()):
        return
    place = list(ours)
    for index, parameter in enumerate(wanted.parameters):
        if parameter.kind in ("var_positional", "var_keyword"):
            continue
        if parameter.name == "bias" and parameter.kind == "keyword":
            continue  # the norm layers' new option, which MindSpore's layers lack
        assert parameter.name in ours, parameter.name
        if parameter.kind == "positional":
            assert place[index] == parameter.name


@pytest.mark.parametrize(
    ("padding", "expected"), [(1, 1), ((1, 2), (1, 1, 2, 2)), ([3, 0], (3, 3, 0, 0)), ((2,), (2, 2, 2, 2))]
)
def test_pair_to_tblr(padding, expected):
    assert layers.pair_to_tblr(padding) == expected


def test_triple_to_6():
    assert layers.triple_to_6(2) == 2
    assert layers.triple_to_6((0, 1, 2)) == (0, 0, 1, 1, 2, 2)


@pytest.mark.parametrize("kernel", [2, 3, 4, (3, 2)])
@pytest.mark.parametrize("dilation", [1, 2])
def test_same_padding_keeps_the_size(kernel, dilation):
    layer = layers.Conv2d(2, 3, kernel, padding="same", dilation=dilation)
    assert layer(normal(1, 2, 7, 6)).shape == (1, 3, 7, 6)


def test_same_padding_puts_the_odd_place_at_the_end():
    layer = layers.Conv1d(1, 1, 2, padding="same", bias=False)
    layer.weight.set_data(ops.ones_like(layer.weight))
    result = layer(Tensor([[[1.0, 2.0, 4.0]]]))
    np.testing.assert_allclose(result.asnumpy(), [[[3.0, 6.0, 4.0]]])


def test_convolutions_of_one_sample():
    layer = layers.Conv2d(2, 3, 3, padding=1)
    x = normal(2, 5, 5)
    np.testing.assert_array_equal(layer(x).asnumpy(), layer(ops.expand_dims(x, 0)).asnumpy()[0])
    line = layers.Conv1d(2, 3, 3)
    assert line(normal(2, 7)).shape == (3, 5)


@pytest.mark.parametrize(("padding", "extra"), [(0, 1), (1, 1), (2, 1), (1, 2), (0, 2)])
def test_output_padding_beyond_the_full_result_holds_the_bias(padding, extra):
    layer = layers.ConvTranspose1d(1, 1, 3, stride=3, padding=padding, output_padding=extra)
    layer.bias.set_data(Tensor([0.5], ms.float32))
    result = layer(normal(1, 1, 4))
    assert result.shape == (1, 1, 3 * 3 - 2 * padding + 2 + extra + 1)
    if extra > padding:
        np.testing.assert_allclose(result.asnumpy()[0, 0, -(extra - padding) :], 0.5)


@pytest.mark.parametrize(
    "make",
    [
        lambda: layers.Conv2d(2, 3, 3, padding_mode="mirror"),
        lambda: layers.Conv2d(2, 3, 3, padding="full"),
        lambda: layers.ConvTranspose2d(2, 3, 3, padding_mode="reflect"),
        lambda: layers.LSTM(3, 4, proj_size=2),
        lambda: layers.Dropout(1.5),
        lambda: layers.EmbeddingBag(5, 4, mode="first"),
    ],
)
def test_what_cannot_be_done_is_refused(make):
    with pytest.raises(ValueError, match=r"\w"):
        make()


@pytest.mark.parametrize(
    ("make", "count"),
    [  # the numbers of PyTorch's own: weights of attention (2), of the two dense layers and of normalisations
        (lambda: layers.TransformerEncoderLayer(8, 2, 16, bias=False), 2 + 2 + 2),
        (lambda: layers.TransformerDecoderLayer(8, 2, 16, bias=False), 4 + 2 + 3),
        (lambda: layers.Transformer(8, 2, 1, 1, 16, bias=False), 6 + 1 + 9 + 1),
    ],
)
def test_transformers_without_biases_train_none(make, count):
    trained = [item.name for item in make().trainable_params()]
    assert len(trained) == count
    assert not [name for name in trained if "bias" in name or "beta" in name]


def test_copies_of_layers_train_what_the_layer_trains():
    layer = layers.TransformerEncoderLayer(8, 2, 16)
    layer.self_attn.out_proj.weight.requires_grad = False
    copies = layers.TransformerEncoder(layer, 2)
    assert len(copies.trainable_params()) == 2 * (12 - 1)
    assert not copies.layers[1].self_attn.out_proj.weight.requires_grad


def test_an_lstm_without_projections_is_the_plain_one():
    x = Tensor(np.ones((2, 5, 3), np.float32))
    plain = layers.ProjectedLSTM(3, 4, **{"batch_first": True, "proj_size": 0})
    assert isinstance(plain, nn.LSTM)
    assert plain(x)[0].shape == (2, 5, 4)
    assert layers.ProjectedLSTM(3, 4, batch_first=True, proj_size=2)(x)[0].shape == (2, 5, 2)


def test_embedding_keeps_the_padding_row():
    layer = layers.Embedding(5, 3, padding_idx=-1)
    assert layer.padding_idx == 4
    np.testing.assert_array_equal(layer.embedding_table.asnumpy()[4], 0)
    indices = Tensor([[0, 4], [4, 2]], ms.int64)
    grads = ms.grad(lambda x: layer(x).sum(), None, layer.trainable_params())(indices)
    touched = np.abs(grads[0].asnumpy()).sum(1) > 0
    assert touched.tolist() == [True, False, True, False, False]


def test_embedding_from_weights_is_frozen():
    weights = normal(4, 2)
    layer = layers.Embedding.from_pretrained(weights)
    assert not layer.embedding_table.requires_grad
    assert layers.Embedding.from_pretrained(weights, freeze=False).embedding_table.requires_grad
    np.testing.assert_array_equal(layer(Tensor([3])).asnumpy(), weights.asnumpy()[[3]])


@pytest.mark.parametrize("dtype", [ms.int32, ms.int64, ms.uint8])
def test_labels_of_any_integer_type(dtype):
    logits, labels = normal(3, 4), Tensor([0, 3, 1], dtype)
    values = logits.asnumpy() - logits.asnumpy().max(1, keepdims=True)
    expected = -(values - np.log(np.exp(values).sum(1, keepdims=True)))[np.arange(3), labels.asnumpy()].mean()
    np.testing.assert_allclose(layers.CrossEntropyLoss()(logits, labels).asnumpy(), expected, rtol=1e-5)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"size_average": False}, "sum"),
        ({"reduce": False}, "none"),
        ({"reduce": True}, "mean"),
        ({"size_average": True}, "mean"),
        ({"size_average": False, "reduce": True}, "sum"),
    ],
)
def test_old_spellings_of_reduction(old, new):
    assert layers.MSELoss(**old).reduction == new
    assert layers.CrossEntropyLoss(**old).reduction == new


def test_dropout_follows_the_mode():
    layer, x = layers.Dropout2d(0.5), ops.ones((20, 30, 2, 2))
    layer.set_train(False)
    np.testing.assert_array_equal(layer(x).asnumpy(), 1)
    layer.set_train(True)
    channels = layer(x).asnumpy().reshape(600, 4)
    assert (channels == channels[:, :1]).all()
    assert set(np.unique(channels)) == {0.0, 2.0}
    assert 0.3 < channels.mean() / 2 < 0.7


@pytest.mark.parametrize(
    ("kind", "shape", "channels"),
    [
        (layers.Dropout1d, (40, 5), 40),
        (layers.Dropout1d, (8, 5, 3), 40),
        (layers.Dropout2d, (8, 5), 40),
        (layers.Dropout2d, (8, 5, 3), 40),
        (layers.Dropout3d, (40, 5), 40),
        (layers.Dropout3d, (40, 2, 2, 2), 40),
        (layers.Dropout3d, (8, 5, 2, 2, 2), 40),
        (layers.Dropout3d, (40, 1, 2, 1, 2, 1), 40),
    ],
)
def test_dropout_takes_what_torch_takes_for_a_channel(kind, shape, channels):
    made = kind(0.5).set_train()(ops.ones(shape))
    assert made.shape == shape
    rows = made.asnumpy().reshape(channels, -1)
    assert (rows == rows[:, :1]).all()
    assert set(np.unique(rows)) == {0.0, 2.0}


def test_dropout_of_sequences_refuses_what_torch_refuses():
    with pytest.raises(RuntimeError, match="2D or 3D"):
        layers.Dropout1d(0.5)(ops.ones((1, 2, 3, 4)))


def test_normalisation_without_affine_is_not_trained():
    layer = layers.LayerNorm(4, elementwise_affine=False)
    assert layer.trainable_params() == []
    only_gamma = layers.LayerNorm(4, bias=False)
    assert [parameter.name for parameter in only_gamma.trainable_params()] == ["gamma"]


def test_layers_keep_their_names_as_children():
    class Network(nn.Cell):
        def __init__(self, norm_layer):
            super().__init__()
            self.conv = layers.Conv2d(3, 4, 3, bias=False)
            self.norm = norm_layer(4, eps=1e-3)
            self.weights = layers.ParameterList([Tensor([1.0]), Tensor([2.0, 3.0])])
            self.named = layers.ParameterDict({"a": Tensor([4.0])})

        def construct(self, x):
            return self.norm(self.conv(x)) * self.weights[1][0] + self.named["a"]

    network = Network(layers.BatchNorm2d)
    names = [name for name, _ in network.parameters_and_names()]
    assert names == [
        "conv.weight",
        "norm.moving_mean",
        "norm.moving_variance",
        "norm.gamma",
        "norm.beta",
        "weights.0",
        "weights.1",
        "named.a",
    ]
    assert network(normal(1, 3, 5, 5)).shape == (1, 4, 3, 3)


def test_parameter_list_is_a_list():
    parameters = layers.ParameterList([Tensor([1.0])])
    parameters.append(Tensor([2.0])).extend([Tensor([3.0])])
    assert len(parameters) == 3
    assert [float(parameter.asnumpy()[0]) for parameter in parameters] == [1.0, 2.0, 3.0]
    assert float(parameters[-1].asnumpy()[0]) == 3.0
    assert len(parameters[1:]) == 2
    with pytest.raises(IndexError):
        parameters[3]
    parameters += [Tensor([4.0])]
    assert isinstance(parameters, layers.ParameterList)
    assert float(parameters[Tensor(3)].asnumpy()[0]) == 4.0


def test_parameter_dict_is_a_dict():
    parameters = layers.ParameterDict({"a": Tensor([1.0])})
    parameters["b"] = Tensor([2.0])
    parameters["a"] = Tensor([5.0])
    assert list(parameters) == ["a", "b"]
    assert "b" in parameters
    assert float(dict(parameters.items())["a"].asnumpy()[0]) == 5.0
    assert len(parameters.trainable_params()) == 2


def test_parameter_dict_gives_its_parameters_back():
    parameters = layers.ParameterDict({"a": Tensor([1.0]), "b": Tensor([2.0])})
    held, new = parameters["a"], Parameter(Tensor([3.0]))
    parameters["a"] = new
    assert parameters["a"] is new
    assert float(held.asnumpy()[0]) == 1.0  # who holds the old one keeps it, as in torch
    assert parameters.get("z") is None
    assert parameters.setdefault("c", Tensor([4.0])) is parameters["c"]
    assert list(reversed(parameters)) == ["c", "b", "a"]
    assert parameters.pop("a") is new
    assert parameters.popitem()[0] == "c"
    parameters.clear()
    assert not list(parameters.get_parameters())


def test_a_parameter_in_the_place_of_another_has_its_path():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.first = layers.ParameterList([Tensor([1.0])])
            self.second = layers.ParameterList([Tensor([1.0])])
            self.first[0], self.second[0] = Parameter(Tensor([2.0])), Parameter(Tensor([3.0]))

    assert [parameter.name for parameter in Net().get_parameters()] == ["first.0", "second.0"]


@pytest.mark.parametrize(
    ("make", "shapes"),
    [
        (lambda: layers.Conv2d(4, 3, 3, padding=1, padding_mode="reflect"), [(2, 4, 8, 8)]),
        (lambda: layers.ConvTranspose2d(4, 3, 3, 2, 1, output_padding=1), [(2, 4, 8, 8)]),
        (lambda: layers.InstanceNorm2d(4, affine=True), [(2, 4, 8, 8)]),
        (lambda: layers.LayerNorm((8, 8)), [(2, 4, 8, 8)]),
        (lambda: layers.AvgPool2d(3, 2, 1), [(2, 4, 8, 8)]),
        (lambda: layers.MaxPool2d(3, 2, 1), [(2, 4, 8, 8)]),
        (lambda: layers.Upsample(scale_factor=1.5, mode="bilinear"), [(2, 4, 8, 8)]),
        (lambda: layers.MultiheadAttention(8, 2), [(3, 2, 8)] * 3),
        (lambda: layers.KLDivLoss(reduction="batchmean"), [(3, 4), (3, 4)]),
    ],
)
def test_graph_mode_computes_the_same(make, shapes):
    layer, inputs = make(), [normal(*shape) for shape in shapes]
    if isinstance(layer, layers.KLDivLoss):
        inputs[1] = ops.softmax(inputs[1], -1)
    layer.set_train(False)
    eager, graph = layer(*inputs), ms.jit(layer)(*inputs)
    for a, b in zip(as_tuple(eager), as_tuple(graph), strict=True):
        np.testing.assert_allclose(a.asnumpy(), b.asnumpy(), atol=1e-5)


def test_a_transposed_convolution_over_lengths_says_its_sizes_as_torch_does() -> None:
    layer = layers.ConvTranspose1d(4, 6, 5, stride=3, padding=1, output_padding=2, dilation=2)
    assert (layer.kernel_size, layer.stride, layer.dilation) == ((5,), (3,), (2,))
    assert layer(ops.ones((2, 4, 7))).shape == (2, 6, 6 * 3 - 2 + 2 * 4 + 2 + 1)


def test_a_derived_layer_draws_its_own_weights():
    class Filled(layers.Linear):
        def reset_parameters(self):
            resets.reset_as(layers.Linear, self)
            self.bias.set_data(ops.full_like(self.bias, 7.0))

    assert (Filled(2, 3).bias.asnumpy() == 7).all()


def test_the_class_of_a_batch_normalisation_is_of_the_family() -> None:
    assert issubclass(nn.BatchNorm2d, layers.families.BatchNorms)
    assert not issubclass(nn.Dense, layers.families.BatchNorms)
    assert not issubclass(layers.families.BatchNorms, nn.BatchNorm2d)


def test_a_list_of_parameters_may_hold_none() -> None:
    made = layers.ParameterList([None]).append(ms.ops.ones(2)).append(None)
    assert made[0] is None
    assert made[2] is None
    assert made[1].shape == (2,)
    assert len(list(made.get_parameters())) == 1


@pytest.mark.parametrize("layer", [layers.Conv1d, layers.Conv2d, layers.Conv3d])
def test_a_convolution_tells_how_it_pads(layer):
    assert settings.padding_mode(layer(3, 4, 3, padding=0, padding_mode="circular")) == "circular"
    assert settings.padding_mode(layer(3, 4, 3, padding=1)) == "zeros"
