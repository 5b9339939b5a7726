"""What is right as it is translated carries no mark."""

from __future__ import annotations

import pytest

from torch2ms import translate_source
from torch2ms.config import Options, Target
from torch2ms.translator.pipeline import SourceResult

HEAD = "import torch\nimport torch.nn.functional as F\nfrom torch import nn\n\n\n"


def translated(source: str) -> SourceResult:
    return translate_source(HEAD + source)


def codes(result: SourceResult) -> list[str]:
    return [d.code for d in result.diagnostics if str(d.severity) != "note"]


@pytest.mark.parametrize(
    "body",
    [
        "if torch.is_tensor(x):\n        return x[i]\n    else:\n        return x.take(indices=i, axis=0)",
        "if isinstance(x, torch.Tensor):\n        return x.index_select(0, i)\n    return x.take(indices=i, axis=0)",
        "if not isinstance(x, torch.Tensor):\n        return x.take(indices=i, axis=0)\n    return x.view(-1, 1)",
        "return x.index_select(0, i) if torch.is_tensor(x) else x.take(indices=i, axis=0)",
    ],
)
def test_what_is_no_tensor_in_the_other_branch_is_an_array(body: str) -> None:
    result = translated(f"def pick(x, i):\n    {body}\n")
    assert "x.take(indices=i, axis=0)" in result.text
    assert not codes(result)


def test_a_tensor_stays_one_where_the_test_is_of_a_class_of_its_own() -> None:
    source = (
        "def f(x: torch.Tensor):\n    if isinstance(x, nn.Parameter):\n        return x\n    return x.repeat(2, 1)\n"
    )
    assert "return x.tile((2, 1))" in translated(source).text


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("y.split(split_size=[2, 4], dim=-1)", "ops.split(y, split_size_or_sections=[2, 4], axis=-1)"),
        ("y.split(2, dim=1)", "ops.split(y, 2, axis=1)"),
        ("y.view(torch.int32)", "y.view(ms.int32)"),
        ("y.view(dtype=torch.uint8)", "y.view(ms.uint8)"),
        ("y[0].unsqueeze_(0).clone()", "y[0].unsqueeze(0).copy()"),
    ],
)
def test_calls_that_have_a_counterpart(call: str, expected: str) -> None:
    result = translated(f"def parts(y: torch.Tensor):\n    return {call}\n")
    assert f"return {expected}\n" in result.text
    assert not codes(result)


def test_a_view_of_another_dtype_is_marked_before_2_8() -> None:
    options = Options(Target(mindspore=(2, 7)))
    result = translate_source(f"{HEAD}def bits(y: torch.Tensor):\n    return y.view(torch.int32)\n", options=options)
    assert codes(result) == ["T2M203"]


@pytest.mark.parametrize("call", ["y[0].unsqueeze_(0).add_(1)", "y[0].mul_(2).unsqueeze_(0).clone()"])
def test_what_writes_into_a_part_on_the_way_is_marked(call: str) -> None:
    assert "T2M203" in codes(translated(f"def parts(y: torch.Tensor):\n    z = {call}\n    return z, y\n"))


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("n = 2\nf = getattr(F, 'conv%dd' % n)", "f = functional.conv2d"),
        ("n = 2\nf = getattr(F, f'avg_pool{n}d')", "f = "),
        ("name = 'Re' + 'LU'\nf = getattr(nn, name)()", "f = layers.ReLU()"),
    ],
)
def test_names_that_the_text_shows(lines: str, expected: str) -> None:
    result = translated(f"{lines}\n")
    assert expected in result.text
    assert "getattr" not in result.text
    assert not codes(result)


@pytest.mark.parametrize(
    "lines",
    ["for n in (1, 2):\n    f = getattr(F, 'conv%dd' % n)", "def f(n):\n    return getattr(F, 'conv%dd' % n)",
     "n = 1\nn += 1\nf = getattr(F, f'conv{n}d')"],
)  # fmt: skip
def test_names_that_depend_on_the_run_are_marked(lines: str) -> None:
    assert codes(translated(f"{lines}\n")) == ["T2M501"]


def test_classifiers_are_looked_up_by_name_among_those_of_the_runtime() -> None:
    result = translate_source(
        "import torchvision\n\n\ndef f(name):\n    return getattr(torchvision.models, name)(num_classes=4)\n"
    )
    assert "return getattr(vision_models, name)(num_classes=4)" in result.text
    assert not codes(result)


def test_filters_of_warnings_that_nothing_gives() -> None:
    result = translate_source(
        "import warnings\nimport torch\n\nwarnings.simplefilter('ignore', torch.jit.TracerWarning)\n"
    )
    assert "warnings.simplefilter('ignore', absent.TracerWarning)" in result.text
    assert not codes(result)


