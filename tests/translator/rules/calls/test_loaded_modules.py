"""Names of modules that are looked for among the loaded ones."""

from __future__ import annotations

import pytest

from torch2ms.translator.pipeline import translate_source

HEAD = "import sys\nfrom sys import modules\n\nimport torch\n\n"


def translated(source: str) -> tuple[str, list[str]]:
    result = translate_source(HEAD + source)
    return result.text, [d.code for d in result.diagnostics]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('a = "torch" in sys.modules\n', 'a = "mindspore" in sys.modules\n'),
        ("a = 'torch' not in modules\n", "a = 'mindspore' not in modules\n"),
        ('name = "torch"\na = name in sys.modules\n', 'name = "mindspore"\n'),
        ('class A:\n    of = "torch"\n\n\ndef f(a):\n    return a.of in sys.modules\n', '    of = "mindspore"\n'),
        ('for n in ("numpy", "torch"):\n    print(n in sys.modules)\n', 'for n in ("numpy", "mindspore"):\n'),
        ('a = [n for n in ["torch"] if n in sys.modules]\n', 'for n in ["mindspore"] if'),
        ('class A:\n    of: str = "torch"\n\n\ndef f(a):\n    return a.of in sys.modules\n', 'of: str = "mindspore"\n'),
    ],
)
def test_what_is_looked_for_is_mindspore(source: str, expected: str) -> None:
    text, codes = translated(source)
    assert expected in text
    assert codes == ["T2M503"]
    assert "TORCH2MS" not in text


@pytest.mark.parametrize(
    "source",
    [
        'a = "torch" in {"torch": 1}\n',
        'a = "numpy" in sys.modules\n',
        'name = "torch"\nprint(name)\n',
        'name = "torch"\nother = "numpy"\na = other in sys.modules\n',
        'class A:\n    of = "torch"\n    on = "numpy"\n\n\ndef f(a):\n    return a.on in sys.modules\n',
        'a = {"torch": 1}["torch"]\n',
        'for n in ("torch",):\n    print(n)\n',
    ],
)
def test_other_texts_stay(source: str) -> None:
    text, codes = translated(source)
    assert source in text
    assert not codes


@pytest.mark.parametrize(
    "source",
    [
        'a = sys.modules["torch"]\n',
        'a = sys.modules.get("torch")\n',
        'name = "torch"\nif name in sys.modules and name == "torch":\n    print(name)\n',
    ],
)
def test_what_is_taken_or_compared_is_marked(source: str) -> None:
    text, codes = translated(source)
    assert source.partition("\n")[0] in text
    assert "TORCH2MS T2M503" in text
    assert codes == ["T2M503"]
