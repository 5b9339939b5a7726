from __future__ import annotations

import gzip
import pickle
import re
from pathlib import Path

import numpy as np
import pytest

from torch2ms.mapping_tables.inputs import FUNCTIONS, TAG, evaluate
from torch2ms.mapping_tables.prove import case_of
from torch2ms.mapping_tables.proving.files import write_files
from torch2ms.mapping_tables.schema import Example


@pytest.mark.parametrize(
    ("text", "dtype", "shape"),
    [
        ("randn(2, 3)", "float32", (2, 3)),
        ("randn()", "float32", ()),
        ("randn(2, 3) * 2 + 1", "float32", (2, 3)),
        ("arange(6) / 2", "float32", (6,)),
        ("randn(2, 3) > 0", "bool", (2, 3)),
        ("randint(0, 5, 4)", "int64", (4,)),
        ("arange(3)", "int64", (3,)),
        ("arange(0, 1, 0.5)", "float32", (2,)),
        ("tensor([[1, 2]])", "int64", (1, 2)),
        ("tensor([1.5, 2])", "float32", (2,)),
        ("tensor([True, False])", "bool", (2,)),
        ("tensor([1, 2], 'float64')", "float64", (2,)),
        ("tensor([1, 2], 'float64') * 2", "float64", (2,)),
        ("cast(randn(2), 'int32')", "int32", (2,)),
        ("complex(2, 2)", "complex64", (2, 2)),
        ("probabilities(2, 3)", "float32", (2, 3)),
        ("spd(3)", "float32", (3, 3)),
        ("bools(4)", "bool", (4,)),
    ],
)
def test_arrays(text: str, dtype: str, shape: tuple[int, ...]) -> None:
    value = evaluate(text)
    assert (str(value.dtype), value.shape) == (dtype, shape)
    assert np.array_equal(value, evaluate(text))


def test_plain_python_stays() -> None:
    assert evaluate("(1, [2, 'a'], {'k': None}, -3, 2 ** 3)") == (1, [2, "a"], {"k": None}, -3, 8)


def test_different_texts_get_different_numbers() -> None:
    assert not np.array_equal(evaluate("randn(4)"), evaluate("randn(4) * 1.0"))


def test_variables_of_the_same_text_get_different_numbers() -> None:
    assert not np.array_equal(evaluate("randn(4)", "x"), evaluate("randn(4)", "y"))
    example = Example("x - y", "x - y", {"args": {"x": "randn(4)", "y": "randn(4)"}})
    args = case_of("torch.sub", 0, example, {})["args"]
    assert not np.array_equal(args["x"], args["y"])


def test_distinct_has_no_ties_and_probabilities_sum_to_one() -> None:
    assert len(np.unique(evaluate("distinct(5, 7)"))) == 35
    assert np.allclose(evaluate("probabilities(3, 4)").sum(-1), 1)
    assert (np.linalg.eigvalsh(evaluate("spd(4)")) > 0).all()


def test_made_objects_are_marked() -> None:
    assert evaluate("param(ones(2))")[TAG] == "param"
    assert evaluate("array(ones(2))")[TAG] == "array"
    image = evaluate("image(4, 5, 'L')")
    assert (image[TAG], image["value"].shape) == ("image", (4, 5))


@pytest.mark.parametrize("text", ["cast(ones(2), 'nothing')", "randn('a')", "randn(2) + 'a'", "spd()"])
def test_what_goes_wrong_is_said(text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(text)):
        evaluate(text)


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os')",
        "().__class__",
        "open('x')",
        "randn.__call__(2)",
        "[i for i in (1, 2)]",
        "lambda: 1",
        "x",
        "1 +",
    ],
)
def test_nothing_else_is_evaluated(text: str) -> None:
    with pytest.raises(ValueError, match=r"no expression|not in the language"):
        evaluate(text)


def test_the_page_lists_every_function() -> None:
    from pathlib import Path

    page = (Path(__file__).parents[2] / "docs" / "mapping-tables.md").read_text(encoding="utf-8")
    assert all(f"`{name}(" in page or f" `{name}(" in page for name in FUNCTIONS)


def test_bfloat16_is_left_to_the_frameworks() -> None:
    value = evaluate("cast(randn(2), 'bfloat16')")
    assert value[TAG] == "bfloat16"
    assert value["value"].dtype == np.float32


def test_files_are_written_by_what_their_names_end_in(tmp_path: Path) -> None:
    text = """files({"a/b.txt": "text", "c.gz": "packed", "d.png": image(2, 3), "e": {"labels": [1]}})"""
    content = evaluate(text)["value"]
    write_files(str(tmp_path), content)
    assert (tmp_path / "a" / "b.txt").read_text(encoding="utf-8") == "text"
    assert gzip.decompress((tmp_path / "c.gz").read_bytes()) == b"packed"
    assert (tmp_path / "d.png").read_bytes().startswith(b"\x89PNG")
    assert pickle.loads((tmp_path / "e").read_bytes()) == {"labels": [1]}
