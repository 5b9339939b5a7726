from __future__ import annotations

import json
import math

from torch2ms.verify.figures import Figure
from torch2ms.verify.report import VerifyReport

GOOD = Figure("outputs", "output", 1e-7, 2e-7, 1e-6, True)
BAD = Figure("training", "loss", math.inf, math.nan, 1e-6, False, "worst step: 2")


def test_nothing_compared_is_no_success() -> None:
    assert not VerifyReport("net:Net", ()).passed
    assert VerifyReport("net:Net", (GOOD,)).passed
    assert not VerifyReport("net:Net", (GOOD, BAD)).passed
    assert not VerifyReport("net:Net", (GOOD,), problems=("T2M801: fc.bias",)).passed


def test_the_table_has_figures_problems_and_the_verdict() -> None:
    text = VerifyReport("net:Net", (GOOD, BAD), ("T2M801: fc.bias",), ("a note",)).to_text()
    lines = text.splitlines()
    assert lines[2].split() == ["outputs:", "output", "1.0e-07", "2.0e-07", "1.0e-06", "ok"]
    assert "training: loss (worst step: 2)" in lines[3]
    assert lines[3].split()[-4:] == ["inf", "-", "1.0e-06", "FAILED"]
    assert lines[-1] == "FAILED: 1 of 2 figures, 1 problems"
    assert "note: a note" in lines
    assert "problem: T2M801: fc.bias" in lines


def test_json_is_plain_and_has_no_infinities() -> None:
    content = json.loads(json.dumps(VerifyReport("net:Net", (GOOD, BAD)).to_json(), allow_nan=False))
    assert content["passed"] is False
    assert content["figures"][1]["ours"] is None
    assert content["figures"][0]["limit"] == 1e-6
