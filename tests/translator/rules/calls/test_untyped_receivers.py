"""Receivers without annotations: what their methods tell, and what is said where they tell nothing."""

from __future__ import annotations

import textwrap

import pytest

from torch2ms.translator.pipeline import SourceResult, translate_source

HEAD = "import torch\nimport numpy as np\n\n"


def translated(source: str) -> SourceResult:
    return translate_source(HEAD + textwrap.dedent(source))


def codes(result: SourceResult) -> list[str]:
    return [d.code for d in result.diagnostics if str(d.severity) != "note"]


@pytest.mark.parametrize(
    "statement",
    [
        "return x.reshape(-1, 3)",
        "return x.mean(axis=0), x.std(axis=0), x.max(axis=1)",  # numpy's word
        "return x.split(','), x.index('a'), x.values()",
        "x.sort()",
        "x.add(3)",
        "return x.item(), x.sum(), x.tolist(), x.log(1, 'message')",
        "return x.transpose(2, 0, 1)",  # only arrays take three
        "return x.relu(3)",
        "return {k: v.copy() for k, v in x.items()}",
    ],
)
def test_what_stays_and_is_not_reported(statement: str) -> None:
    source = f"def f(x):\n    {statement}\n"
    result = translated(source + "y = torch.ones(3)\n")
    assert statement in result.text
    assert not codes(result)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("h.size()", "h.shape"),
        ("h.size(0)", "h.shape[0]"),
        ("h.max(dim=1)[0]", "ops.max(h, axis=1)[0]"),
        ("h.clone()", "ops.deepcopy(h)"),
        ("h.t()", "ops.t(h)"),
        ("h.norm(2)", "functional.norm(h, 2)"),
        ("h.numpy()", "h.asnumpy()"),
        ("h.cuda()", "h"),
    ],
)
def test_what_only_tensors_have(expression: str, expected: str) -> None:
    result = translated(f"def f(box):\n    h = box.find()\n    return {expression}\n\ny = torch.ones(3)\n")
    assert f"return {expected}" in result.text
    assert not codes(result)


@pytest.mark.parametrize(
    "expression",
    ["h.max(1)", "h.std()", "h.repeat(1, 2)", "h.sort(1)", "h.var(0)", "a, b = h.min(axis=1)", "h.unique()"],
)
def test_what_arrays_have_as_well_is_written_in_both_forms_where_it_differs(expression: str) -> None:
    result = translated(f"def f(box):\n    h = box.find()\n    return {expression}\n".replace("return a", "a"))
    assert f" if isinstance(h, ms.Tensor) else {expression.rpartition('= ')[2]}\n" in result.text
    assert [str(item.severity) for item in result.diagnostics if item.code == "T2M207"] == ["note"]


@pytest.mark.parametrize("call", ["h.exp()", "h.tanh()", "h.clamp(0).log1p()"])
def test_what_only_sparse_matrices_and_the_like_have_as_well_tells_a_tensor_where_none_are(call: str) -> None:
    source = f"def f(box):\n    h = box.find()\n    return {call}\n"
    assert "isinstance" not in translated(f"import random\nimport numpy as np\n{source}").text


@pytest.mark.parametrize(
    ("package", "word"), [("scipy.sparse", "tanh"), ("sklearn.datasets", "log1p"), ("mine", "tanh")]
)
def test_what_a_package_may_bring_tells_nothing(package: str, word: str) -> None:
    result = translated(f"import {package}\ndef f(box):\n    h = box.find()\n    return h.{word}()\n")
    assert f" if isinstance(h, ms.Tensor) else h.{word}()" in result.text


@pytest.mark.parametrize("call", ["box.find().repeat(1, 2)", "box.to(3)", "box[i].std()"])
def test_what_cannot_be_read_twice_or_is_a_networks_as_well_is_reported(call: str) -> None:
    result = translated(f"def f(box, i):\n    return {call}\n")
    assert f"return {call}\n" in result.text
    assert codes(result) == ["T2M207"]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("(box > 0).type(torch.FloatTensor)", "(box > 0).astype(ms.float32)"),
        ("(box > 0).double()", "(box > 0).astype(ms.float64)"),
        ("box.type(torch.BoolTensor)", "ops.stop_gradient(box).astype(ms.bool_)"),
    ],
)
def test_what_operators_give_is_no_network(source: str, expected: str) -> None:
    result = translated(f"def f(box):\n    return {source}\n")
    assert f"return {expected}\n" in result.text
    assert codes(result) == []


