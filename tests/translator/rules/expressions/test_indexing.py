"""Indices that torch takes and MindSpore does not."""

from __future__ import annotations

import pytest

from torch2ms.translator.pipeline import translate_source

HEAD = """import numpy as np
import torch


def f(x: torch.Tensor, u, n: int):
    order = np.random.permutation(n)
    i = 3
"""


@pytest.mark.parametrize(
    "index",
    ["i", "i:2", ":, i", "[0, 1]", "x > 0", "None, ...", "order.tolist()", "int(np.argmax(order))", "np.newaxis",
     "0, [0, 1]", ":, 0, x", "0, :, 1"],
)  # fmt: skip
def test_what_stays(index: str) -> None:
    assert f"return x[{index}]" in translate_source(f"{HEAD}    return x[{index}]\n").text


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        ("range(3)", "list(range(3))"),
        ("np.ix_(order, order)", "functional.as_index(np.ix_(order, order))"),  # tuples of arrays: MindSpore refuses
        ("np.where(order > 2)", "functional.as_index(np.where(order > 2))"),
        ("order.nonzero()", "functional.as_index(order.nonzero())"),
        ("order", "ms.Tensor(order)"),
        ("order[:2]", "ms.Tensor(order[:2])"),
        ("np.argmax(order), 1", "ms.Tensor(np.argmax(order)), 1"),
        (":, order > 2", ":, ms.Tensor(order > 2)"),
        ("1, :, [0, 2]", "1][:, [0, 2]"),  # a number selects in torch; in numpy and MindSpore it is broadcast
        (":, 1, :, x", ":, 1][:, :, x"),
        ("[0, 1], :, 1", ":, :, 1][[0, 1], :"),
        ("..., 0, None, [0, 1]", "..., 0, :][..., None, [0, 1]"),
    ],
)
def test_arrays_and_ranges(index: str, expected: str) -> None:
    assert f"return x[{expected}]" in translate_source(f"{HEAD}    return x[{index}]\n").text


def test_a_range_beside_another_index_is_a_list_whatever_it_is_an_index_of() -> None:
    source = f"{HEAD}    u[range(n), [0, 1]] = 1\n    return u[range(2)]\n"
    emitted = translate_source(source).text
    assert "u[list(range(n)), [0, 1]] = 1" in emitted
    assert "return u[range(2)]" in emitted  # a dictionary has such keys
    source = "class Graph:\n    def __init__(self):\n        self.tags = 0\n\n\n"
    source += "def f(g: Graph, n):\n    g.tags = torch.zeros(n, 2)\n    g.tags[range(n), [0, 1]] = 1\n"
    assert "g.tags[list(range(n)), [0, 1]] = 1" in translate_source(f"import torch\n\n\n{source}").text


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("x[i] = torch.rand(1, 5)", "x[i] = ops.rand(1, 5)[0]"),
        ("x[i] = torch.zeros((1, 5))", "x[i] = ops.zeros((1, 5))[0]"),
        ("x[i, 0] = x.unsqueeze(0)", "x[i, 0] = x.unsqueeze(0)[0]"),
        ("x[i] = torch.rand(5)", "x[i] = ops.rand(5)"),
        ("x[i] = torch.rand(n, 5)", "x[i] = ops.rand(n, 5)"),
        ("x[i] = torch.Tensor([1, 5])", "x[i] = ms.Tensor([1, 5], dtype=ms.float32)"),
        ("x[:i] = torch.rand(1, 5)", "x[:i] = ops.rand(1, 5)"),
        ("u[i] = torch.rand(1, 5)", "u[i] = ops.rand(1, 5)"),  # perhaps a list
    ],
)
def test_a_row_with_an_axis_of_one_is_assigned_without_it(line: str, expected: str) -> None:
    assert f"    {expected}\n" in translate_source(f"{HEAD}    {line}\n").text


