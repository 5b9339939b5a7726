"""Tensors that other packages get as arrays, and what says that a parameter is a tensor."""

from __future__ import annotations

import pytest

from torch2ms.translator.pipeline import translate_source

HEADER = "import numpy as np\nimport torch\nimport wandb\nimport matplotlib.pyplot as plt\nx = torch.ones(3)\n"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("wandb.log({'loss': x.mean(), 'n': 3}, step=1)", "wandb.log({'loss': x.mean().asnumpy(), 'n': 3}, step=1)"),
        ("wandb.log({'loss': x.mean().item(), **{}})", "wandb.log({'loss': x.mean().item(), **{}})"),
        ("plt.axis(x * 2)", "plt.axis((x * 2).asnumpy())"),
        ("plt.xlim(left=x[0], right=3)", "plt.xlim(left=x[0].asnumpy(), right=3)"),
        ("plt.plot(x, x)", "plt.plot(x, x)"),
    ],
)
def test_other_packages_get_arrays(source: str, expected: str) -> None:
    assert translate_source(f"{HEADER}{source}\n").text.rstrip().endswith(expected)


@pytest.mark.parametrize(("size", "index"), [("-1", "ms.Tensor(order)"), ("np.uint8", "order")])
def test_what_is_viewed_in_a_size_is_a_tensor(size: str, index: str) -> None:
    source = f"order = np.arange(4)\ndef shuffled(image):\n    return image.view({size})[order]\nuses = [shuffled]\n"
    assert f"[{index}]" in translate_source(f"import numpy as np\nimport torch\n{source}").text


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("args.size = np.prod(x.size())", "args.size = int(np.prod(x.shape))"),
        ("k = np.prod(x.shape[1:])", "k = int(np.prod(x.shape[1:]))"),
        ("k = np.prod(data[0][0].size())", "k = int(np.prod(data[0][0].shape))"),
        ("k = nn.Linear(np.prod(x.shape), 3)", "k = nn.Dense(int(np.prod(x.shape)), 3)"),
        ("k = int(np.prod(x.shape))", "k = int(np.prod(x.shape))"),
        ("k = nn.Linear(x.argmax() + 1, 3)", "k = nn.Dense(int(x.argmax() + 1), 3)"),
        ("k = nn.Linear(int(x.max()), x.shape[1])", "k = nn.Dense(int(x.max()), x.shape[1])"),
        ("k = np.prod(x.shape).astype(float)", "k = np.prod(x.shape).astype(float)"),
        ("k = np.prod(x.shape, axis=0)", "k = np.prod(x.shape, axis=0)"),
        ("k = np.prod(data)", "k = np.prod(data)"),
    ],
)
def test_what_numpy_counts_of_a_shape_is_an_int(source: str, expected: str) -> None:
    start = "import numpy as np\nimport torch\nfrom torch import nn\n\n\ndef f(args, data, x: torch.Tensor):\n"
    assert f"    {expected}\n" in translate_source(f"{start}    {source}\n").text


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("np.prod(args.shape), 3", "int(np.prod(args.shape)), 3"),
        ("3, output_size=np.prod(args.shape)", "3, output_size=int(np.prod(args.shape))"),
        ("3, 4, np.prod(args.factors)", "3, 4, np.prod(args.factors)"),
        ("int(np.prod(args.shape)), 3", "int(np.prod(args.shape)), 3"),
    ],
)
def test_a_size_of_a_network_is_an_int(given: str, expected: str) -> None:
    source = (
        "import numpy as np\nimport torch\nfrom torch import nn\n\n\nclass Gated(nn.Module):\n"
        "    def __init__(self, input_size, output_size=1, scale=1.0):\n        super().__init__()\n"
        "        self.h = nn.Linear(input_size, output_size)\n\n\ndef f(args):\n"
    )
    assert f"Gated({expected})" in translate_source(f"{source}    return Gated({given})\n").text
