"""Calls of layers with their inputs by name, and questions for the name of a layer's class."""

from __future__ import annotations

import pytest

from torch2ms import translate_source

HEAD = "import torch\nimport torch.nn as nn\n"


@pytest.mark.parametrize(
    ("layer", "call", "wanted"),
    [
        ("nn.CrossEntropyLoss()", "m(input=x, target=y)", "m(x, y)"),
        ("nn.MSELoss()", "m(target=y, input=x)", "m(x, y)"),
        ("nn.TripletMarginLoss()", "m(x, negative=z, positive=y)", "m(x, y, z)"),
        ("nn.Linear(2, 3)", "m(input=x)", "m(x)"),
        ("nn.GRU(2, 3)", "m(x, hx=y)", "m(x, y)"),
    ],
)
def test_inputs_by_name_are_put_in_order(layer: str, call: str, wanted: str) -> None:
    assert f"out = {wanted}" in translate_source(f"{HEAD}m = {layer}\nout = {call}\n").text


@pytest.mark.parametrize(
    ("layer", "call"),
    [
        ("nn.MSELoss()", "m(x, y)"),
        ("nn.MSELoss()", "m(**batch)"),
        ("nn.MultiheadAttention(4, 2)", "m(query=x, key=x, value=x)"),
        ("nn.EmbeddingBag(4, 2)", "m(x, per_sample_weights=w)"),  # offsets stand between
        ("Net()", "m(target=y, input=x)"),
    ],
)
def test_other_calls_stay(layer: str, call: str) -> None:
    net = "class Net(nn.Module):\n    def forward(self, input, target):\n        return input\n"
    assert f"print({call})" in translate_source(f"{HEAD}{net}m = {layer}\nprint({call})\n").text


def test_names_of_classes() -> None:
    text = HEAD + (
        "def init(m):\n    if m.__class__.__name__.find('Linear') != -1:\n        print(type(m).__name__)\n"
        "class Net(nn.Module):\n    def name(self):\n        return self.__class__.__name__\n"
    )
    result = translate_source(text).text
    assert "modules.class_name(m).find('Linear')" in result
    assert "print(modules.class_name(m))" in result
    assert "return self.__class__.__name__" in result


def test_names_of_classes_stay_where_no_layer_is_meant() -> None:
    text = HEAD + "def show(error):\n    print(type(error).__name__, error.__class__.__name__)\n"
    assert translate_source(text).text.endswith("print(type(error).__name__, error.__class__.__name__)\n")


def test_train_mode_where_a_network_is_used_before_the_program_sets_it() -> None:
    text = HEAD + (
        "x = torch.ones(2, 3)\n"
        "def make(norm=nn.BatchNorm1d):\n    return nn.Sequential(norm(3))\n"
        "y = make()(x)\n"
        "first = nn.BatchNorm1d(3)\nfirst(x)\nfirst.eval()\nfirst.train()\n"
        "second = nn.BatchNorm1d(3)\nsecond.train()\nsecond(x)\n"
    )
    result = translate_source(text).text
    assert "make().set_train()(x)" in result
    assert "first = nn.BatchNorm1d(3).set_train()" in result
    assert "second = nn.BatchNorm1d(3)\n" in result


def test_resets_of_layers() -> None:
    text = HEAD + (
        "for m in nn.Sequential(nn.Linear(2, 3)).children():\n"
        "    if hasattr(m, 'reset_parameters'):\n        m.reset_parameters()\n"
        "class Net(nn.Module):\n    def reset_parameters(self):\n        pass\n"
        "print(hasattr(Net(), 'reset_parameters'))\n"
    )
    result = translate_source(text).text
    assert "    if resets.can_reset(m):\n        resets.reset_parameters(m)\n" in result
    assert "hasattr(Net(), 'reset_parameters')" in result


def test_packed_sequences() -> None:
    text = HEAD + (
        "rnn = nn.LSTM(2, 3)\npacked = nn.utils.rnn.pack_padded_sequence(x, n)\n"
        "out, h = rnn(packed)\nplain, h = rnn(x)\n"
    )
    result = translate_source(text).text
    assert "out, h = packing.run(rnn, packed)" in result
    assert "plain, h = rnn(x)" in result


def test_a_name_is_packed_only_where_a_function_packs_it() -> None:
    text = HEAD + (
        "class Rnn(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.norm, self.rnn = nn.LayerNorm(2), nn.GRU(2, 3)\n\n"
        "    def forward(self, x, n, h=None):\n        x = self.norm(x)\n"
        "        x = nn.utils.rnn.pack_padded_sequence(x, n)\n        return self.rnn(x, h)\n\n\n"
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.rnns, self.fc = nn.Sequential(Rnn(), *(Rnn() for _ in range(2))), nn.Linear(3, 2)\n\n"
        "    def forward(self, x, n, hs):\n        for i, rnn in enumerate(self.rnns):\n"
        "            x, h = rnn(x, n, hs[i])\n        return self.fc(x)\n"
    )
    result = translate_source(text).text
    assert "return packing.run(self.rnn, x, h)" in result
    assert "x = self.norm(x)" in result
    assert "x, h = rnn(x, n, hs[i])" in result
    assert "return self.fc(x)" in result


