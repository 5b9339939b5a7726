"""``torch._assert`` as a statement, and as a value."""

from __future__ import annotations

import pytest

from torch2ms.translator.pipeline import translate_source


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("torch._assert(n > 1, 'no')", "assert n > 1, 'no'"),
        ("torch._assert(message='no', condition=(n > 1))", "assert n > 1, 'no'"),
        ("torch._assert(m := n, 'no')", "assert (m := n), 'no'"),
        ("torch._assert(n >\n    1, 'no'\n)", "assert (n >\n    1), 'no'"),
        ("if n: torch._assert(n, 'no'); n = 2", "if n: assert n, 'no'; n = 2"),
        ("told = torch._assert(n, 'no')", "told = functional.assert_true(n, 'no')"),
        ("torch._assert(n,  # counted\n    'no')", "functional.assert_true(n,  # counted\n    'no')"),
    ],
)
def test_a_call_that_is_a_statement_becomes_one(code: str, expected: str) -> None:
    assert translate_source(f"import torch\nn = 1\n{code}\n").text.endswith(f"n = 1\n{expected}\n")
