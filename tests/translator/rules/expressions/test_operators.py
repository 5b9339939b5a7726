"""Operators and Python's own functions on tensors: only where MindSpore's tensors would do something else."""

from __future__ import annotations

import pytest

from torch2ms import translate_source


def body(source: str) -> str:
    text = translate_source(f"import torch\n{source}\n").text
    return text.rstrip().splitlines()[-1]


@pytest.mark.parametrize(
    "source",
    [
        "y = ~(torch.ones(3) > 0)",
        "def f(mask):\n    return ~mask",
        "y = 1 << 3",
        "def f(a, b):\n    return a << b",
        "y = abs(-3)",
        "y = str(3)",
        "def f(x):\n    return str(x)",
    ],
)
def test_what_means_the_same_stays(source: str) -> None:
    last = source.splitlines()[-1]
    assert body(source) == last.replace("torch.ones", "ops.ones")


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("y = ~torch.tensor([1, 2])", "y = functional.bitwise_not(ms.tensor([1, 2]))"),
        ("x = [list(range(n)) for n in (3, 3)]\ny = ~torch.tensor(x)", "y = functional.bitwise_not(ms.tensor(x))"),
        (
            "import numpy as np\ny = ~torch.from_numpy(np.array([1, 2]))",
            "y = functional.bitwise_not(ms.Tensor(np.array([1, 2])))",
        ),
        (
            "y = torch.mul(torch.tensor([1j]), 2j)",
            "y = functional.complex_product(ms.tensor([1j], dtype=ms.complex64), 2j)",
        ),
        ("y = ~torch.arange(3)", "y = functional.bitwise_not(ops.arange(3))"),
        ("y = torch.arange(3) << 1", "y = functional.bitwise_left_shift(ops.arange(3), 1)"),
        ("y = 8 >> torch.arange(3)", "y = functional.bitwise_right_shift(8, ops.arange(3))"),
        ("x = torch.arange(3)\nx <<= 2", "x = functional.bitwise_left_shift(x, 2)"),
        ("x = torch.arange(3)\ny = torch.exp(x)", "y = functional.exp(x.astype(ms.float32))"),
        ("x = torch.arange(3)\ny = x.sigmoid()", "y = x.astype(ms.float32).sigmoid()"),
        ("x = torch.arange(3.0)\ny = torch.exp(x)", "y = ops.exp(x)"),
        ("x = torch.arange(3)\ny = torch.floor(x)", "y = x.copy()"),
        ("x = torch.arange(3)\ny = torch.round(x)", "y = x.copy()"),
        ("x = torch.zeros(3)\ny = torch.round(x)", "y = ops.round(x)"),
        ("y = abs(torch.tensor([1j]))", "y = functional.abs(ms.tensor([1j], dtype=ms.complex64))"),
        ("c = torch.tensor([1j])\ny = c.abs()", "y = functional.abs(c)"),
        ("def f(t: torch.Tensor):\n    return t.abs(), 1j", "    return functional.abs(t), 1j"),
        ("x = torch.arange(3)\ny = 1 | x", "y = x | 1"),
        ("x = torch.arange(3)\ny = x[:2]\ny <<= 1", "y[()] = functional.bitwise_left_shift(y, 1)"),
        ("x = torch.tensor([True])\ny = x.amax(dim=0)", "y = functional.amax(x, dim=0)"),
        ("x = torch.ByteTensor([1])\ny = torch.any(x, 0)", "y = functional.any(x, 0)"),
        ("y = str(torch.float32)", "y = functional.dtype_name(ms.float32)"),
        ("y = [str(d) for d in (torch.int32,)]", "y = [functional.dtype_name(d) for d in (ms.int32,)]"),
        ("x = torch.ones(3)\ny = f'{x.dtype}'", "y = f'{functional.dtype_name(x.dtype)}'"),
        ("x = torch.ones(3)\ny = str(x.shape)", 'y = f"torch.Size({list(x.shape)})"'),
    ],
)
def test_what_would_differ_is_written_out(source: str, expected: str) -> None:
    assert body(source) == expected


