"""Shapes, sizes, dtypes and attributes of tensors."""

from __future__ import annotations

import pytest

from torch2ms.translator.pipeline import translate_source


def value_of(expression: str) -> tuple[str, list[str]]:
    """Return what an expression becomes, and the codes of its errors and warnings."""
    given = "x: torch.Tensor, y: torch.Tensor, n: int, size: tuple, data: list, a, p: torch.nn.Parameter"
    result = translate_source(f"import torch\n\n\ndef f({given}):\n    return {expression}\n")
    last = result.text.strip().splitlines()[-1].strip()
    marks = [item.code for item in result.diagnostics if str(item.severity) != "note"]
    return last.removeprefix("return "), marks


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x.size()", "x.shape"),
        ("x.size(-1)", "x.shape[-1]"),
        ("(x + y).size(dim=n)", "(x + y).shape[n]"),
        ("x.view(x.size(0), -1)", "x.view(x.shape[0], -1)"),
        ("x.view(*size)", "x.view(*size)"),
        ("x.reshape(shape=size)", "x.reshape(size)"),
        ("x.transpose(1, 2).contiguous().view(n, -1)", "x.swapaxes(1, 2).view(n, -1)"),
        ("x.repeat(2, 3)", "x.tile((2, 3))"),
        ("x.repeat(2)", "x.tile((2,))"),
        ("x.repeat(*size, 1)", "x.tile((*size, 1))"),
        ("x.flip(0, -1)", "x.flip((0, -1))"),
        ("x.flip(dims=[0])", "x.flip([0])"),
        ("x.flatten(1)", "x.flatten(1)"),
        ("x.mT", "x.swapaxes(-2, -1)"),
        ("x.new_zeros(2, n)", "ops.zeros((2, n), dtype=x.dtype)"),
        ("torch.Tensor().new_zeros(1, n)", "ops.zeros((1, n), dtype=ms.float32)"),
        ("x.new_full(size, 0.5, dtype=torch.float64)", "ops.full(size, 0.5, dtype=ms.float64)"),
        ("x.new_tensor(data)", "ms.Tensor(data, dtype=x.dtype)"),
        ("x.new(2, 3)", "ops.zeros((2, 3), dtype=x.dtype)"),
        ("x.new(*x.size())", "ops.zeros(x.shape, dtype=x.dtype)"),
        ("x.new(*[2, n])", "ops.zeros([2, n], dtype=x.dtype)"),
        ("x.new(*size)", "functional.typed_tensor(*size, dtype=x.dtype)"),
        ("x[0].detach().new(1, n).fill_(0.)", "ops.full_like(ops.zeros((1, n), dtype=x[0].dtype), 0.)"),
        ("x.double()", "x.astype(ms.float64)"),
        ("x.type(torch.cuda.FloatTensor)", "x.astype(ms.float32)"),
        ("x.type('torch.LongTensor')", "ops.stop_gradient(x).astype(ms.int64)"),
        ("x.type()", "functional.tensor_type_name(x)"),
        ("x.type_as(y + 1)", "x.astype((y + 1).dtype)"),
        ("x.data.cpu().numpy()", "ops.stop_gradient(x).asnumpy()"),
        ("p.requires_grad", "p.requires_grad"),
        ("torch.finfo(x.dtype).min", "float(np.finfo(ms.dtype_to_nptype(x.dtype)).min)"),
        ("torch.iinfo(torch.int8).max", "int(np.iinfo(ms.dtype_to_nptype(ms.int8)).max)"),
        ("torch.zeros(n, device=x.device)", "ops.zeros(n)"),
    ],
)
def test_what_tensors_say(source: str, expected: str) -> None:
    assert value_of(source) == (expected, [])


@pytest.mark.parametrize(
    "source",
    ["x.new(a)", "(x * y).new_zeros(abs(n)).new(a)", "x.requires_grad"],
)
def test_what_cannot_be_said_is_marked(source: str) -> None:
    assert "T2M203" in value_of(source)[1]


def _last_line(code: str) -> str:
    return translate_source(f"import torch\n\n\n{code}\n").text.splitlines()[-1].strip()


def test_the_data_of_a_parameter_are_copied() -> None:
    """An optimizer of MindSpore trains no more a parameter whose memory was replaced."""
    assert _last_line("def f(p: torch.nn.Parameter, x):\n    p.data = x") == "weight_data.put(p, x)"
    assert _last_line("def f(p: torch.nn.Parameter):\n    p.data *= 0.5") == "weight_data.put(p, p * 0.5)"
    loop = "def f(group):\n    for p in group['params']:\n        p.data = p.data - 1"
    assert _last_line(loop) == "weight_data.put(p, p.data - 1)"


def test_other_data_stay() -> None:
    assert _last_line("def f(x: torch.Tensor):\n    x.data = x + 1") == "x.data = x + 1"
    assert _last_line("def f(batch, x: torch.Tensor):\n    batch.data = x") == "batch.data = x"
    assert _last_line("class C:\n    def f(self, x: torch.Tensor):\n        self.data = x") == "self.data = x"


def test_first_values_are_set() -> None:
    assert _last_line("def reset_parameters(p: torch.nn.Parameter, x):\n    p.data = x") == "p.data = x"


def test_data_that_are_kept_are_copied_where_others_are_put() -> None:
    head = "def f(p: torch.nn.Parameter, x):\n    "
    assert _last_line(f"{head}p.data = x\n    saved = p.data") == "saved = ops.stop_gradient(p).copy()"
    assert _last_line(f"{head}saved = p.data") == "saved = ops.stop_gradient(p)"


STEPS = """
    net = torch.nn.Linear(2, 2)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    {first}
    for x in loader:
        optimizer.zero_grad()
        loss = net(x).sum()
        loss.backward()
        optimizer.step()
    {last}
"""


def test_first_values_behind_a_step_are_copied() -> None:
    """An optimizer that has stepped trains no more what ``set_data`` replaces."""
    fill = "torch.nn.init.zeros_(net.bias)"
    first = translate_source("import torch\ndef f(loader):" + STEPS.format(first=fill, last="")).text
    assert 'net.bias.set_data(init.initializer("zeros", net.bias.shape, net.bias.dtype))' in first
    last = translate_source("import torch\ndef f(loader):" + STEPS.format(first="", last=fill)).text
    assert "initializers.zeros_(net.bias)" in last
    last = translate_source("import torch\ndef f(loader):" + STEPS.format(first="", last="net.bias.data.zero_()")).text
    assert "ops.assign(net.bias, ops.zeros_like(net.bias))" in last


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x.split([h * w for h, w in data], 1)", "ops.split(x, [int(h * w) for h, w in data], 1)"),
        ("x.split([len(part) for part in data])", "ops.split(x, [len(part) for part in data])"),
        ("x.split([1, n])", "ops.split(x, [1, n])"),
        ("x.split([n for _ in data])", "ops.split(x, [n for _ in data])"),
    ],
)
def test_sizes_of_parts_that_may_be_tensors(source: str, expected: str) -> None:
    assert value_of(source) == (expected, [])
