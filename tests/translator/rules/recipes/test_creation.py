"""Tensors that are made: sizes become one tuple, classes named after a dtype an argument."""

from __future__ import annotations

import pytest

from torch2ms.translator.pipeline import translate_source


def value_of(expression: str) -> tuple[str, list[str]]:
    """Return what an expression becomes, and the codes of its diagnostics."""
    given = "x: torch.Tensor, n: int, size: tuple, data: list, a, **options"
    result = translate_source(f"import torch\n\n\ndef f({given}):\n    return {expression}\n")
    last = result.text.strip().splitlines()[-1].strip()
    return last.removeprefix("return "), [item.code for item in result.diagnostics]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("torch.zeros(2, 3)", "ops.zeros((2, 3))"),
        ("torch.zeros(n)", "ops.zeros(n)"),
        ("torch.zeros(size)", "ops.zeros(size)"),
        ("torch.zeros(*size)", "ops.zeros(size)"),
        ("torch.zeros(*size, 3)", "ops.zeros((*size, 3))"),
        ("torch.zeros(*map(int, a))", "ops.zeros((*map(int, a),))"),
        ("torch.zeros(n, x.max())", "ops.zeros((n, int(x.max())))"),
        ("torch.zeros(n, *x)", "ops.zeros((n, *x))"),
        ("torch.zeros(*x)", "ops.zeros(x)"),
        ("torch.zeros([])", "ops.zeros([], dtype=ms.float32)"),
        ("torch.ones(size=(2, 3))", "ops.ones((2, 3))"),
        ("torch.ones(2, dtype=torch.int64, device='cuda')", "ops.ones(2, dtype=ms.int64)"),
        ("torch.empty(2, 3)", "ops.zeros((2, 3))"),
        ("torch.FloatTensor(2, 3)", "ops.zeros((2, 3), dtype=ms.float32)"),
        ("torch.LongTensor(n)", "ops.zeros(n, dtype=ms.int64)"),
        ("torch.FloatTensor(x.size())", "ops.zeros(x.shape, dtype=ms.float32)"),
        ("torch.LongTensor([1, 2])", "ms.Tensor([1, 2], dtype=ms.int64)"),
        ("torch.Tensor(data)", "ms.Tensor(data, dtype=ms.float32)"),
        ("torch.Tensor()", "ms.Tensor([], dtype=ms.float32)"),
        ("torch.FloatTensor(a)", "functional.typed_tensor(a, dtype=ms.float32)"),
        ("torch.FloatTensor(*a)", "functional.typed_tensor(*a, dtype=ms.float32)"),
    ],
)
def test_tensors_that_are_made(source: str, expected: str) -> None:
    assert value_of(source)[0] == expected


@pytest.mark.parametrize("source", ["x + torch.zeros(2, out=x)", "torch.zeros()"])
def test_what_cannot_be_said_is_left(source: str) -> None:
    assert value_of(source) == (source, ["T2M203"])


@pytest.mark.parametrize("name", ["zeros", "ones", "empty", "rand", "arange", "tensor", "eye", "zeros_like"])
def test_options_behind_stars_go_to_a_function_that_takes_them(name: str) -> None:
    target = "new_tensor" if name == "tensor" else name
    assert value_of(f"torch.{name}(x, **options)") == (f"functional.{target}(x, **options)", [])


def test_a_gradient_asked_for_is_noted() -> None:
    assert value_of("torch.zeros(2, requires_grad=True)") == ("ops.zeros(2)", ["T2M302"])


def test_a_complex_parameter_says_that_no_optimizer_takes_it() -> None:
    head = "import torch\nfrom torch import nn\n\n\nclass Net(nn.Module):\n    def __init__(self, n):\n        "
    head += "super().__init__()\n        self.scale = 1 / n\n        self.w = nn.Parameter("
    for given in ("self.scale * torch.rand(n, dtype=torch.cfloat)", "torch.view_as_complex(torch.ones(n, 2))"):
        assert "T2M303" in {item.code for item in translate_source(f"{head}{given})\n").diagnostics}
    for given in ("torch.ones(n, 2)", "torch.rand(n, dtype=torch.cfloat), requires_grad=False", "n"):
        assert "T2M303" not in {item.code for item in translate_source(f"{head}{given})\n").diagnostics}


