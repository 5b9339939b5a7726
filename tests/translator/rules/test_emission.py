"""Arguments that PyTorch takes in more forms than MindSpore does."""

from __future__ import annotations

import pytest

from torch2ms import translate_source

HEAD = "import torch\nimport torch.nn as nn\n\nids = torch.tensor([2, 3, 1])\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("nn.Embedding(max(ids) + 1, 5)", "nn.Embedding(int(max(ids) + 1), 5, embedding_table=init.Normal(1.0))"),
        ("nn.Linear(in_features=ids.max(), out_features=4)", "nn.Dense(in_channels=int(ids.max()), out_channels=4)"),
        ("nn.CrossEntropyLoss(torch.ones(3))", "layers.CrossEntropyLoss(ops.ones(3))"),
        ("nn.Embedding.from_pretrained(torch.ones(3, 2))", "layers.Embedding.from_pretrained(ops.ones((3, 2)))"),
        ("nn.Parameter(torch.ones(3))", "ms.Parameter(ops.ones(3))"),
    ],
)
def test_sizes_of_layers_may_be_tensors(before: str, after: str) -> None:
    assert translate_source(f"{HEAD}made = {before}\n").text.splitlines()[-1] == f"made = {after}"