def test_both_forms_stand_in_parentheses_inside_of_a_larger_expression() -> None:
    result = translated("def f(box):\n    h = box.find()\n    return 1 + h.std()\n")
    assert "return 1 + (functional.std(h) if isinstance(h, ms.Tensor) else h.std())" in result.text


@pytest.mark.parametrize(
    ("definition", "call"),
    [
        ("class Box:\n    def size(self):\n        return 3\n", "x.size()"),
        ("class Box:\n    def cuda(self):\n        return self\n", "x.cuda()"),
        ("class Agent:\n    def eval(self):\n        return self\n", "x.eval()"),
        (
            "class Net(torch.nn.Module):\n    def __init__(self):\n        self.norm = torch.nn.Identity()\n",
            "x.norm(2)",
        ),
    ],
)
def test_a_name_of_the_projects_own_tells_nothing(definition: str, call: str) -> None:
    result = translated(f"{definition}\ndef f(x):\n    {call}\n    y = {call}\n    return y\n")
    assert f"{call}\n    return y\n" in result.text
    assert any(item.code == "T2M207" for item in result.diagnostics)


def test_a_trial_leaves_nothing_behind() -> None:
    result = translated("def f(box):\n    return box.find().unique(), box.find().max(1)\n")
    assert "import mindspore" not in result.text
    assert "torch2ms_runtime" not in result.text
    assert not result.uses


def test_a_break_carries_what_was_bound() -> None:
    result = translated("""
        def f(values):
            found = None
            for v in values:
                if isinstance(v, torch.Tensor):
                    found = v
                    break
            return torch.tensor(3.0).to(found)
    """)
    assert "return ms.tensor(3.0).astype(found.dtype)" in result.text


def test_numpys_names_of_parameters() -> None:
    result = translated(
        "def f(xs):\n    return torch.cat(xs, axis=1), torch.sum(torch.ones(2, 3), axis=1, keepdims=True)\n"
    )
    assert "ops.cat(xs, axis=1)" in result.text
    assert not codes(result)


def test_parentheses_that_hold_lines_together_stay() -> None:
    result = translated("def f(x: torch.Tensor):\n    y = (x\n         .sum(-1)\n         .cpu())\n    return y\n")
    assert "    y = (x\n         .sum(-1))\n" in result.text


TYPED = """
import torch
import torchvision.transforms as T
from dataclasses import dataclass
from typing import Dict, List, NamedTuple


class Pair(NamedTuple):
    a: torch.Tensor
    b: torch.Tensor


class Holder:
    def __init__(self):
        self.items = []
        self.memo = {}

    def put(self, t: torch.Tensor):
        self.items.append(t)
        self.memo["k"] = t


class Rows(torch.utils.data.Dataset):
    def __getitem__(self, i):
        return torch.ones(3), "name"


def rest(*args, **kwargs):
    return args[0].std(), kwargs["x"].std()


rest(torch.ones(3), x=torch.ones(3))


def f(h: Holder, p: Pair, u, net, loader, path):
    first, _ = p
    for row, name in torch.utils.data.DataLoader(Rows()):
        pass
    for given in loader:
        net.eval()
        out = net(given)
    options = {"x": torch.ones(3), "n": 3}
    copied = {**options}
    named = dict(t=torch.ones(3))
    image = T.Compose([T.Resize(3), T.ToTensor()])(path)
    losses = []
    losses.append(torch.ones(3))
    picked = (lambda v: v)(torch.ones(3))
    several = [t.std() for t in map(lambda v: v, losses)]
    if isinstance(u, torch.Tensor) and EXPRESSION:
        return EXPRESSION
    return EXPRESSION
"""