def test_the_dtype_of_a_cast_is_followed() -> None:
    assert body("x = torch.arange(3).to(torch.float32)\ny = torch.exp(x)") == "y = ops.exp(x)"
    assert body("x = torch.ones(3).long()\ny = torch.exp(x)") == "y = functional.exp(x.astype(ms.float32))"


def test_each_of_several_arguments_is_cast() -> None:
    made = "y = ops.cos(*(item.astype(ms.float32) for item in args))"
    assert body("args = (torch.arange(3),)\ny = torch.cos(*args)") == made


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("torch.add(b, b)", "functional.add(b, b)"),
        ("b.add(b)", "functional.add(b, b)"),
        ("torch.add(torch.ones(2), torch.ones(2))", "ops.add(ops.ones(2), ops.ones(2))"),
        ("torch.sub(torch.ones(2), torch.ones(2))", "ops.sub(ops.ones(2), ops.ones(2))"),
    ],
)
def test_sums_of_bools(call: str, expected: str) -> None:
    assert body(f"b = torch.tensor([True, False])\ny = {call}") == f"y = {expected}"


def test_tensors_of_several_dtypes_are_promoted_when_they_are_joined() -> None:
    joined = "y = functional.cat([ops.ones(2), ops.arange(3)])"
    assert body("y = torch.cat([torch.ones(2), torch.arange(3)])") == joined
    assert body("def f(a, b):\n    return torch.cat([a, b])").endswith("ops.cat([a, b])")
    one_known = body("def f(labels):\n    return torch.cat([labels, -torch.ones(2)])")
    assert one_known.endswith("functional.cat([labels, -ops.ones(2)])")
    assert body("a = [torch.ones(2), torch.arange(3)]\ny = torch.cat(a)").endswith("y = functional.cat(a)")
    assert body("a = [torch.ones(2), torch.zeros(3)]\ny = torch.cat(a)").endswith("y = ops.cat(a)")
    assert body("def f(b):\n    a = [torch.ones(2), b]\n    return torch.cat(a)").endswith("ops.cat(a)")


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x = torch.zeros(3)\ntorch.add(x, 2, out=x)", "x[...] = ops.add(x, 2)"),
        ("b = torch.empty(0)\ntorch.cat([x, x], out=b)", "b = ops.cat([x, x])"),
        ("b = torch.empty(0)\ntorch.ge(x, 2, out=b)", "b = ops.ge(x, 2).astype(b.dtype)"),
        ("b = torch.ones(2, 2)\ntorch.max(x, out=b)", "b = x.max()"),  # PyTorch gives it the shape of the result
        ("b = torch.empty(0)\ntorch.gcd(x, x, out=b)", "b = functional.gcd(x, x).astype(b.dtype)"),
        ("b = torch.empty(0)\ntorch.exp(x, out=b)", "b = ops.exp(x)"),
        ("torch.max(x, 1, out=(v, i))", "v[...], i[...] = ops.max(x, 1)"),
        ("y = torch.zeros(3)\nz = torch.mul(y, 2, out=y)", "z = y"),
    ],
)
def test_out_is_written_to(source: str, expected: str) -> None:
    assert body(f"x = torch.ones(2, 2)\n{source}") == expected