def test_an_array_is_indexed_by_arrays_as_before() -> None:
    assert "return order[np.argmax(order)]" in translate_source(f"{HEAD}    return order[np.argmax(order)]\n").text


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        ("order[0]:order[1]", "int(order[0]):int(order[1])"),
        (":, order.max() :", ":, int(order.max()) :"),
        ("[order[0], 1]", "functional.as_index([order[0], 1])"),  # a list of numpy's numbers: MindSpore refuses
        ("u", "functional.as_index(u)"),
        ("u + 1, 0", "functional.as_index(u + 1), 0"),
        (":u, u : u + 1", ":functional.as_index(u), functional.as_index(u) : int(u + 1)"),  # no sum is None
        ("[k for k in order]", "ms.Tensor([k for k in order])"),
        ("max(order)", "ms.Tensor(max(order))"),
        ("random.choice(order)", "ms.Tensor(random.choice(order))"),
        ("np.where(order > 1)[0]", "ms.Tensor(np.where(order > 1)[0])"),
    ],
)
def test_numbers_of_numpy(index: str, expected: str) -> None:
    assert f"return x[{expected}]" in translate_source(f"import random\n{HEAD}    return x[{index}]\n").text


def test_numbers_of_numpy_in_attributes() -> None:
    text = translate_source(
        "import random\nimport numpy as np\nimport torch\n\n\nclass Pairs:\n    def __init__(self, labels):\n"
        "        self.data = torch.ones(9, 2)\n        self.groups = {}\n        for i in range(10):\n"
        "            self.groups[i] = np.where(labels == i)[0]\n\n    def __getitem__(self, i):\n"
        "        first = self.groups[i][0]\n        second = random.sample(list(self.groups[i]), 1)[0]\n"
        "        return self.data[first], self.data[second]\n"
    ).text
    assert "return self.data[ms.Tensor(first)], self.data[ms.Tensor(second)]" in text


@pytest.mark.parametrize(
    ("statements", "expected"),
    [
        ("v[v > 1] = 5", "v[()] = functional.assigned(v, v > 1, 5)"),  # MindSpore gives v memory of its own
        ("x[[0, 1]] += 1", "x[()] = functional.assigned(x, [0, 1], x[[0, 1]] + 1)"),
        ("x[:, [0]] = 2", "x[()] = functional.assigned(x, (slice(None, None, None), [0]), 2)"),
        ("v[0] = 5", "v[0] = 5"),
        ("x[...] = x.max()", "x[()] = x.max()"),
        ("torch.add(x, 1, out=x)", "x[()] = ops.add(x, 1)"),
        ("x = torch.ones(4)\ny = x[x > 2] = 0", "y = x[x > 2] = 0"),
        ("w = torch.ones(3)\nw[w > 0] = 2", "w[w > 0] = 2"),  # nobody else sees it
        ("w = torch.ones(3)\nw[...] = 3", "w[...] = 3"),
        ("d = {'k': x}\nd['k'].add_(1)", "d['k'][()] = d['k'] + 1"),
        ("d = {'k': x}\nw = x[x > 0]\nd['k'].add_(1)", "d['k'][...] = d['k'] + 1"),
    ],
)
def test_elements_are_written_where_views_see_them(statements: str, expected: str) -> None:
    source = f"import torch\n\nx = torch.zeros(2, 3)\nv = x.view(-1)\n{statements}\nprint(v)\n"
    assert translate_source(source).text.rstrip().splitlines()[-2] == expected