@pytest.mark.parametrize("values", ["[np.float64(1), 2]", "[a.mean(), a.std()]", "data=[[a[0]]]", "numbers"])
def test_numbers_of_numpy_keep_their_dtype(values: str) -> None:
    start = "import numpy as np\nimport torch\na = np.ones(3)\nnumbers = []\nnumbers.append(a.max())\n"
    source = f"{start}t = torch.tensor({values})\n"
    assert "functional.of_numbers(" in translate_source(source).text
    for plain in ("[float(a.mean())]", "[a.mean()], dtype=torch.float32", "a"):
        assert "of_numbers" not in translate_source(source.replace(f"tensor({values})", f"tensor({plain})")).text


def test_what_may_be_complex_is_drawn_by_the_runtime() -> None:
    source = "import torch\n\n\ndef f(n, x, dtype=torch.cfloat, real=torch.float32):\n"
    source += "    return torch.randn(n, dtype=dtype), torch.randn(n), torch.randn(n, dtype=torch.float16)\n"
    drawn = "return functional.randn(n, dtype=dtype), ops.randn(n), ops.randn(n, dtype=ms.float16)"
    assert drawn in translate_source(source).text
    plain = "import torch\n\n\ndef f(n, x):\n    return torch.randn(n, dtype=x.dtype)\n"
    assert "return ops.randn(n, dtype=x.dtype)" in translate_source(plain).text


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x = torch.ones(1)\ny = torch.tensor([[[x], [x]]])", "y = functional.of_numbers([[[x], [x]]])"),
        (
            "x = torch.ones(1)\ny = torch.tensor([x, x], dtype=torch.float32)",
            "y = ms.tensor(functional.numbers([x, x]), dtype=ms.float32)",
        ),
        (
            "x = torch.ones(1)\ny = torch.FloatTensor([x, x])",
            "y = ms.Tensor(functional.numbers([x, x]), dtype=ms.float32)",
        ),
        ("x = torch.ones(1)\ny = torch.as_tensor([x, x])", "y = ms.Tensor(functional.numbers([x, x]))"),
        ("x = torch.ones(2)\ny = torch.tensor([x.sum(), x[0]])", "y = ms.tensor([x.sum(), x[0]])"),
        ("x = [1.0]\ny = torch.tensor([x, x])", "y = ms.tensor([x, x])"),
    ],
)
def test_tensors_in_a_list_count_as_numbers(source: str, expected: str) -> None:
    """In PyTorch, whatever their axes; MindSpore makes further axes of those."""
    assert translate_source(f"import torch\n{source}\n").text.rstrip().splitlines()[-1] == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("torch.LongTensor(v.size())", "ops.zeros(v.shape, dtype=ms.int64)"),
        ("torch.FloatTensor(v.shape)", "ops.zeros(v.shape, dtype=ms.float32)"),
        ("torch.IntTensor(np.ones(3).shape)", "functional.typed_tensor(np.ones(3).shape, dtype=ms.int32)"),
        ("torch.FloatTensor(v.size()).copy_(v)", "functional.copied_into(ops.zeros(v.shape, dtype=ms.float32), v)"),
    ],
)
def test_what_is_asked_for_its_size_gives_one(source: str, expected: str) -> None:
    result = translate_source(f"import numpy as np\nimport torch\n\n\ndef f(v):\n    return {source}\n")
    assert result.text.splitlines()[-1] == f"    return {expected}"


@pytest.mark.parametrize(
    ("source", "made"),
    [
        ("torch.arange(0, 1, 0.1)", "ops.arange(0, 1, 0.1)"),
        ("torch.arange(5, dtype=torch.float64)", "ops.arange(5, dtype=ms.float64)"),
        ("torch.arange(0, 1, 0.1, dtype=torch.float32)", "ops.arange(0, 1, 0.1, dtype=ms.float32)"),
        ("torch.arange(0, 1, 0.1, dtype=torch.float64)", "functional.arange(0, 1, 0.1, dtype=ms.float64)"),
        ("torch.arange(0.5, 4, dtype=torch.int64)", "functional.arange(0.5, 4, dtype=ms.int64)"),
    ],
)
def test_floats_are_counted_as_pytorch_counts_them(source: str, made: str) -> None:
    assert value_of(source)[0] == made