@pytest.mark.parametrize(
    "assertion",
    ["not any(t.requires_grad for t in xs)", "all(not t.requires_grad for t in xs)",
     "all(t.requires_grad is False for t in xs) and len(xs)"],
)  # fmt: skip
def test_assertions_hold_that_torch_would_answer(assertion: str) -> None:
    source = f"def f(a: torch.Tensor, b: torch.Tensor):\n    xs = [a, b]\n    assert {assertion}\n    return a + b\n"
    result = translated(source)
    assert "requires_grad" not in result.text
    assert not codes(result)


def test_what_is_shown_of_the_graph_stays_marked() -> None:
    source = "def f(net: nn.Module, x):\n    y = net(x)\n    print(any(t.requires_grad for t in [y]))\n    return y\n"
    assert codes(translated(source)) == ["T2M203"]


def test_the_state_of_an_optimizer_is_changed_in_chains() -> None:
    source = (
        "class Mine(torch.optim.Optimizer):\n    @torch.no_grad()\n    def step(self):\n"
        "        for group in self.param_groups:\n            for p in group['params']:\n"
        "                state = self.state[p]\n"
        "                state['exp_avg'].mul_(0.9).add_(p.grad, alpha=0.1)\n"
        "                p -= state['exp_avg'].sign()\n"
    )
    result = translated(source)
    assert "state['exp_avg'][...] = state['exp_avg'] * 0.9 + 0.1 * gradients.of(p)" in result.text
    assert "ops.assign(p, p - " in result.text
    assert not codes(result)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("torch.lerp(x, y, w)", "ops.lerp(x, y, functional.float_of_int(w))"),
        ("torch.lerp(x, y, n)", "ops.lerp(x, y, float(n))"),
        ("torch.lerp(x, y, 0.5)", "ops.lerp(x, y, 0.5)"),
        ("torch.lerp(x, y, x)", "ops.lerp(x, y, x)"),
        ("nn.CELU(n)", "nn.CELU(float(n))"),
        ("nn.CELU(2)", "nn.CELU(2.0)"),
        ("nn.PReLU(init=w)", "nn.PReLU(w=functional.float_of_int(w))"),
        ("nn.Dropout1d(p=w)", "nn.Dropout1d(p=float(w))"),
    ],
)
def test_numbers_that_may_be_ints_where_mindspore_wants_floats(call: str, expected: str) -> None:
    result = translated(f"def f(x: torch.Tensor, y: torch.Tensor, n: int, w):\n    return {call}\n")
    assert f"return {expected}\n" in result.text


ARRAYS = "import numpy as np\n\n\n"


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        (
            "s = torch.eye(3).to_sparse_csr()\nprint(s.col_indices(), s._nnz())",
            "s = torch.eye(3).to_sparse_csr()\ns.mul_(0)\nprint(s._nnz())",
        ),
        (
            "x = torch.randn(3, 4)\nprint(torch.as_strided(x, (2, 2), (1, 2)))",
            "x = torch.randn(3, 4)\nx.t_()\nprint(torch.as_strided(x, (2, 2), (1, 2)))",
        ),
        ("x = torch.ones(3, 2)\ny = x.resize_(2, 2)\nprint(x, y)", "def f(x):\n    y = x.resize_(2, 2)\n    return y"),
        (
            "a = np.zeros(3)\nt = torch.from_numpy(a)\nt[0] = 1\nprint(t)",
            "a = np.zeros(3)\nt = torch.from_numpy(a)\nt[0] = 1\nprint(t, a)",
        ),
        (
            "def f():\n    a = np.zeros(3)\n    t = torch.from_numpy(a)\n    t[0] = 1\n    return t",
            "def f(a):\n    t = torch.from_numpy(a)\n    t[0] = 1\n    return t",
        ),
        (
            "def f():\n    a = np.zeros(3)\n    t = torch.from_numpy(a)\n    t[0] = 1\n    return t",
            "a = np.zeros(3)\n\n\ndef f():\n    return a\n\n\nt = torch.from_numpy(a)\nt[0] = 1\nprint(f())",
        ),
    ],
)
def test_memory_that_nothing_else_sees_is_not_reported(right: str, wrong: str) -> None:
    assert not codes(translated(f"{ARRAYS}{right}\n"))
    assert set(codes(translated(f"{ARRAYS}{wrong}\n"))) <= {"T2M303", "T2M305"}
    assert codes(translated(f"{ARRAYS}{wrong}\n"))


