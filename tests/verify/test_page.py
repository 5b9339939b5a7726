"""The page of a verification, and its JSON against the published schema."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import jsonschema

from torch2ms.verify.figures import Figure
from torch2ms.verify.page import to_html
from torch2ms.verify.report import Departure, LayerFigure, VerifyReport

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "verify.schema.json").read_text(encoding="utf-8"))
FACTS = {
    "inputs": ["2x3"], "optimizer": "Adam(lr=0.001)", "seeds": [1, 2], "torch": "2.13.0", "mindspore": "2.10.0",
    "parameters": 12, "reference": "float64",
}  # fmt: skip


def layer(call: int, name: str, depth: int, chain: float, verdict: str = "ok") -> LayerFigure:
    return LayerFigure("eval", call, name, "torch.nn.GELU", depth, chain, 1e-7, chain, 1e-7, 1e-5, verdict)


def make_report(passed: bool = True, name: str = "output") -> VerifyReport:
    figures = (Figure("outputs", name, 1e-7 if passed else 1e-3, 1e-7, 1e-6, passed),)
    if passed:
        return VerifyReport("net:Net", figures, facts=FACTS)
    departure = Departure(
        "block.act", "torch.nn.GELU", "eval", "its result", math.inf, 1e-7, 1e-5, "net.py:3", "net.py:4",
        ("torch.nn.GELU",), "proved by execution", ("approximate is 'tanh'",), "set it as in PyTorch",
    )  # fmt: skip
    layers = (
        layer(0, "", 0, 1e-3), layer(1, "stem", 1, 0.0), layer(2, "block", 1, 1e-3),
        layer(3, "block.act", 2, math.inf, "departs"), layer(4, "head", 1, math.nan, "not compared"),
    )  # fmt: skip
    curves = {"PyTorch": [2.0, 1.5, 1.25], "twin": [2.0, 1.5, 1.25], "MindSpore": [2.0, 1.75, math.nan]}
    return VerifyReport("net:Net", figures, ("nothing <b>there",), ("a note",), FACTS, curves, layers, (departure,))


def test_json_is_as_the_schema_says() -> None:
    for passed in (True, False):
        jsonschema.validate(json.loads(json.dumps(make_report(passed).to_json())), SCHEMA)


def test_page_of_a_network_that_agrees() -> None:
    page = to_html(make_report())
    assert "net:Net computes the same in MindSpore." in page
    assert "The one figure is within its limit" in page
    assert "<svg viewBox" not in page
    assert "<script" not in page


def test_page_of_a_network_that_departs() -> None:
    page = to_html(make_report(passed=False))
    assert "does not compute the same in MindSpore." in page
    assert "nothing &lt;b&gt;there" in page
    assert page.count("<polyline") == 5
    assert "<title>block.act departs</title>" in page
    assert "Error of each innermost layer in the whole run, eval mode" in page
    # the network itself and the block hold other layers: three calls are left
    assert "3, call of a layer, in order" in page
    numbers = [float(number) for points in re.findall(r'points="([^"]*)"', page) for number in re.split("[ ,]", points)]
    assert all(math.isfinite(number) and 0 <= number <= 720 for number in numbers)


def test_texts_of_the_project_stay_texts() -> None:
    page = to_html(make_report(name="</style><script>alert(1)</script>\x1b"))
    assert "<script" not in page
    assert "\x1b" not in page