NUMPY = "import numpy as np\ndef f(x: torch.Tensor, n, d):\n    a = np.log(n) / 2\n    return "


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("np.sqrt(d) * x", "float(np.sqrt(d)) * x"),
        ("-np.log(2.0) + x", "float(-np.log(2.0)) + x"),
        ("-a * torch.arange(d)", "(-a).item() * ops.arange(d)"),
        ("np.prod(x.shape) * x", "int(np.prod(x.shape)) * x"),
        ("x * np.sqrt(d)", "x * np.sqrt(d)"),
        ("np.pi * x", "np.pi * x"),
        ("np.sqrt(d) * n", "np.sqrt(d) * n"),
        ("np.ceil(x / 2)", "ops.ceil(x / 2)"),
        ("np.clip(x, 0.0, 1.0)", "ops.clamp(x, 0.0, 1.0)"),
        ("np.clip(np.ones(n), 0.0, 1.0)", "np.clip(np.ones(n), 0.0, 1.0)"),
        ("int(np.ceil(x / 2)) * n", "int(np.ceil(x / 2)) * n"),
    ],
)
def test_numbers_of_numpy_in_front_of_tensors(source: str, expected: str) -> None:
    assert body(NUMPY + source) == f"    return {expected}"


def test_numbers_that_numpy_draws_are_python_s() -> None:
    head = "import numpy as np\nimport torch\n\nx = torch.ones(3)\n"
    drawn = translate_source(f"{head}lam = np.random.beta(1.0, 1.0)\ny = lam * x + (1 - lam) * x\n").text
    assert drawn.endswith("y = lam * x + (1 - lam) * x\n")
    shaped = translate_source(f"{head}noise = np.random.normal(0.0, 1.0, size=3)\ny = noise.sum() * x\n").text
    assert ".item() * x" in shaped


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("b.max()", "b.any()"),
        ("torch.min(b)", "b.all()"),
        ("b.max(1)", "functional.max(b, 1)"),
        ("torch.min(b, dim=0, keepdim=True)", "functional.min(b, dim=0, keepdim=True)"),
        ("x.max()", "x.max()"),
    ],
)
def test_extrema_of_bools(call: str, expected: str) -> None:
    text = translate_source(f"import torch\n\nx = torch.rand(2, 3)\nb = x > 0.5\ny = {call}\n").text
    assert f"y = {expected}\n" in text


def test_limits_of_bfloat16_are_none_of_numpys() -> None:
    text = translate_source(
        "import torch\n\nx = torch.ones(2, dtype=torch.bfloat16)\ny = torch.finfo(x.dtype).min\n"
    ).text
    assert "y = float(functional.finfo(x.dtype).min)" in text


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("v = torch.__version__.split('+')[0]", "v = device.VERSION.split('+')[0]"),
        ("v = torch.version.__version__.startswith('1.')", "v = device.VERSION.startswith('1.')"),
        (
            "v = torch.distributions.constraints.positive.check(x)",
            "v = distributions.constraints.positive.check(x)",
        ),
        ("def f(x: torch.Tensor, a):\n    return x.transpose(*a)", "    return x.swapaxes(*a)"),
        ("p = torch.nn.ZeroPad2d((0, 0, 1, -1))", "p = layers.ZeroPad2d((0, 0, 1, -1))"),
        ("class R(torch.nn.Module):\n    def forward(self, n, d):\n        return torch.ones(3, device=d).to(d)",
         "        return ops.ones(3)"),
        ("class L(torch.nn.Linear):\n    def reset_parameters(self):\n        torch.nn.Linear.reset_parameters(self)",
         "        resets.reset_as(layers.Linear, self)"),
        ("class P:\n    def __init__(self):\n        self.pe = None\n\n    def f(self, x: torch.Tensor):\n"
         "        self.pe = self.pe.to(x.dtype)\n        self.pe = torch.ones(2)\n\n    def g(self):\n"
         "        return self.pe.size(1)", "        return self.pe.shape[1]"),
    ],
)  # fmt: skip
def test_what_models_of_public_repositories_say(source: str, expected: str) -> None:
    assert body(source) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("y = torch.ones(3) + np.arange(3)", "y = ops.ones(3) + ms.Tensor(np.arange(3))"),
        ("y = torch.ones(3) * np.sqrt(2)", "y = ops.ones(3) * np.sqrt(2)"),
        ("y = torch.mul(torch.ones(3), 2, out=torch.empty(3))", "y = ops.mul(ops.ones(3), 2)"),
        ("x = torch.ones(3)\ny = torch.arange(3, out=x.data.new())", "y = ops.arange(3).astype(x.dtype)"),
        ("x = torch.ones(3)\ny = x * x.numpy()", "y = x * functional.operand(x.asnumpy())"),
        (
            "def f(t: torch.Tensor, d: np.ndarray):\n    return t + 0.9 * (1 - d)",
            "    return t + functional.operand(0.9 * (1 - d))",
        ),
        ("s = np.sqrt(2)\ny = torch.ones(3) * s", "y = ops.ones(3) * s"),
        ("def f(t, k=2):\n    t *= k\n    return t\nf(torch.ones(3))", "    t[...] = t * k"),
        ("def f(x: float):\n    x *= 2\n    return x\nf(1.0)", "    x *= 2"),
        ("def f(s):\n    return round(s.get_last_lr()[0], 3)", "    return round(schedulers.last_lr(s)[0], 3)"),
    ],
)
def test_everyday_shapes_of_calls(source: str, expected: str) -> None:
    assert expected in translate_source(f"import numpy as np\nimport torch\n{source}\n").text


