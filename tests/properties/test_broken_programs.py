"""Programs with random changes keep the promises: a sample; the campaign is the module's main."""

from __future__ import annotations

import random

import pytest

from tests.properties.broken_programs import broken, faults, sources


@pytest.mark.parametrize("number", range(24))
def test_broken_programs_keep_all_promises(number: int) -> None:
    rng = random.Random(f"sample {number}")
    text = broken(rng.choice(sources()).read_text(encoding="utf-8"), rng)
    assert text is None or faults(text) == []
