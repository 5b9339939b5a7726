"""Decoding, parsing and encoding one Python file: every byte that is not translated comes back."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torch2ms.translator.project.source_text import SourceText, decode


def codes(source: SourceText) -> list[tuple[str, int]]:
    return [(diagnostic.code, diagnostic.line) for diagnostic in source.diagnostics]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"x = 1",
        b"x = 1\n",
        b"x = 1\r\ny = '''a\r\nb'''\r\n",
        b"x = 1\ry = 2\r",
        b"x = 1\r\ny = 2\nz = 3\r",
        b"\xef\xbb\xbfx = 'caf\xc3\xa9'\r\n",
        b"# -*- coding: latin-1 -*-\nx = 'caf\xe9'\n",
        b"\x0c\nx = 1\n\x0c",
        b"x = '\xe2\x80\xa8\xc2\x85\x0b'\n",
    ],
    ids=["empty", "no-final-newline", "lf", "crlf", "cr", "mixed", "bom", "latin1", "form-feed", "odd-separators"],
)
def test_untouched_text_comes_back_byte_for_byte(data: bytes) -> None:
    source = decode(data, "a.py")
    assert source.text is not None
    assert source.tree is not None
    assert source.diagnostics == ()
    assert "\r" not in source.text
    assert source.encode(source.text) == data
    assert source.restore(source.text).encode(source.encoding) == data


def test_changed_text_gets_its_newlines_mark_and_encoding_back() -> None:
    source = decode(b"\xef\xbb\xbfa = 1\r\nb = 2\r\n", "a.py")
    assert source.encode("a = 1\nnew = 0\nb = 2\n") == b"\xef\xbb\xbfa = 1\r\nnew = 0\r\nb = 2\r\n"
    latin = decode(b"# coding: latin-1\nx = '\xe9'\n", "a.py")
    assert latin.encode("# coding: latin-1\ny = '\xe9'\n") == b"# coding: latin-1\ny = '\xe9'\n"


def test_changed_text_with_mixed_newlines_keeps_those_of_untouched_lines() -> None:
    source = decode(b"a = 1\r\nb = 2\nc = 3\r\nd = 4\r", "a.py")
    assert source.encode("a = 1\nb = 2\nC = 3\nd = 4\n") == b"a = 1\r\nb = 2\nC = 3\r\nd = 4\r"
    assert source.encode("a = 1\nb = 2\nd = 4\n") == b"a = 1\r\nb = 2\nd = 4\r"


@given(st.lists(st.tuples(st.sampled_from(["a = 1", "b = 'x'", "", "# c"]), st.sampled_from(["\n", "\r\n", "\r"]))))
def test_any_newlines_survive(lines: list[tuple[str, str]]) -> None:
    data = "".join(line + newline for line, newline in lines).encode()
    source = decode(data, "a.py")
    assert source.text is not None
    assert source.encode(source.text) == data
    # A line added at the end leaves all others as they are.
    assert source.encode(source.text + "z = 0").startswith(data)


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (b"x = 1\ny = '\xff'\n", 2),
        (b"x = 1\n\n\ny = '\xff'\n", 4),
        (b"# coding: utf-8\n\n\n\xe9\n", 4),
        (b"# coding: no-such-codec\n", 1),
        (b"\xef\xbb\xbf# coding: latin-1\n", 1),
        (b"\xff\xfex\0", 1),
    ],
)
def test_undecodable_is_t2m102(data: bytes, line: int) -> None:
    source = decode(data, "a.py")
    assert source.text is None
    assert source.tree is None
    assert codes(source) == [("T2M102", line)]


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("x = 1\ny = (\n", 2, "never closed"),
        ("import torch\nprint 'hello'\n", 2, "looks like Python 2"),
        ("try:\n    pass\nexcept E, e:\n    pass\n", 3, "looks like Python 2"),
        ("x = 1\n\ny = '\0'\n", 3, "null byte in line 3"),
        ("if x:\n\ty = 1\n        z = 2\n", 3, "inconsistent"),
        ("x = " + "(" * 300 + ")" * 300, 1, "too many nested"),
        ("x = " + "+".join("1" * 20000), 1, "nested too deeply"),
        ("x = " + "not " * 100_000 + "1", 1, "nested too deeply"),
    ],
)
def test_unparsable_is_t2m101_with_its_line(text: str, line: int, words: str) -> None:
    source = decode(text.encode(), "a.py")
    assert source.tree is None
    assert codes(source) == [("T2M101", line)]
    assert words in source.diagnostics[0].message
    assert source.text is not None
    assert source.encode(source.text) == text.encode()


@pytest.mark.parametrize("data", [b"x = 1\r\n", b"\xef\xbb\xbfx.cuda(async=True)\n", b"# coding: latin-1\n\xe9 = 1"])
def test_known_to_parse_gives_the_same_text(data: bytes) -> None:
    full, plain = decode(data, "a.py"), decode(data, "a.py", is_parsed=True)
    assert (plain.text, plain.repaired, plain.original) == (full.text, full.repaired, full.original)
    assert plain.encode("y\n") == full.encode("y\n")


def test_a_raised_limit_of_recursion_lets_nothing_deeper_through() -> None:
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(100_000)  # as frameworks do
    try:
        source = decode(("x = " + "+".join("1" * 20000)).encode(), "a.py")
        assert sys.getrecursionlimit() == 100_000
    finally:
        sys.setrecursionlimit(limit)
    assert source.tree is None
    assert codes(source) == [("T2M101", 1)]


def test_line_of_a_megabyte_is_parsed() -> None:
    data = b"x = '" + b"a" * 1_000_000 + b"'\n"
    assert decode(data, "a.py").tree is not None


def test_async_argument_is_repaired_and_reported() -> None:
    source = decode(b"x = x.cuda(async=True)\r\ny = (y\r\n .to(d, async = flag), z.cuda(async=1))\r\n", "a.py")
    assert source.tree is not None
    assert source.repaired
    assert (
        source.text == "x = x.cuda(non_blocking=True)\ny = (y\n .to(d, non_blocking = flag), z.cuda(non_blocking=1))\n"
    )
    assert codes(source) == [("T2M106", 1), ("T2M106", 3), ("T2M106", 3)]
    assert source.encode(source.text).count(b"\r\n") == 3
    assert source.original == "x = x.cuda(async=True)\r\ny = (y\r\n .to(d, async = flag), z.cuda(async=1))\r\n"


@pytest.mark.parametrize(
    "text",
    ["channel.consume(async=True)\n", "x.cuda(async=True)\nprint 'a'\n", "cuda(async=True)\n"],
    ids=["not-torch", "other-error", "no-method"],
)
def test_async_that_is_not_torchs_is_left(text: str) -> None:
    source = decode(text.encode(), "a.py")
    assert source.tree is None
    assert not source.repaired
    assert [code for code, _ in codes(source)] == ["T2M101"]


def test_async_in_strings_and_comments_is_left() -> None:
    text = "# x.cuda(async=True)\ns = 'x.cuda(async=True)'\nasync def f(): pass\n"
    source = decode(text.encode(), "a.py")
    assert source.text == text
    assert source.diagnostics == ()


TABBED = "if a:\n        if b:\n        \tc = 1\n        \tx = '''\n{inside}'''\n        else:\n        \tc = 2\n"


@pytest.mark.parametrize(("inside", "even"), [("", True), ("        \tkept\n", False)])
def test_tabs_behind_spaces_are_eight_columns_where_no_string_holds_them(inside: str, even: bool) -> None:
    data = TABBED.format(inside=inside).encode()
    source = decode(data, "a.py")
    assert ("\t" not in source.text) is even
    assert source.encode(source.text) == data
    assert decode(data, "a.py", is_parsed=True).text == source.text
