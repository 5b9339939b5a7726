"""Sizes and rates in the types that MindSpore insists on."""

from __future__ import annotations

import pytest

from torch2ms.translator.pipeline import translate_source


def text_of(source: str) -> str:
    """Return the translation of a text."""
    return translate_source(source).text


def test_sizes_that_numpy_computed_are_written_as_ints_for_layers() -> None:
    text = text_of(
        "import numpy as np\nimport torch.nn as nn\n\n\ndef f(space):\n"
        "    return nn.Linear(np.array(space.shape).prod(), 8), nn.Embedding(np.prod(space.shape), 3)\n"
    )
    assert "nn.Dense(int(np.array(space.shape).prod()), 8)" in text
    assert "Embedding(int(np.prod(space.shape)), 3, embedding_table=" in text


def test_the_dropout_of_recurrent_layers_is_a_float() -> None:
    text = text_of(
        "import torch.nn as nn\n\n\ndef f(p):\n    return nn.LSTM(2, 3, dropout=0), nn.GRU(2, 3, dropout=p)\n"
    )
    assert "nn.LSTM(2, 3, dropout=0.0)" in text
    assert "nn.GRU(2, 3, dropout=float(p))" in text
    text = text_of("import torch.nn as nn\n\n\ndef f(p: float = 0):\n    return nn.LSTM(2, 3, dropout=p)\n")
    assert "dropout=float(p)" in text  # an int is a float to annotations


def test_what_is_added_to_a_list_with_an_operator_is_known() -> None:
    text = text_of(
        "import torch\n\n\ndef f(n, sizes: list):\n    masks = []\n    for size in sizes:\n"
        "        masks += [torch.zeros(size, n)]\n    return masks[-1].repeat(2, 1), masks[0].repeat([n, 1])\n"
    )
    assert "masks[-1].tile((2, 1)), masks[0].tile((n, 1))" in text


def test_an_attribute_that_may_be_a_number_of_numpys_stands_behind_the_tensor() -> None:
    source = "import torch\n\n\ndef f(a, b, x: torch.Tensor):\n    return a.limit * torch.relu(x), b * torch.relu(x)\n"
    assert "return ops.relu(x) * a.limit, b * ops.relu(x)" in text_of(source)


def test_nothing_stands_behind_a_mask() -> None:
    source = (
        "import torch\n\n\ndef f(x: torch.Tensor, n: int):\n    mask = x[..., 0] > 0\n    return x[mask, :], x[n, :]\n"
    )
    assert "return x[mask], x[n, :]" in text_of(source)
    source = "import torch\n\n\ndef f(x, i, inside):\n    return x[inside, :] * torch.ones(2), x[i, :], i + 1\n"
    assert "return x[inside] * ops.ones(" in text_of(source)
    assert ", x[i, :]" in text_of(source)


def test_products_of_complex_tensors_have_a_gradient() -> None:
    source = "import torch\n\n\ndef f(x: torch.Tensor):\n    q = torch.fft.rfft(x)\n    return q * torch.conj(q)\n"
    assert "return functional.complex_product(q, ops.conj(q))" in text_of(source)


def test_complex_numbers_beside_tensors() -> None:
    source = "import math\nimport torch\n\n\ndef f(x: torch.Tensor, y: torch.Tensor, n: int):\n    z = x + 1j * y\n"
    source += "    return x * z, z / y, 1 / z, z * 2, n * 2j, z / (2j * math.pi)\n"
    text = text_of(source)
    assert "z = x + functional.complex_product(1j, y)" in text
    assert "functional.complex_product(x, z), functional.complex_quotient(z, y), 1 / z, z * 2, n * 2j" in text
    assert "functional.complex_quotient(z, 2j * math.pi)" in text


def test_quotients_of_complex_tensors_have_a_right_gradient() -> None:
    source = "import torch\n\n\ndef f(q: torch.Tensor, x: torch.Tensor):\n    r = torch.fft.fft(x)\n"
    for quotient in ("q / r", "torch.div(q, r)", "q.true_divide(r)"):
        text = text_of(f"{source}    return {quotient}\n")
        assert text.endswith("return functional.complex_quotient(q, r)\n")
        plain = text_of(f"{source}    return {quotient}\n".replace("torch.fft.fft(x)", "x + 1"))
        assert "complex" not in plain


def test_a_complex_number_beside_what_may_be_a_tensor() -> None:
    source = "import numpy as np\nimport torch\n\n\ndef f(x, n: int):\n"
    source += "    return 1j * x, n * 2j, np.exp(1j * x), x / 2j\n"
    returned = "return functional.complex_product(1j, x), n * 2j, np.exp(1j * x), functional.complex_quotient(x, 2j)"
    assert returned in text_of(source)