def test_one_number_of_numpy_in_an_index_of_something() -> None:
    source = (
        "import numpy as np\nimport torch\n\n\nclass Sampler:\n    def __init__(self, n):\n"
        "        self.rows = np.empty((3, n)) * np.nan\n        self.rows = torch.Tensor(self.rows)\n"
        "        self.rows[0, np.where(np.isnan(self.rows[0]))[0][0]] = 1\n"
        "        self.rows[0, np.where(self.rows[0] > 1)[0]] = 1\n"
    )
    text = translate_source(source).text
    assert "self.rows[0, int(np.where(np.isnan(self.rows[0]))[0][0])] = 1" in text
    assert "self.rows[0, np.where(self.rows[0] > 1)[0]] = 1" in text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("d = {}\nd['k'] = x[x > 2]\nd['k'].mul_(2)", "d['k'] = x[x > 2].copy()"),
        ("xs = [x[[0, 1]]]\nxs[0][0] = 1", "xs = [x[[0, 1]].copy()]"),
        ("d = {}\nd['k'] = x[x > 2]\nd['k'] = d['k'] * 2", "d['k'] = x[x > 2]\n"),
        ("d = {'a': torch.ones(3)}\nd['a'].unsqueeze_(0)", "d['a'] = d['a'].unsqueeze(0)"),
    ],
)
def test_members_of_containers(text: str, expected: str) -> None:
    assert expected in translate_source(f"import torch\nx = torch.arange(6.0)\n{text}\n").text


def test_steps_in_what_only_torch_takes() -> None:
    head = "import torch.nn.functional as F\n"
    text = translate_source(head + "pad = lambda x: F.pad(x[:, ::2], (0, 1))\n").text
    assert "ops.pad(functional.take_every(x, 2, axis=1), (0, 1))" in text
    kept = translate_source(head + "pad = lambda x: g(x[:, ::2], F.pad)\n").text
    assert "g(x[:, ::2], " in kept


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("x[:, a:b, c:d] = 1  # why", "if x[:, a:b, c:d].size:\n    x[:, a:b, c:d] = 1  # why\n"),
        ("x[p[0]:-b, 1:] += 1", "if x[p[0]:-b, 1:].size:\n    x[p[0]:-b, 1:] += 1\n"),
        ("x[a : a + 2, c:d] = 1", "\nx[a : a + 2, c:d] = 1\n"),
        ("x[1:3, c:d] = 1", "\nx[1:3, c:d] = 1\n"),
        ("x[a:b] = 1", "\nx[a:b] = 1\n"),
        ("table[a:b, c:d] = 1", "\ntable[a:b, c:d] = 1\n"),
    ],
)
def test_a_box_that_may_be_empty_is_asked_for(statement: str, expected: str) -> None:
    source = f"import torch\n\nx = torch.zeros(2, 3, 5)\na, b, c, d, p, table = f()\n{statement}\n"
    assert expected in translate_source(source).text


@pytest.mark.parametrize(
    ("rows", "guarded"),
    [
        ("slice(-window, -shift), slice(-shift, None)", True),
        ("slice(0, 2), slice(2, None)", False),
        ("1, 2", False),
    ],
)
def test_a_box_between_bounds_that_a_loop_takes_from_a_tuple(rows: str, guarded: bool) -> None:
    source = f"""import torch
def f(window, shift):
    x = torch.zeros(1, 8, 8)
    rows = ({rows})
    for h in rows:
        for w in (slice(0, -window), slice(-window, None)):
            x[:, h, w] = 1
    return x
"""
    assert ("if x[:, h, w].size:\n                x[:, h, w] = 1" in translate_source(source).text) is guarded


GRADIENT = "import torch\nx = torch.ones(3, requires_grad=True)\n{body}\ny.sum().backward()\nprint(x.grad)\n"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("y = x[torch.tensor([0, -1])]", "x[ms.tensor([0, -1]), ...]"),
        ("k = torch.tensor([-2])\ny = x[k]", "x[k, ...]"),
        ("y = x[[0, -1]]", "x[[0, -1]]"),
        ("y = x[torch.tensor([0, 1])]", "x[ms.tensor([0, 1])]"),
        ("y = x[-1]", "x[-1]"),
    ],
)
def test_places_from_the_end_have_gradients(body: str, expected: str) -> None:
    assert expected in translate_source(GRADIENT.format(body=body)).text


def test_networks_are_trained_by_other_files() -> None:
    source = "import torch\nfrom torch import nn\n\n\nclass Net(nn.Module):\n    def forward(self, x):\n"
    source += "        return x[torch.tensor([0, -1])]\n"
    assert "return x[ms.tensor([0, -1]), ...]" in translate_source(source).text