def test_casts_of_cuda_are_a_note_on_a_cpu_and_a_warning_on_a_device_that_casts() -> None:
    source = HEAD + "def f(net, x, on):\n    with torch.cuda.amp.autocast(enabled=on):\n        return net(x)\n"
    assert not codes(translate_source(source))
    assert codes(translate_source(source, options=Options(target=Target(device="ascend")))) == ["T2M303"]
    assert codes(translated("def f(net, x):\n    with torch.autocast('cpu'):\n        return net(x)\n")) == ["T2M303"]


def test_contexts_of_gradients_are_handed_on_with_their_arguments() -> None:
    result = translated("def f(net, x, wrap=torch.no_grad):\n    with wrap():\n        return net(x)\n")
    assert "wrap=autograd.no_grad" in result.text
    assert not codes(result)


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        ("x.type() == 'torch.FloatTensor'", []),
        ("x.type() in ('torch.FloatTensor', 'torch.DoubleTensor')", []),
        ("x.type() == 'torch.cuda.FloatTensor'", ["T2M503"]),
        ("name == 'torch.FloatTensor'", ["T2M503"]),
    ],
)
def test_types_by_name_are_those_of_the_text_that_a_tensor_gives(test: str, expected: list[str]) -> None:
    assert codes(translated(f"def f(x: torch.Tensor, name):\n    return {test}\n")) == expected


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("*torch.ones(2, 2)", "*map(functional.tensor_text, ops.ones((2, 2)))"),
        ("*[torch.ones(2)]", "*map(functional.tensor_text, [ops.ones(2)])"),
        ("*{'a': torch.ones(2)}", "*{'a': ops.ones(2)}"),
        ("*[1, 2]", "*[1, 2]"),
    ],
)
def test_spread_tensors_are_printed_as_torch_writes_them(given: str, expected: str) -> None:
    result = translated(f"print({given})\n")
    assert f"print({expected})" in result.text
    assert not codes(result)


IN_PLACE = {
    "array": (
        "def f(x, m):\n    if isinstance(x, np.ndarray):\n        x -= m\n        return x\n    return x.unsqueeze(0)\n"
    ),
    "list before": (
        "def f(parts, m: torch.Tensor):\n    kept = []\n    for p in parts:\n        kept.append(p)\n"
        "    if len(parts):\n        kept = torch.cat(kept)\n    if len(parts):\n        kept -= m\n    return kept\n"
    ),
    "name given up": (
        "def f(x: torch.Tensor, net):\n    best = None\n    for k in range(3):\n        found = net(x * k).clone()\n"
        "        if best is None:\n            best = found\n        else:\n            best += found\n"
        "    best /= 3\n    return best\n"
    ),
}
SEEN = {
    "read in the next round": "        print(found)\n        found = x * k\n",
    "read behind the loop": "        found = x * k\n",
    "read by a function": "        found = x * k\n        calls.append(lambda: found)\n",
    "an element": "        found = calls[k]\n",
}


@pytest.mark.parametrize("name", IN_PLACE)
def test_in_place_change_that_no_other_name_sees(name: str) -> None:
    result = translate_source(f"import numpy as np\n{HEAD}{IN_PLACE[name]}")
    assert not codes(result)
    assert " -= m" in result.text or "best /= 3" in result.text


@pytest.mark.parametrize("name", SEEN)
def test_in_place_change_that_another_name_sees_is_marked_or_written_into_the_tensor(name: str) -> None:
    behind = "    print(found)\n" if name == "read behind the loop" else ""
    result = translated(
        f"def f(x: torch.Tensor, calls: list[torch.Tensor]):\n    found, best = x * 2, None\n    for k in range(3):\n"
        f"{SEEN[name]}        if best is None:\n            best = found\n        else:\n            best += 1\n"
        f"{behind}    return best\n"
    )
    assert "T2M305" in codes(result) or "best[...] =" in result.text


def test_split_of_an_untyped_value_into_sizes_along_an_axis_is_a_tensors() -> None:
    result = translated("def f(p, i, n):\n    return p[0, i].split((2, 2, n), 1)\n")
    assert "ops.split(p[0, i], (2, 2, n), 1)" in result.text
    assert not codes(result)


@pytest.mark.parametrize("call", ["p.split(x, y)", "p.split(':', 1)", "p.split([1, 2])"])
def test_split_that_may_be_another_objects_stays(call: str) -> None:
    assert call in translated(f"def f(p, x, y):\n    return {call}\n").text


def test_half_precision_of_a_network_is_no_warning() -> None:
    assert not codes(translated("def f(net: nn.Module):\n    return net.half()\n"))


def test_what_cannot_be_handed_on_is_told_once() -> None:
    assert codes(translated("record = torch.autograd.profiler.record_function\n")) == ["T2M203"]
