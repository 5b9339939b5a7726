"""Files that need the runtime though they name nothing of it: NumPy's seed, pickled Cells."""

from __future__ import annotations

import pytest

from torch2ms import translate_source

HEAD = "import numpy as np\nimport pickle\nimport torch\nfrom torch import nn\n\n"


@pytest.mark.parametrize(
    "body",
    [
        "net = nn.Linear(2, 2)\n",
        "rng = np.random.RandomState(0)\nnet = nn.Linear(2, 2)\n",
        "net = nn.Linear(2, 2)\nx = np.random.rand(3)\n",  # no state is set: nothing to compare with
        "import random\nrandom.seed(0)\nnet = nn.Linear(2, 2)\n",
        "table = pickle.load(open('t.pkl', 'rb'))\nnet = nn.Linear(2, 2)\n",
    ],
)
def test_no_import_without_need(body: str) -> None:
    assert "torch2ms_runtime" not in translate_source(HEAD + body).text


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("np.random.seed(0)\nnet = nn.Linear(2, 2)\n", "layers draw first weights from a stream of their own"),
        ("net = nn.Linear(2, 2)\ncopy = pickle.dumps(net)\n", "Cells can be pickled"),
    ],
)
def test_import_says_why(body: str, reason: str) -> None:
    assert f"import torch2ms_runtime  # {reason}" in translate_source(HEAD + body).text


def test_no_second_import_beside_another_of_the_runtime() -> None:
    text = translate_source(HEAD + "torch.manual_seed(0)\nnp.random.seed(0)\nnet = nn.Linear(2, 2)\n").text
    assert "import torch2ms_runtime  #" not in text
    assert "from torch2ms_runtime import seed" in text