TABLE = """import torch
from torch import nn


class Bias(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Parameter(torch.zeros(9, 4))

    def forward(self, x, index: torch.Tensor, mask: torch.Tensor):
        places = x.argmax(-1)
        before = x.argmax(-1)
        before -= 1
        return self.table[{index}]
"""


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        ("index.view(-1)", "functional.rows(self.table, index.view(-1))"),
        ("index", "functional.rows(self.table, index)"),
        ("places", "self.table[places]"),
        ("before", "functional.rows(self.table, before)"),
        ("torch.arange(5)", "self.table[ops.arange(5)]"),
        ("x > 0", "self.table[x > 0]"),
        ("index, 0", "self.table[index, 0]"),
    ],
)
def test_rows_of_weights_may_be_counted_from_the_end(index: str, expected: str) -> None:
    assert f"return {expected}" in translate_source(TABLE.format(index=index)).text


def test_without_gradients_such_places_are_left() -> None:
    assert (
        "x[ms.tensor([0, -1])]"
        in translate_source("import torch\nx = torch.ones(3)\ny = x[torch.tensor([0, -1])]\n").text
    )


STATES = """import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(3, 5)

    def forward(self, x, h: torch.Tensor, c):
        out = torch.autograd.Variable(x.data.new(2, 4, 5).zero_())
        for t in range(4):
            _, states = self.lstm(x[:, t, :].unsqueeze(0), (h, c))
            h = states[0]
            {line}
        return out
"""


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("out[:, t, :] = h", "out[:, t, :] = h.reshape(h.shape[-2:])"),
        ("out[:, t] = h", "out[:, t] = h.reshape(h.shape[-2:])"),
        ("out[:, t, :] = x", "out[:, t, :] = x.reshape(x.shape[-2:])"),
        ("out[:, :, :] = h", "out[:, :, :] = h"),
        ("out[:, t, :] = out[:, 0, :]", "out[:, t, :] = out[:, 0, :]"),
        ("out[:, t] = x[:, t].abs()", "out[:, t] = functional.fitted(x[:, t].abs(), 2)"),
    ],
)
def test_what_is_assigned_loses_leading_axes(line: str, expected: str) -> None:
    """MindSpore drops no axis of what is assigned: a recurrent layer's state (1, batch, features) does not fit."""
    assert f"            {expected}\n" in translate_source(STATES.replace("{line}", line)).text


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("rows[t] = self.net(x)", "rows[t] = self.net(x).reshape(-1)"),
        ("rows[t] = out.data", "rows[t] = ops.stop_gradient(out).reshape(-1)"),
        ("rows[:, t] = out", "rows[:, t] = out.reshape(-1)"),
        ("numbers[t] = self.net(x)", "numbers[t] = self.net(x).reshape(())"),
        ("numbers[t] = self.criterion(out, x)", "numbers[t] = self.criterion(out, x)"),
        ("batches[t] = out", "batches[t] = out.reshape(out.shape[-2:])"),
        ("rows[t] = x", "rows[t] = functional.fitted(x, 1)"),
        ("rows[t] = self.net.bias", "rows[t] = self.net.bias"),
        ("rows[t] = torch.ones(1, 1, 3)", "rows[t] = ops.ones((1, 1, 3)).squeeze((0, 1))"),
        ("rows[t] = 2 * torch.ones(1, 3)", "rows[t] = (2 * ops.ones((1, 3))).squeeze(0)"),
        ("rows[t] = torch.ones(3) + 1", "rows[t] = ops.ones(3) + 1"),
    ],
)
def test_what_a_network_gives_for_one_sample_fits_a_row(line: str, expected: str) -> None:
    """``samples[t] = net(x)``, (1, features): PyTorch drops the axis of the batch, MindSpore refuses."""
    source = """import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(3, 3)
        self.criterion = nn.MSELoss()

    def sample(self, x, n):
        rows, numbers, batches = torch.zeros(n, 3), torch.zeros(n), torch.zeros(n, 1, 3)
        for t in range(n):
            out = self.net(x)
            {line}
        return rows
"""
    assert f"            {expected}\n" in translate_source(source.replace("{line}", line)).text


