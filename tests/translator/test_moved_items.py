"""Statements that only move items of lists and dictionaries between devices go, with loops that they leave empty."""

from __future__ import annotations

import pytest

from torch2ms.translator.pipeline import translate_source


def body_of(source: str) -> str:
    """Return what becomes of the body of a function of a batch."""
    lines = "".join(f"    {line}\n" for line in source.splitlines())
    result = translate_source(
        f"import torch\ndef f(batch, other, device):\n    torch.cuda.set_device(device)\n{lines}    return batch\n"
    )
    text = result.text.partition("device):\n")[2].rpartition("    return batch")[0]
    return "\n".join(line.removeprefix("    ") for line in text.splitlines())


@pytest.mark.parametrize(
    "source",
    [
        "batch[0] = batch[0].cuda(non_blocking=True)",
        "batch['image'] = batch['image'].to(device)",
        "for k in batch:\n    batch[k] = batch[k].to(device)",
        "for k in batch.keys():\n    batch[k] = batch[k].cuda()",
        "for i in range(len(batch)):\n    batch[i] = batch[i].to(device)",
    ],
)
def test_what_only_moves_goes(source: str) -> None:
    assert body_of(source) == ""


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("batch[0] = batch[1].cuda()", "batch[0] = batch[1]"),
        ("batch[0] = other[0].cuda()", "batch[0] = other[0]"),
        ("batch[f(0)] = batch[f(0)].cuda()", "batch[f(0)] = batch[f(0)]"),
        ("batch[0:1] = batch[0:1].cuda()", "batch[0:1] = batch[0:1]"),
        ("for k in load(batch):\n    batch[k] = batch[k].cuda()", "for k in load(batch):\n    pass"),
        ("for k in batch:\n    batch[k] = batch[k].cuda()\nprint(k)", "for k in batch:\n    pass\nprint(k)"),
        (
            "for k in batch:\n    batch[k] = batch[k].cuda()  # first\n",
            "for k in batch:\n    # first\n    pass",
        ),
        ("batch[0] = batch[0]", "batch[0] = batch[0]"),
    ],
)
def test_what_does_more_stays(source: str, expected: str) -> None:
    assert body_of(source) == expected
