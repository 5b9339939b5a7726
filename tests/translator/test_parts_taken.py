"""Parts of tensors by masks, taken several at a time."""

from __future__ import annotations

from torch2ms import translate_source


def test_parts_taken_together_are_copies_where_they_change_later() -> None:
    head = "import torch\n\n\ndef f(row: torch.Tensor, col: torch.Tensor, mask: torch.Tensor):\n"
    changed = "    c[r < c] -= 1\n"
    text = translate_source(
        f"{head}    mask = row != col\n    r, c = row[mask], col[mask]\n{changed}    return r, c\n"
    ).text
    assert "    r, c = row[mask], col[mask].copy()\n" in text
    kept = translate_source(f"{head}    mask = row != col\n    r, c = row[mask], col[mask]\n    return r, c\n").text
    assert "    r, c = row[mask], col[mask]\n" in kept