@pytest.mark.parametrize(
    "made",
    ["torch.where(x[:, 0] > 5)[0]", "(x[:, 0] > 5).nonzero().squeeze(1)", "torch.nonzero(x[:, 0] > 5).flatten()"],
)
def test_places_that_a_condition_found_may_be_none(made: str) -> None:
    # MindSpore 2.10 raises ValueError for an index that is an empty tensor: "select with an empty condition list".
    text = translate_source(f"import torch\nx = torch.ones(3, 2)\ni = {made}\nx[i] += 1\n").text
    assert "if x[i].size:\n    x[i] += 1\n" in text


def test_places_that_are_written_out_are_there() -> None:
    text = translate_source("import torch\nx = torch.ones(3, 2)\ni = torch.where(x > 1, 1, 0)[0]\nx[i] += 1\n").text
    assert "if " not in text


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        ("0, scores.argmax()", "scores[0][scores.argmax()]"),
        ("best, 0", "scores[best][0]"),
        ("best, best", "scores[best][best]"),
        ("0, 1", "scores[0, 1]"),
        (":, best", "scores[:, best]"),
        ("0, scores.argmax(0)", "scores[0, scores.argmax(0)]"),
        ("best", "scores[best]"),
    ],
)
def test_elements_that_tensors_without_axes_name(index: str, expected: str) -> None:
    source = f"import torch\nscores = torch.ones(2, 3)\nbest = scores.argmax()\ny = scores[{index}]\n"
    assert f"y = {expected}\n" in translate_source(source).text


@pytest.mark.parametrize("index", ["idx_train", "train_idx", "train_mask", "self.idx"])
def test_what_a_loss_is_computed_of_is_a_tensor_wherever_it_is_read(index: str) -> None:
    source = "import numpy as np\nimport torch.nn.functional as F\n\n\n"
    source += "def f(self, out, labels, idx_train, train_idx, train_mask):\n"
    body = f"    loss = F.nll_loss(out[{index}], labels[{index}])\n    return loss, score(out[{index}], labels[0])\n"
    text = translate_source(source + body).text
    assert text.count(f"out[functional.as_index({index})]") == 2
    assert f"labels[functional.as_index({index})]" in text
    assert "labels[0])" in text


def test_what_is_no_tensor_for_certain_is_read_as_it_is() -> None:
    text = translate_source("import numpy as np\nimport torch\n\n\ndef f(out, idx):\n    return out[idx]\n").text
    assert "out[idx]" in text


def test_elements_that_places_of_unknown_tensors_name() -> None:
    source = (
        "import torch\nfrom torch import nn\n\nclass Crf(nn.Module):\n    def __init__(self):\n"
        "        super().__init__()\n        self.moves = nn.Parameter(torch.zeros(4, 4))\n"
        "    def forward(self, feats, tags):\n"
        "        tags = torch.cat([torch.tensor([2]), tags])\n        total = torch.zeros(1)\n"
        "        for i, feat in enumerate(feats):\n            total = total + self.moves[tags[i + 1], tags[i]]\n"
        "        return total + self.moves[1, tags[-1]] + self.moves[1, 2] + self.moves[tags, tags].sum()\n"
    )
    emitted = translate_source(source).text
    assert "functional.element(self.moves, tags[i + 1], tags[i])" in emitted
    assert "functional.element(self.moves, 1, tags[-1]) + self.moves[1, 2] + self.moves[tags, tags]" in emitted


