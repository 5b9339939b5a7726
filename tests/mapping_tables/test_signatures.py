from __future__ import annotations

import pytest

from torch2ms.mapping_tables.runtime_source import runtime_has, runtime_signature
from torch2ms.mapping_tables.signatures import format_signature, parse_signature


@pytest.mark.parametrize(
    "text",
    ["()", "(a)", "(a, b=1)", "(a, /, b)", "(a, *, b=None)", "(*size, dtype=None)", "(*args, **kwargs)", "(a, /)",
     "(x, y=(1, 2), *, z='s', **options)"],
)  # fmt: skip
def test_text_and_signature_are_inverse(text: str) -> None:
    signature = parse_signature(text)
    assert signature is not None
    assert format_signature(signature) == text


@pytest.mark.parametrize("text", ["", "(a", "(a=1, b)", "a", "(): pass\ndef g()"])
def test_what_is_no_signature(text: str) -> None:
    assert parse_signature(text) is None


def test_runtime_names_are_read_from_source() -> None:
    assert runtime_has("torch2ms.runtime.data.DataLoader")
    assert runtime_has("torch2ms.runtime.layers.pair_to_tblr")  # re-exported by the package
    assert runtime_has("torch2ms.runtime.layers.pruning.L1Unstructured.apply")  # of a class that it derives from
    assert not runtime_has("torch2ms.runtime.layers.pruning.L1Unstructured.nothing")
    assert not runtime_has("torch2ms.runtime.data.Nothing")
    assert not runtime_has("torch2ms.runtime.nothing.Nothing")
    assert runtime_signature("torch2ms.runtime.data.Nothing") is None


def test_runtime_signatures_have_no_self() -> None:
    method = runtime_signature("torch2ms.runtime.data.DataLoader.__iter__")
    function = runtime_signature("torch2ms.runtime.layers.pair_to_tblr")
    assert method is not None
    assert function is not None
    assert format_signature(method) == "()"
    assert format_signature(function) == "(padding)"
