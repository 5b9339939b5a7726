"""Conditionals whose branches have become the same."""

from __future__ import annotations

import pytest

from torch2ms import translate_source

HEAD = "import torch\nfrom torch.utils.checkpoint import checkpoint\n\n\ndef f(self, x, block, gpu: bool):\n"


def translated(*lines: str) -> str:
    source = HEAD + "".join(f"    {line}\n" for line in lines) + "    return x\n"
    return translate_source(source).text.partition(":\n")[2].removesuffix("    return x\n")


def test_a_conditional_that_only_saved_memory_goes() -> None:
    lines = ["# deep", "if self.saves:", "    x = checkpoint(block, x)", "else:", "    x = block(x)"]
    assert translated(*lines) == "    # deep\n    x = block(x)\n"


def test_a_choice_of_devices_goes() -> None:
    assert "Tensors = functional.typed_tensor\n" in translated(
        "Tensors = torch.cuda.FloatTensor if gpu else torch.FloatTensor", "x = Tensors(2)"
    )


def test_an_answer_that_is_known_chooses() -> None:
    assert translated("act = torch.nn.SiLU if hasattr(torch.nn, 'SiLU') else block").endswith("act = layers.SiLU\n")


@pytest.mark.parametrize(
    "lines",
    [
        ["if self.saves:", "    x = block(x)", "else:", "    x = block(x)"],  # as it was written
        ["if self.next():", "    x = checkpoint(block, x)", "else:", "    x = block(x)"],  # asks more than a name
        ["if self.saves:", "    x = checkpoint(block, x)  # slow", "else:", "    x = block(x)"],  # a comment
        ["if self.saves:", "    x = checkpoint(block, x)", "else:", "    x = block(x) + 1"],
        ["x = block(x) if gpu else block(x)"],
    ],
)
def test_other_conditionals_stay(lines: list[str]) -> None:
    assert "if " in translated(*lines)