@pytest.mark.parametrize(
    ("array", "used"),
    [
        ("1 / (10000 ** ((2 * np.arange(n)) / n))", "b[0::2]"),
        ("np.exp(-np.linspace(0, 1, n))", "b"),
        ("np.ones(n).astype(np.float32)", "(2 * b)"),
    ],
)
def test_arrays_beside_tensors_become_tensors(array: str, used: str) -> None:
    source = f"import numpy as np\nimport torch\n\n\ndef f(n):\n    x = torch.ones(n, n)\n    b = {array}\n"
    found = translate_source(f"{source}    return x * {used}\n").text
    assert f"return x * ms.Tensor({used.strip('()')})" in found


@pytest.mark.parametrize("number", ["np.sqrt(n)", "np.arange(n)[0]", "np.arange(n).sum()", "np.float32(2)"])
def test_numbers_of_numpy_stay_beside_tensors(number: str) -> None:
    source = f"import numpy as np\nimport torch\n\n\ndef f(n):\n    x = torch.ones(n, n)\n    b = {number}\n"
    assert "ms.Tensor(b" not in translate_source(f"{source}    return x * b\n").text


COMPLEX = """\
import torch
from torch import nn


class Net(nn.Module):
    def scale(self, x, s):
        return x * s

    def forward(self, t, n):
        a = -torch.exp(self.real) - 1j * self.imag
        b = a * t.unsqueeze(-1)
        c = b.unsqueeze(-1) * torch.arange(n)
        d = c.abs() * t
        return self.scale(d, c.real * t)
"""


def test_names_that_are_given_complex_values_are_multiplied_as_such() -> None:
    text = translate_source(COMPLEX).text
    assert "b = functional.complex_product(a, t.unsqueeze(-1))" in text
    assert "c = functional.complex_product(b.unsqueeze(-1), ops.arange(n))" in text


def test_what_is_real_of_them_is_not_nor_are_other_functions_names() -> None:
    text = translate_source(COMPLEX).text
    assert "return x * s" in text
    assert "* t\n" in text.split("d = ")[1]
    assert text.count("complex_product") == 3


def test_complex_values_are_followed_through_what_functions_return() -> None:
    text = translate_source(
        """\
import torch
from torch import nn


class Net(nn.Module):
    def parts(self, t):
        a = -torch.exp(self.real) - 1j * self.imag
        return t, a

    def whole(self):
        return torch.view_as_complex(self.w)

    def forward(self, t, u):
        t, a = self.parts(t)
        b = t * a
        c = self.whole() * u
        return (t * u, b, c)
"""
    ).text
    assert "b = functional.complex_product(t, a)" in text
    assert "c = functional.complex_product(self.whole(), u)" in text
    assert "return (t * u, b, c)" in text