@pytest.mark.parametrize(
    "tensor",
    [
        "first", "row", "out", "given", 'options["x"]', 'named["t"]', "image", "losses[0]", "sum(losses)", "picked",
        "h.items[0]", 'h.memo["k"]', "[i for i in h.items][0]", "(u if isinstance(u, torch.Tensor) else None)",
    ],
)  # fmt: skip
def test_where_tensors_come_from(tensor: str) -> None:
    result = translate_source(TYPED.replace("EXPRESSION", f"{tensor}.std()"))
    assert "T2M207" not in codes(result), result.diagnostics
    assert result.text.count("functional.std(") == 6


@pytest.mark.parametrize("value", ['name[0].split("/")', 'options["n"].real', "Holder().put", 'copied["n"].real'])
def test_what_is_no_tensor(value: str) -> None:
    result = translate_source(TYPED.replace("EXPRESSION", value))
    assert f"return {value}" in result.text


def test_a_parameter_tells_only_until_it_is_bound_anew() -> None:
    result = translated("""
        def f(image, tf):
            size = image.max(1)
            image = tf(image)
            return image.unsqueeze(0)
    """)
    assert "if isinstance(image, ms.Tensor) else image.max(1)" in result.text


@pytest.mark.parametrize("call", ["q.x.size(0)", "q.x.size(-1)"])
def test_lengths_of_axes_may_be_what_a_class_of_the_project_answers(call: str) -> None:
    source = "import torch\n\n\nclass D:\n    def size(self, index):\n        return index\n\n\n"
    text = translate_source(source + f"def f(q):\n    return {call}\n").text
    axis = call.replace("size(", "shape[").replace(")", "]")
    assert f"return {axis} if isinstance(q.x, ms.Tensor) else {call}\n" in text


def test_eval_of_what_is_called_as_a_network_is() -> None:
    source = "import torch\n\n\nclass D:\n    def eval(self):\n        pass\n\n\ndef f(model, it):\n"
    text = translate_source(source + "    model.eval()\n    it.eval()\n    return model(3)\n").text
    assert "    model.set_train(False)\n" in text
    assert "    it.eval()\n" in text


def test_types_with_parameters_are_types() -> None:
    source = "import torch\nfrom typing import Dict, List\n\nBatch = Dict[str, List[torch.Tensor]]\n"
    result = translate_source(source)
    assert "Batch = Dict[str, List[ms.Tensor]]" in result.text
    assert not result.diagnostics


def test_names_of_extensions_are_not_there() -> None:
    result = translate_source('import torch\n\nmusa = hasattr(torch, "is_musa_available")\n')
    assert "musa = False" in result.text
    assert [d.code for d in result.diagnostics] == ["T2M504"]


@pytest.mark.parametrize("start", ["0", "0.0"])
def test_a_number_that_tensors_are_added_to_becomes_a_tensor(start: str) -> None:
    source = (
        "import torch\nimport torch.nn.functional as F\n\n\nclass Net(torch.nn.Module):\n    def forward(self, xs):\n"
        f"        score = {start}\n        for x in xs:\n            score += F.relu(x)\n        return score\n\n\n"
        "def main(xs):\n    net = Net()\n    score = net(xs)\n"
        "    return score.detach(), score.argmax(1, keepdim=True)\n"
    )
    found = translate_source(source)
    assert "            score += ops.relu(x)\n        return score" in found.text  # it is nobody else's: no mark
    assert "return ops.stop_gradient(score), score.argmax(1, keepdims=True)" in found.text


def test_a_number_that_numbers_are_added_to_stays_one() -> None:
    source = "import torch\n\n\ndef f(x: torch.Tensor, n=0):\n    n += x.size(0)\n    n += x.sum().item()\n"
    source += "    return n.real\n"
    assert "    return n.real\n" in translate_source(source).text


