"""References: the names under which emitted code knows an API, and the imports it takes."""

from __future__ import annotations

import ast

import pytest

from torch2ms.translator.pipeline import translate_source

TORCH = "import torch\nimport torch.nn as nn\n"


def imports(source: str) -> list[str]:
    tree = ast.parse(translate_source(source).text)
    return [ast.unparse(node) for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]


def test_modules_come_under_the_names_mindspores_own_code_uses() -> None:
    source = TORCH + "x = torch.ones(2, dtype=torch.float32)\nnet = nn.ReLU()\n"
    assert imports(source) == ["import mindspore as ms", "from mindspore import nn, ops"]


def test_only_what_is_used_is_imported() -> None:
    assert imports(TORCH + "import torch.optim as optim\nnet = nn.ReLU()\n") == ["from mindspore import nn"]


def test_nothing_is_imported_where_nothing_is_used() -> None:
    assert imports(TORCH + "x = 3\n") == []


def test_bare_names_stay_bare() -> None:
    text = translate_source("from torch.nn import Linear, ReLU as Act\nnet = Linear(2, 2), Act()\n").text
    assert text == "from mindspore.nn import Dense, ReLU as Act\nnet = Dense(2, 2), Act()\n"


@pytest.mark.parametrize("name", ["ops", "ms", "functional"])
def test_names_of_the_file_are_not_taken(name: str) -> None:
    source = TORCH + f"{name} = 3\nx = torch.ones(2), torch.float32, torch.std_mean(y)\nprint({name})\n"
    text = translate_source(source).text
    nodes = [n for n in ast.walk(ast.parse(text)) if isinstance(n, (ast.Import, ast.ImportFrom))]
    bound = [alias.asname or alias.name for n in nodes for alias in n.names]
    assert name not in bound
    assert f"{name} = 3" in text


def test_an_import_of_numpy_is_used_again() -> None:
    source = "import numpy as numeric\nimport torch\nx: torch.Tensor\ny = torch.from_numpy(numeric.ones(2))\n"
    assert "import numpy as np" not in translate_source(source).text


def test_local_names_do_not_hide_what_is_emitted() -> None:
    source = TORCH + "def f(ops):\n    return torch.ones(2) + ops\n"
    text = translate_source(source).text
    assert "ms_ops.ones(2) + ops" in text


def test_torch_that_stays_is_imported_with_a_guard() -> None:
    text = translate_source(TORCH + "x = torch.no_such_function()\n").text
    assert (
        "try:  # only for what is marked TORCH2MS below\n    import torch\n"
        "except ImportError:\n    from torch2ms_runtime.missing import torch\n" in text
    )
    assert "torch.no_such_function()" in text


def test_future_imports_and_docstrings_stay_first() -> None:
    text = translate_source('"""Doc."""\nfrom __future__ import annotations\nimport torch\nx = torch.ones(2)\n').text
    assert text == '"""Doc."""\nfrom __future__ import annotations\nfrom mindspore import ops\nx = ops.ones(2)\n'


def test_families_of_layers_answer_tests_and_few_are_a_base() -> None:
    source = TORCH + "from torch.nn.modules.batchnorm import _BatchNorm\n"
    asked = translate_source(source + "print(isinstance(m, (_BatchNorm, nn.RNNBase)))\n")
    assert "isinstance(m, (layers.families.BatchNorms, layers.families.Recurrents))" in asked.text
    assert not asked.diagnostics
    derived = translate_source(source + "class Own(nn.RNNBase):\n    pass\n")
    assert [d.code for d in derived.diagnostics] == ["T2M201"]
    assert "families" not in derived.text
    filled = translate_source(
        source + "def fill(m):\n    if isinstance(m, _BatchNorm):\n        m.weight.data.fill_(1)\n"
    )
    assert "modules.weight(m).set_data(" in filled.text
    own = translate_source(source + "class Own(_BatchNorm):\n    pass\n")
    assert "class Own(layers.families.BatchNorms):" in own.text
    assert not own.diagnostics


@pytest.mark.parametrize("call", ["torch.tensor([1j])", "torch.tensor(data=[1 + 2j, 3])"])
def test_complex_literals_have_torchs_width(call: str) -> None:
    assert "dtype=ms.complex64" in translate_source(TORCH + f"x = {call}\n").text


def test_a_name_of_mindspore_that_a_row_adds_is_imported() -> None:
    text = translate_source("import torch\nx = torch.scalar_tensor(2.5)\n").text
    assert "x = ms.Tensor(2.5, dtype=ms.float32)\n" in text
