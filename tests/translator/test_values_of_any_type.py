"""What is emitted works for every type that a value of which nothing is proved can have."""

from __future__ import annotations

import pytest

from torch2ms import translate_source
from torch2ms.translator.pipeline import SourceResult


def _translated(source: str) -> SourceResult:
    return translate_source(f"import torch\n\n\n{source}")


def _codes(result: SourceResult) -> list[str]:
    return [d.code for d in result.diagnostics if str(d.severity) != "note"]


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("x.to(device=d, dtype=t, memory_format=torch.channels_last)", "states.of_type(x, t)"),
        ("x.to(device=d, memory_format=torch.channels_last)", "x"),
        ("x.to(memory_format=torch.channels_last)", "x"),
        ("x.to(device=d, non_blocking=True)", "x"),
    ],
)
def test_keywords_tell_that_something_is_moved(call: str, expected: str) -> None:
    result = _translated(f"def f(x, d, t):\n    y = {call}\n    return y, torch.ones(3)\n")
    assert f"    y = {expected}\n" in result.text
    assert not _codes(result)


def test_what_a_class_of_the_project_moves_itself_is_marked() -> None:
    own = "class Boxes:\n    def to(self, device):\n        return self\n\n\n"
    result = _translated(f"{own}def f(x, d):\n    return x.to(device=d), torch.ones(3)\n")
    assert "return x.to(device=d)" in result.text
    assert _codes(result) == ["T2M207"]


def test_sizes_have_numel_as_well_as_tensors() -> None:
    result = _translated("def f(shapes):\n    return sum(s.numel() for s in shapes), torch.ones(3)\n")
    assert "sum(functional.numel(s) for s in shapes)" in result.text
    result = _translated("def f(net: torch.nn.Module):\n    return sum(p.numel() for p in net.parameters())\n")
    assert "sum(p.numel() for p in modules.parameters(net))" in result.text


def test_an_unknown_index_stays_where_the_project_has_no_numpy() -> None:
    assert "return x[u]" in translate_source("import torch\n\n\ndef f(x: torch.Tensor, u):\n    return x[u]\n").text


def test_an_index_that_is_of_numpy_on_one_path_is_asked() -> None:
    head = "import sys\nimport numpy as np\nimport torch\n\nx = torch.ones(5, 2)\n"
    source = f"{head}if len(sys.argv) > 1:\n    rows = [0, 1]\nelse:\n    rows = np.arange(2)\n"
    source += "first = rows[0]\nprint(x[rows], x[first:], x[first, 0])\n"
    emitted = translate_source(source).text
    assert "x[functional.as_index(rows)]" in emitted
    assert "x[functional.as_index(first):]" in emitted
    assert "x[functional.as_index(first), 0]" in emitted


def test_steps_of_what_is_not_typed_are_taken_so_that_there_is_a_gradient() -> None:
    source = "import torch\n\n\ndef loss(x):\n    x.sum().backward()\n\n\ndef thin(maps, f):\n    y = f(maps)\n"
    assert "return functional.take_every(y, 3, axis=2)" in translate_source(f"{source}    return y[:, :, ::3]\n").text
    assert "return y[:, ::-1]" in translate_source(f"{source}    return y[:, ::-1]\n").text  # an array's