NETWORK = """import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.bn1 = nn.BatchNorm2d(3)
        self.emb = nn.Embedding(5, 3)
        self.fc = nn.Linear(3, 3)


def load(model, w):
"""


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("model.bn1.weight = nn.Parameter(w)", "model.bn1.gamma = ms.Parameter(w, name=model.bn1.gamma.name)"),
        ("model.bn1.running_mean = w", "model.bn1.moving_mean = w"),
        ("model.emb.weight = nn.Parameter(w)", "ms.Parameter(w, name=model.emb.embedding_table.name)"),
        ("model.fc.weight = nn.Parameter(w)", "model.fc.weight = ms.Parameter(w, name=model.fc.weight.name)"),
        ("print(model.bn1.bias.shape)", "print(model.bn1.beta.shape)"),
    ],
)
def test_a_layer_of_an_unknown_network_by_the_name_that_the_project_gives_it(line: str, expected: str) -> None:
    found = translate_source(f"{NETWORK}    {line}\n")
    assert expected in found.text
    assert "T2M207" not in [d.code for d in found.diagnostics]


def test_what_is_stored_in_a_layer_of_no_known_class_is_marked() -> None:
    """MindSpore's normalisation would not use it: the network would compute with its own, without a word."""
    found = translate_source(f"{NETWORK}    model.norm.weight = nn.functional.relu(w)\n")
    assert "T2M207" in [d.code for d in found.diagnostics]


def test_a_statistic_of_a_layer_of_no_known_class_is_set_when_it_runs() -> None:
    found = translate_source(f"{NETWORK}    model.norm.running_var = w\n")
    assert "parts.set_statistic(model.norm, 'running_var', w)" in found.text
    assert "T2M207" not in [d.code for d in found.diagnostics]


def test_a_parameter_of_a_layer_of_no_known_class_is_set_when_it_runs() -> None:
    """Under the name that MindSpore's layer has for it."""
    found = translate_source(f"{NETWORK}    model.norm.weight = nn.Parameter(w)\n")
    assert "parts.set_parameter(model.norm, 'weight', ms.Parameter(w))" in found.text
    assert "T2M207" not in [d.code for d in found.diagnostics]


def test_a_call_that_no_network_takes_is_left() -> None:
    source = "import torch\n\n\ndef f(frame):\n    return frame.date.apply(lambda row: row.month, 1)\n"
    assert not translate_source(source).diagnostics


@pytest.mark.parametrize(
    "statement",
    [
        "return frame.groupby('user').size()",
        "return frame.groupby('user')['item'].std().max()",
        "counts = frame[['user']].groupby('user', as_index=False)\n    return counts.size(), counts.std()",
    ],
)
def test_groups_of_data_frames_are_no_tensors(statement: str) -> None:
    result = translated(f"def f(frame):\n    {statement}\ny = torch.ones(3)\n")
    assert statement in result.text
    assert not codes(result)


def test_what_a_static_method_is_handed() -> None:
    result = translated("""
        class Steps:
            @staticmethod
            def last(count, t):
                return t.max(1).values, count.max(1)

        def f(steps: Steps, names):
            return steps.last(names, torch.ones(3, 4)), Steps.last(names, torch.ones(3, 4))
    """)
    assert "return ops.max(t, 1)[0]" in result.text


@pytest.mark.parametrize(
    ("definition", "expected"),
    [
        (
            "def size(self):\n        return self.n, self.m",
            "memory.shape if isinstance(memory, ms.Tensor) else memory.size()",
        ),
        ("def rows(self):\n        return self.n", "n, m = memory.shape\n"),
    ],
)
def test_a_class_of_the_project_may_have_sizes_of_its_own(definition: str, expected: str) -> None:
    source = f"import torch\n\n\nclass Memory(torch.nn.Module):\n    {definition}\n\n\n"
    assert expected in translate_source(f"{source}def f(memory):\n    n, m = memory.size()\n    return n\n").text


def test_an_option_that_is_off_changes_no_result() -> None:
    text = translated("""
        def f(loss: torch.Tensor):
            return max(loss.nonzero(as_tuple=False).size(0), 1), loss.unique(return_counts=False).size(0)
    """).text
    assert text.count(".shape[0]") == 2