def test_elements_that_variables_of_loops_name() -> None:
    source = (
        "import torch\nfrom torch import nn\n\nclass Crf(nn.Module):\n    def __init__(self):\n"
        "        super().__init__()\n        self.moves = nn.Parameter(torch.zeros(4, 4))\n"
        "    def forward(self, tags):\n        tags = torch.cat([torch.tensor([2]), tags])\n"
        "        total, last = self.moves[1, 2], tags[0]\n        for tag in tags[1:]:\n"
        "            total = total + self.moves[tag, last]\n            last = tag\n"
        "        for i in range(3):\n            total = total + self.moves[i, 1] + self.moves[tags, i].sum()\n"
        "        pairs = (tags, tags)\n        listed = [self.moves[pair] for pair in zip(tags, tags)]\n"
        "        return total + self.moves[pairs].sum() + sum(listed)\n"
    )
    emitted = translate_source(source).text
    assert "total + functional.element(self.moves, tag, last)" in emitted
    assert "[functional.element(self.moves, *pair) for pair" in emitted
    for kept in ("self.moves[1, 2]", "self.moves[i, 1] + self.moves[tags, i].sum()", "self.moves[pairs]"):
        assert kept in emitted


def test_numbers_that_a_loop_takes_from_an_array() -> None:
    source = (
        "import numpy as np\nimport torch\n\ndef f(output: torch.Tensor):\n    preds = np.squeeze(output.numpy())\n"
        "    for i in preds:\n        print(output[i, 1])\n    return [row[i] for i, row in zip(preds, output)]\n"
    )
    emitted = translate_source(source).text
    assert "output[functional.as_index(i), 1]" in emitted
    assert "row[functional.as_index(i)] for i, row in" in emitted


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("y[:, n - 1::n] += u", "y[:, n - 1::n] = functional.take_every(y, n, axis=1, start=n - 1) + u"),
        ("y[:, ::2, 0] *= u", "y[:, ::2, 0] = functional.take_every(y, 2, axis=1)[:, :, 0] * u"),
        ("y[::2] += u", "y[::2] += u"),  # the first and the last axis have a gradient
        ("y[..., ::2] += u", "y[..., ::2] += u"),
        ("y[:, 1:] += u", "y[:, 1:] += u"),
        ("order[:, ::2] += 1", "order[:, ::2] += 1"),
    ],
)
def test_places_that_are_changed_in_steps(line: str, expected: str) -> None:
    source = f"{HEAD}    y = torch.bmm(x, x)\n    {line}\n    return y\n"
    assert f"    {expected}\n" in translate_source(source).text


@pytest.mark.parametrize(
    ("mask", "taken"),
    [
        ("~torch.eye(n, dtype=torch.bool)", True),
        ("torch.ones(n, 2, dtype=torch.bool)", True),
        ("torch.ones(n, dtype=torch.bool)", False),
        ("torch.arange(n)", False),
    ],
)
def test_a_mask_of_several_axes_at_the_end(mask: str, taken: bool) -> None:
    text = translate_source(f"{HEAD}    keep = {mask}\n    return x[..., keep]\n").text
    assert ("functional.picked_at_end(x, keep)" if taken else "x[..., keep]") in text


@pytest.mark.parametrize(
    ("made", "index", "expected"),
    [
        ("torch.randint(n - 2, size=(1,)).long()", ":, :t + 1", ":, :int(t + 1)"),
        ("torch.randint(0, n, (1,))", "t:t + 2", "int(t):int(t + 2)"),
        ("torch.tensor([3])", "-t:", "int(-t):"),
        ("torch.tensor(3)", ":t", ":t"),
        ("x.argmax()", "t:", "t:"),
    ],
)
def test_a_bound_is_one_number_in_an_axis_of_its_own(made: str, index: str, expected: str) -> None:
    source = f"import torch\n\n\ndef f(x, n):\n    t = {made}\n    return x[{index}]\n"
    assert f"return x[{expected}]" in translate_source(source).text


def test_a_list_of_layers_takes_ints() -> None:
    source = (
        "import numpy as np\nimport torch.nn as nn\n\n\nclass Net(nn.Module):\n    def __init__(self):\n"
        "        super().__init__()\n        self.layers = nn.ModuleList([nn.Linear(2, 2)])\n\n"
        "    def forward(self, x):\n"
        "        for i in np.arange(1):\n            x = self.layers[i](x)\n        return self.layers[0](x)\n"
    )
    text = translate_source(source).text
    assert "x = self.layers[int(i)](x)\n        return self.layers[0](x)" in text
