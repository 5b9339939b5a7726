from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from torch2ms.mapping_tables.compare import judge

CASE: dict[str, Any] = {
    "raises": "", "names": True, "compare": "value", "grad": False, "dtype": True, "tolerance": 1e-5,
}  # fmt: skip


def tensor(content: Any, dtype: str = "float32") -> tuple[str, str, Any]:
    return ("tensor", dtype, np.asarray(content, dtype))


def verdict(a: Any, b: Any, **options: Any) -> str:
    return judge(
        {**CASE, **options}, {"ok": {"value": a, "gradients": {}}}, {"ok": {"value": b, "gradients": {}}}
    ).result


X = tensor([1.0, 2.0])


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (X, tensor([1.0, 2.000001]), "equal"),
        (X, tensor([1.0, 2.1]), "different"),
        (X, tensor([[1.0, 2.0]]), "different"),
        (X, tensor([1.0, 2.0], "float64"), "different"),
        (X, tensor([1.0, np.nan]), "different"),
        (tensor([np.nan, np.inf]), tensor([np.nan, np.inf]), "equal"),
        (tensor([np.inf]), tensor([-np.inf]), "different"),
        (tensor([1, 2], "int64"), tensor([1, 2], "int32"), "different"),
        (tensor([1, 2], "int64"), tensor([1, 3], "int64"), "different"),
        (tensor([True]), tensor([False]), "different"),
        (("sequence", [X, X]), ("sequence", [X]), "different"),
        (("sequence", [X, X]), ("sequence", [X, tensor([0.0, 0.0])]), "different"),
        (("dict", {"a": X}), ("dict", {"b": X}), "different"),
        (("value", 3), ("value", 3), "equal"),
        (("value", 3), ("value", 3.0), "different"),
        (("value", 1), ("value", True), "different"),
        (("value", "a"), ("value", "b"), "different"),
        (("value", None), X, "different"),
        (("dtype", "float32"), ("dtype", "float32"), "equal"),
        (("dtype", "float32"), ("dtype", "float16"), "different"),
        (("object", "Thing"), ("object", "Ding"), "ran"),
    ],
)
def test_values(a: Any, b: Any, expected: str) -> None:
    assert verdict(a, b) == expected


def test_options_loosen_only_what_they_say() -> None:
    assert verdict(tensor([1], "int64"), tensor([1], "int32"), dtype=False) == "equal"
    assert verdict(tensor([1], "int64"), tensor([2], "int32"), dtype=False) == "different"
    assert verdict(X, tensor([5.0, 5.0]), compare="shape") == "same shape"
    assert verdict(X, tensor([5.0]), compare="shape") == "different"
    assert verdict(X, tensor([1.0, 2.01]), tolerance=0.1) == "equal"


def test_distributions() -> None:
    random = np.random.RandomState(0)
    normal, other = tensor(random.standard_normal(20000)), tensor(random.standard_normal(20000))
    same_moments = tensor((random.random_sample(20000) - 0.5) * 12**0.5)
    assert verdict(normal, other, compare="distribution") == "same distribution"
    assert verdict(normal, tensor(other[2] + 0.2), compare="distribution") == "different"
    assert verdict(normal, tensor(other[2] * 1.2), compare="distribution") == "different"
    assert verdict(normal, same_moments, compare="distribution") == "different"
    assert verdict(tensor(normal[2][:50]), tensor(other[2][:50]), compare="distribution") == "different"
    assert verdict(tensor(np.ones(9)), tensor(np.zeros(9)), compare="distribution") == "different"


def test_distributions_with_values_that_occur_often() -> None:
    random = np.random.RandomState(0)
    masks = [(random.random_sample(20000) > 0.3).astype(np.float32) for _ in range(2)]
    a, b = tensor(masks[0] / np.float32(0.7)), tensor(masks[1] * np.float32(1.4285713))
    assert verdict(a, b, compare="distribution") == "same distribution"
    # Same mean and standard deviation, other shape.
    odd = tensor(np.where(masks[1] > 0, 1.5, -0.5))
    even = tensor((odd[2] - odd[2].mean()) * -1 + odd[2].mean())
    assert verdict(odd, even, compare="distribution") == "different"


def test_gradients_must_be_there_and_agree() -> None:
    def graded(a: Any, b: Any) -> str:
        case = {**CASE, "grad": True}
        return judge(case, {"ok": {"value": X, "gradients": a}}, {"ok": {"value": X, "gradients": b}}).result

    assert graded({"x": X}, {"x": X}) == "equal"
    assert graded({"x": X}, {}) == "different"
    assert graded({"x": X}, {"x": tensor([1.0, 2.5])}) == "different"


def test_names_of_weights() -> None:
    found = {"ok": {"value": X, "problems": ["gamma: the PyTorch file has no weight"]}}
    assert judge(CASE, {"ok": {"value": X}}, found).result == "different"
    assert judge({**CASE, "names": False}, {"ok": {"value": X}}, found).result == "equal"


def test_graph_mode_counts() -> None:
    found = {"ok": {"value": X, "graph": tensor([0.0, 0.0])}}
    assert judge(CASE, {"ok": {"value": X}}, found).result == "different"


def test_errors_and_expected_errors() -> None:
    failed = {"error": "ValueError: no", "type": "ValueError"}
    assert judge(CASE, {"ok": {"value": X}}, failed).result == "error"
    raising = {**CASE, "raises": "ValueError"}
    assert judge(raising, failed, failed).result == "both raise"
    assert judge(raising, {"ok": {}}, failed).result == "different"
    assert judge(raising, failed, {"ok": {}}).result == "different"
    assert judge(raising, failed, {"error": "segfault", "type": "Crash"}).result == "different"