def test_a_name_that_is_none_until_a_function_binds_it_for_all() -> None:
    source = "import torch\ngrid = None\n\n\ndef make(n):\n    global grid\n    grid = torch.arange(n)\n\n\n"
    text = translate_source(f"{source}def f(n):\n    if grid is None or grid.size(0) < n:\n        make(n)\n").text
    assert "grid is None or grid.shape[0] < n" in text


@pytest.mark.parametrize("name", ["weight_ih_l0", "bias_hh_l1_reverse"])
def test_weights_of_recurrent_layers_are_tensors(name: str) -> None:
    source = "import torch\n\n\nclass A(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    source += "        self.lstm = torch.nn.LSTM(2, 3, 2, bidirectional=True)\n\n    def is_cuda(self):\n"
    assert "device.is_accelerated()" in translate_source(f"{source}        return self.lstm.{name}.data.is_cuda\n").text


def test_places_of_numpy_in_what_is_asked_as_a_tensor() -> None:
    result = translated("""
        def f(data, scores):
            order = np.argsort(np.array(scores))
            return data.images[order[:32], ...].unsqueeze(1), np.transpose(data.images[order[:32], ...])
    """)
    assert "return data.images[ms.Tensor(order[:32]), ...].unsqueeze(1), np.transpose(data.images[order[" in result.text


def test_values_of_what_a_network_gives_may_be_a_dictionarys() -> None:
    result = translated("""
        class Net(torch.nn.Module):
            def forward(self, x):
                return build(x)

        net = Net()
        y = list(net(x).values())
        out = net(x)
        z = sum(out.values())
    """)
    assert "y = list(net(x).values())\n" in result.text
    assert "z = sum(out.values())" in result.text
    assert not codes(result)


def test_a_configuration_is_no_tensor_though_it_has_clone() -> None:
    """``_C = CfgNode()``, ``config = _C.clone()``: what Swin's programs begin with."""
    result = translated(
        """
        from yacs.config import CfgNode as CN
        _C = CN()
        _C.SIZE = 3

        def get_config(args, x):
            config = _C.clone()
            config.merge_from_file(args.cfg)
            return config, x.clone()
        """
    )
    assert "config = _C.clone()\n" in result.text
    assert "ops.deepcopy(x)" in result.text
    assert not codes(result)


@pytest.mark.parametrize("name", ["cfg", "config", "self.cfg"])
def test_what_is_used_as_a_configuration_is_asked_whether_it_is_a_tensor(name: str) -> None:
    body = f"    {name}.merge_from_file('a')\n    made = {name}.clone()\n    return made, torch.ones(3)\n"
    result = translated(f"def reset(self, cfg, config):\n{body}")
    assert f"made = ops.deepcopy({name}) if isinstance({name}, ms.Tensor) else {name}.clone()\n" in result.text


@pytest.mark.parametrize("used", ["self.module.eval()", "self.module.parameters()", "print(self.module)"])
def test_what_is_used_as_a_network_is_moved_as_one(used: str) -> None:
    """``self.module.to(device)`` of a copy of a network, as averages of weights hold one: no tensor could be meant."""
    result = translated(
        f"""
        class Average(torch.nn.Module):
            def __init__(self, model, device=None):
                super().__init__()
                self.module = model
                {used}
                self.module.to(device=device)
        """
    )
    assert not codes(result)
    assert ".to(" not in result.text


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("x.to(device=d, dtype=t)", "y = states.of_type(x, t)"),
        ("x.to(device=x.device, dtype=x.dtype)", "y = states.of_type(x, x.dtype)"),
        ("x.to(dtype=torch.float32, non_blocking=True)", "y = states.of_type(x, ms.float32)"),
        ("x.to('cpu', dtype=torch.float16)", "y = states.of_type(x, ms.float16)"),
    ],
)
def test_what_may_be_a_tensor_or_a_network_is_cast_by_the_runtime(call: str, expected: str) -> None:
    result = translate_source(f"import torch\n\n\ndef f(x, d, t):\n    y = {call}\n    return y\n")
    assert expected in result.text
    assert not [d for d in result.diagnostics if d.code == "T2M207"]