_STATES = """import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(4, 5)

    def forward(self, x, states):
        return self.lstm(x, states)


def train(steps):
    net, states = Net(), (torch.zeros(1, 2, 5), torch.zeros(1, 2, 5))
    for x in steps:
        states = {states}
        y, states = net(x, states)
"""


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        ("[state.detach() for state in states]", "self.lstm(x, states if states is None else tuple(states))"),
        ("tuple(state.detach() for state in states)", "self.lstm(x, states)"),
    ],
)
def test_states_of_an_lstm_that_may_be_a_list(states: str, expected: str) -> None:
    assert f"return {expected}\n" in translate_source(_STATES.format(states=states)).text


def test_states_of_an_lstm_in_a_list() -> None:
    source = (
        "import torch\nfrom torch import nn\n\nlstm = nn.LSTM(4, 5)\nx = torch.ones(3, 2, 4)\nh = torch.ones(1, 2, 5)\n"
    )
    assert "lstm(x, (h, h))" in translate_source(f"{source}y = lstm(x, [h, h])\n").text
    assert "lstm(x, tuple(s))" in translate_source(f"{source}s = [h, h]\ny = lstm(x, hx=s)\n").text


def test_a_packed_sequence_into_a_layer_whose_class_is_handed_in() -> None:
    source = (
        "from torch import nn\n\n\nclass Encoder(nn.Module):\n    def __init__(self, kind, other):\n"
        "        super().__init__()\n        self.rnn = kind(8, 8, num_layers=2)\n        self.other = other(8, 8)\n\n"
        "    def forward(self, x, lengths):\n        packed = nn.utils.rnn.pack_padded_sequence(x, lengths)\n"
        "        return self.rnn(packed, None), self.rnn(x), self.other(packed)\n"
    )
    text = translate_source(source).text
    assert "return packing.run(self.rnn, packed, None), self.rnn(x), self.other(packed)" in text


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("torch.ones((2, 2), dtype=bool)", "ops.ones((2, 2), dtype=ms.bool_)"),
        ("torch.zeros(3, dtype=int)", "ops.zeros(3, dtype=ms.int64)"),
        ("torch.arange(3, dtype=float)", "ops.arange(3, dtype=ms.float64)"),
        ("x.sum(dtype=int)", "x.sum(dtype=ms.int64)"),
        ("np.zeros(3, dtype=bool)", "np.zeros(3, dtype=bool)"),
        ("torch.load(f, dtype=bool) if 0 else dict(dtype=bool)", "dict(dtype=bool)"),
    ],
)
def test_types_of_pythons_as_dtypes(given: str, expected: str) -> None:
    source = f"import numpy as np\nimport torch\n\n\ndef f(x: torch.Tensor, f):\n    return {given}\n"
    assert expected in translate_source(source).text


def test_a_variable_may_have_the_name_of_a_type() -> None:
    source = "import torch\n\n\ndef f():\n    float = torch.float16\n    return torch.zeros(3, dtype=float)\n"
    assert "dtype=float)" in translate_source(source).text


def test_packed_sequences_flow_through_layers() -> None:
    text = (
        "from torch import nn\nfrom torch.nn.utils.rnn import PackedSequence, pack_padded_sequence\n"
        "first, second = nn.LSTM(2, 3), nn.GRU(3, 3)\n"
        "def pack(x, n):\n    return pack_padded_sequence(x, n)\n"
        "def run(x, n, z):\n"
        "    out, _ = first(pack(x, n))\n"
        "    out, h = second(out, None)\n"
        "    again = PackedSequence(out.data * 2, out.batch_sizes)\n"
        "    return second(again), first(z)\n"
    )
    result = translate_source(text).text
    assert "out, _ = packing.run(first, pack(x, n))" in result
    assert "out, h = packing.run(second, out, None)" in result
    assert "again = PackedSequence(out.data * 2, out.batch_sizes)" in result
    assert "return packing.run(second, again), packing.run(first, z)" in result  # of z nothing is known


def test_recurrent_layers_of_tensors_are_called_where_a_project_packs() -> None:
    text = (
        "import torch\nfrom torch import nn\nfrom torch.nn.utils.rnn import pack_padded_sequence\n"
        "rnn = nn.LSTM(2, 3)\npacked = pack_padded_sequence(torch.ones(2, 1, 2), [2])\n"
        "y, h = rnn(torch.ones(2, 1, 2))\n"
    )
    assert "y, h = rnn(ops.ones((2, 1, 2)))" in translate_source(text).text


def test_a_method_of_the_project_is_not_taken_for_the_networks_own() -> None:
    source = (
        "from torch import nn\n\n\nclass Layer(nn.Linear):\n"
        "    def train(self, positive, negative):\n        pass\n\n\n"
        "class Net(nn.Module):\n    def fit(self):\n        for layer in self.children():\n"
        "            layer.train(1, 2)\n"
    )
    found = translate_source(source)
    assert "            layer.train(1, 2)\n" in found.text
    assert not found.diagnostics
