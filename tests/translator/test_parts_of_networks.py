"""Slices of containers, copies of weights, names of layers, what a network asks of itself while it is made."""

from __future__ import annotations

import pytest

from torch2ms import translate_source

_NETWORK = """\
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3))
        self.layers = nn.Sequential(nn.Linear(3, 3), nn.ReLU())
        self.blocks = nn.ModuleList([nn.Linear(3, 3), nn.Linear(3, 3)])
        {made}

    def forward(self, x, values, table):
        y = self.layers(x)
        return {result}
"""


def text_of(made: str = "pass", result: str = "y") -> str:
    return translate_source(_NETWORK.format(made=made, result=result)).text


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        ("self.layers[0](x)", "self.layers[0](x)"),
        ("self.blocks[0](x)", "self.blocks[0](x)"),
        ("values[1:]", "values[1:]"),
        ("y[1:]", "y[1:]"),
        ("self.layers[1:](x)", "parts.sliced(self.layers, slice(1, None))(x)"),
        ("[block(x) for block in self.blocks[:-1]]", "[block(x) for block in list(self.blocks)[:-1]]"),
        ("self.blocks[::2]", "parts.sliced(self.blocks, slice(None, None, 2))"),
    ],
)
def test_slices_leave_the_names_of_parameters_alone(result: str, expected: str) -> None:
    assert f"return {expected}\n" in text_of(result=result)


def test_a_slice_that_becomes_a_part_is_named_after_it() -> None:
    assert "self.head = self.layers[1:]" in text_of(made="self.head = self.layers[1:]")


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        ("y.clone()", "y.copy()"),
        ("(x * 2).clone()", "(x * 2).copy()"),
        ("y[0].clone()", "y[0].copy()"),
        ("self.weight.data.clone()", "ops.stop_gradient(self.weight).copy()"),
        ("self.weight.clone()", "ops.deepcopy(self.weight)"),
        ("x.clone()", "ops.deepcopy(x)"),
        ("torch.clone(table['a'])", "ops.deepcopy(table['a'])"),
        ("[torch.clone(v) for v in values]", "[ops.deepcopy(v) for v in values]"),
    ],
)
def test_copies_of_what_may_be_a_parameter_hand_gradients_on(result: str, expected: str) -> None:
    assert f"return {expected}\n" in text_of(result=result)


def test_a_network_is_made_in_train_mode() -> None:
    assert "self.extra = 1\n" in text_of(made="self.extra = 1 if self.training else 2")
    assert "self.training" in text_of(made="self.eval(); self.extra = 1 if self.training else 2")
    assert "return y if self.training else x" in text_of(result="y if self.training else x")


@pytest.mark.parametrize(
    ("keys", "container"),
    [
        ("'a', 'b-c'", "nn.CellDict"),
        ("'user id', 'b'", "layers.ModuleDict"),
        ("'phase', 'b'", "layers.ModuleDict"),
    ],
)
def test_names_that_a_dictionary_of_layers_takes(keys: str, container: str) -> None:
    entries = ", ".join(f"{key}: nn.ReLU()" for key in keys.split(", "))
    assert f"self.parts = {container}(" in text_of(made=f"self.parts = nn.ModuleDict({{{entries}}})")


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        ("y.apply(self.modules)", "y.apply(lambda: modules.modules(self))"),
        ("y.apply(self.parameters)", "y.apply(lambda: modules.parameters(self))"),
        ("[rnn.flatten_parameters() for rnn in [nn.GRU(3, 3)]]", "[None for rnn in [nn.GRU(3, 3)]]"),
        ("values.find(x).flatten_parameters()", "values.find(x).flatten_parameters()"),
    ],
)
def test_methods_that_are_handed_on_or_have_no_effect(result: str, expected: str) -> None:
    assert f"return {expected}\n" in text_of(result=result)


@pytest.mark.parametrize(
    ("function", "emitted"),
    [
        ("reset_parameters", "w.set_data(w * 2)"),
        ("applied", "w.set_data(w * 2)"),
        ("init_weights", "ops.assign(w, w * 2)"),  # what it is called says nothing
        ("update", "ops.assign(w, w * 2)"),
        ("forward", "ops.assign(w, w * 2)"),
    ],
)
def test_initial_weights_are_set(function: str, emitted: str) -> None:
    source = f"import torch\nfrom torch import nn\n\ndef {function}(w: nn.Parameter):\n    w.data.mul_(2)\n"
    source += "\n\ndef made(net: nn.Module):\n    net.apply(applied)\n"
    assert emitted in translate_source(source).text


def test_settings_of_parts_that_are_walked_over_are_changed_several_at_once() -> None:
    made = "for m in self.layers.modules():\n            m.stride, m.dilation = (1, 1), 2"
    text = text_of(made=made)
    assert "settings.change(m, 'stride', (1, 1)), settings.change(m, 'dilation', 2)" in text
    assert "self.stride, self.p = 1, 2" in text_of(made="self.stride, self.p = 1, 2")
    assert "m.stride, m.kind = (1, 1), 2" in text_of(made=made.replace("dilation", "kind"))


def test_a_wrapper_that_went_is_called_through() -> None:
    source = (
        "import torch\nfrom torch import nn\n\n\n"
        "class Net(nn.Module):\n    def forward(self, x):\n        return x\n\n\n"
        "def f(net, d):\n    return net.module(d), net.module.back(d)\n\n\n"
        "def train(model, x):\n    return model.module(x)\n\n\n"
        "model = nn.DataParallel(Net())\ntrain(model, x)\ny = model.module(x)\n"
    )
    text = translate_source(source).text
    assert "return getattr(net, 'module', net)(d), getattr(net, 'module', net).back(d)\n" in text
    assert "def train(model, x):\n    return model(x)\n" in text
    assert text.endswith("y = model(x)\n")


def test_recurrent_layers_among_others_need_no_flattening() -> None:
    text = translate_source(
        "from torch import nn\n\n\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.parts = nn.ModuleList()\n        self.parts.append(nn.LSTM(2, 2))\n"
        "        self.parts.append(nn.Tanh())\n\n    def forward(self, x):\n        for part in self.parts:\n"
        "            if isinstance(part, nn.Tanh):\n                x = part(x)\n            else:\n"
        "                part.flatten_parameters()\n                x, _ = part(x)\n        return x\n"
    ).text
    assert "flatten_parameters" not in text