def test_what_is_computed_from_complex_tensors_is_complex() -> None:
    source = "import torch\n\n\ndef f(m: torch.Tensor, p: torch.Tensor):\n    return m * torch.exp(p * 1j)\n"
    assert "complex_product(m, ops.exp(functional.complex_product(p, 1j)))" in text_of(source)


def test_numpys_functions_of_tensors() -> None:
    source = "import numpy as np\nimport torch\n\n\ndef f(x: torch.Tensor, a: np.ndarray):\n"
    source += "    return np.sin(x), np.sin(a)\n"
    assert "return ops.sin(x), np.sin(a)" in text_of(source)


def test_bytes_are_masks() -> None:
    source = "import torch\n\n\ndef f(x: torch.Tensor):\n    return x[(x > 0).byte()]\n"
    assert "return x[(x > 0).astype(ms.uint8).astype(ms.bool_)]" in text_of(source)


@pytest.mark.parametrize(
    ("mask", "is_mask"),
    [
        ("torch.ByteTensor([1, 0, 1]).to(device)", True),  # a text given to ``to`` is a device
        ("torch.tensor([1, 0, 1]).type('torch.ByteTensor')", True),
        ("torch.ByteTensor([1, 0, 1]).type('torch.LongTensor')", False),  # places
        ("torch.ByteTensor([1, 0, 1]).type(kind)", False),
    ],
)
def test_masks_of_bytes_stay_masks_on_another_device(mask: str, is_mask: bool) -> None:
    text = text_of(f"import torch\ndevice = 'cpu'\nkind = str(input())\nm = {mask}\ny = torch.rand(3)[m]\n")
    assert ("[m.astype(ms.bool_)]" in text) == is_mask


def test_a_range_is_no_data() -> None:
    source = "import torch\n\n\ndef f(n: int):\n    return torch.tensor(range(n)), torch.as_tensor(range(1, n))\n"
    assert "return ms.tensor(list(range(n))), ms.Tensor(list(range(1, n)))" in text_of(source)


def test_a_size_for_which_a_caller_hands_over_a_number_of_numpys() -> None:
    source = (
        "import numpy as np\nfrom torch import nn\n\ndef make(size=20, units=3):\n    return nn.Linear(size, units)\n\n"
        "net = make(size=np.prod((2, 3)))\n"
    )
    assert "nn.Dense(int(size), units)" in translate_source(source).text


def test_a_padding_that_may_be_a_word_is_the_runtimes() -> None:
    text = text_of(
        "import torch.nn as nn\n\n\nclass Net(nn.Module):\n"
        "    def __init__(self, n, word='same', size=1, plain=1):\n        super().__init__()\n"
        "        self.a = nn.Conv2d(n, n, 3, padding=word)\n"
        "        if isinstance(size, str):\n            size = 'same'\n"
        "        self.b = nn.Conv2d(n, n, 3, padding=size, bias=False)\n"
        "        self.c = nn.Conv1d(n, n, 3, padding=plain)\n"
        "        self.d = nn.Conv2d(n, n, 3, padding=plain)\n"
    )
    assert "self.a = layers.Conv2d(n, n, 3, padding=word)" in text
    assert "self.b = layers.Conv2d(n, n, 3, padding=size, bias=False)" in text
    assert "self.d = nn.Conv2d(n, n, 3, padding=layers.pair_to_tblr(plain), has_bias=True, pad_mode='pad')" in text


def test_a_padding_of_a_file_without_such_words_is_a_size() -> None:
    text = text_of("import torch.nn as nn\n\n\ndef f(n, p):\n    return nn.Conv2d(n, n, 3, padding=p, bias=False)\n")
    assert "nn.Conv2d(n, n, 3, padding=layers.pair_to_tblr(p), has_bias=False, pad_mode='pad')" in text


PICKED = "import torch\n\n\ndef f(x: torch.Tensor, u, n: int):\n"


@pytest.mark.parametrize(
    ("fill", "expected"),
    [
        ("for i in range(n):\n        if x[i, 0] > 0:\n            keep.append(i)", "x[functional.as_index(keep), :2]"),
        ("while u.any():\n        keep.append(u.pop())", "x[functional.as_index(keep), :2]"),
        ("for i in range(3):\n        keep.append(i)", "x[keep, :2]"),  # never empty, unless nothing is
    ],
)
def test_lists_of_what_was_picked_may_be_empty(fill: str, expected: str) -> None:
    text = text_of(f"{PICKED}    keep = []\n    {fill}\n    return x[keep, :2], x[[]]\n")
    assert f"return {expected}, x[functional.as_index([])]" in text
