"""Conditions that are settled in MindSpore: the branch that never runs goes, the other one moves out."""

from __future__ import annotations

import pytest

from torch2ms import translate_source

HEAD = "import torch\n\n\ndef f(x, y=None):\n"


def body(lines: str) -> str:
    text = translate_source(HEAD + "".join(f"    {line}\n" for line in lines.split("\n"))).text
    return "\n".join(line.removeprefix("    ") for line in text.partition("def f(x, y=None):\n")[2].splitlines())


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("if torch.jit.is_scripting():\n    return x\nreturn y", "return y"),
        ("if not torch.jit.is_scripting():\n    x = x * 2  # twice\nreturn x", "x = x * 2  # twice\nreturn x"),
        ("if torch.jit.is_tracing():\n    x = y\nelse:\n    # told\n    x = y\nreturn x", "# told\nx = y\nreturn x"),
        ("# said\nif not torch.jit.is_tracing():\n    # told\n    x = y\nreturn x", "# said\n# told\nx = y\nreturn x"),
        ("if y and not torch.jit.is_scripting():\n    return y\nreturn x", "if y:\n    return y\nreturn x"),
        ("if torch.jit.is_scripting() or y:\n    return y\nreturn x", "if y:\n    return y\nreturn x"),
        ("if torch.jit.is_scripting() and y:\n    return y\nreturn x", "return x"),
        ("if torch.jit.is_scripting():\n    x = 1\nelif y:\n    x = 2\nreturn x", "if y:\n    x = 2\nreturn x"),
        ("if not torch.jit.is_scripting(): return y\nreturn x", "return y\nreturn x"),
        ("return (x\n            if not torch.jit.is_scripting()\n            else y)", "return x"),
        (
            "if (not torch.jit.is_scripting() and y\n        != 2):\n    return y\nreturn x",
            "if (y\n        != 2):\n    return y\nreturn x",
        ),
        (
            "if (y\n        != 2 and not torch.jit.is_scripting()):\n    return y\nreturn x",
            "if (y\n        != 2):\n    return y\nreturn x",
        ),
        ("while y and not torch.jit.is_scripting():\n    y -= 1\nreturn y", "while y:\n    y -= 1\nreturn y"),
        ("ok = not torch.jit.is_scripting()\nreturn ok", "ok = True\nreturn ok"),
        ("if torch.jit.is_scripting():\n    yield x\nreturn x", "if False:\n    yield x\nreturn x"),
        ("if not torch.jit.is_scripting(): return y  # told\nreturn x", "return y  # told\nreturn x"),
        # What has comments in it, and what the program itself wrote down
        ("if torch.jit.is_scripting():\n    # said\n    x = 1\nreturn x", "if False:\n    # said\n    x = 1\nreturn x"),
        ("if False:\n    x = torch.abs(x)\nreturn x", "if False:\n    x = ops.abs(x)\nreturn x"),
        ("if True and y:\n    x = torch.abs(x)\nreturn x", "if True and y:\n    x = ops.abs(x)\nreturn x"),
    ],
)  # fmt: skip
def test_what_is_left_of_a_conditional(lines: str, expected: str) -> None:
    assert body(lines) == expected


def test_a_block_keeps_a_statement() -> None:
    assert (
        body("for _ in x:\n    if torch.jit.is_scripting():\n        continue\nreturn x")
        == "for _ in x:\n    pass\nreturn x"
    )


def test_a_test_with_comments_in_it_stays() -> None:
    left = body("if (y and  # told\n        not torch.jit.is_scripting()):\n    return y\nreturn x")
    assert "if (y and  # told\n" in left
    assert "        True):\n" in left
