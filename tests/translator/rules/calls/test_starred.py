"""Calls with stars onto targets whose parameters stand in another order or have other names."""

from __future__ import annotations

import pytest

from torch2ms import translate_source
from torch2ms.diagnostics import Severity

HEAD = "import torch\nfrom torch import nn\n\n\ndef f(x: torch.Tensor, args, kw):\n"


def last_line(body: str) -> str:
    """Return the last line that the body of a function becomes."""
    found = translate_source(HEAD + "".join(f"    {line}\n" for line in body.splitlines()))
    assert not [d for d in found.diagnostics if d.severity > Severity.NOTE]
    return found.text.rstrip().rpartition("\n")[2].strip()


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return torch.clamp(*args)", "return ops.clamp(*args)"),
        ("return torch.clamp_max(**kw)", "return ops.clamp(**kw)"),
        ("return x.permute(*args)", "return x.permute(*args)"),
        ("return torch.gather(*args)", "return ops.gather_elements(*args)"),
        ("return nn.Conv2d(*args, **kw)", "return layers.Conv2d(*args, **kw)"),
        ("return nn.Linear(**kw)", "return layers.Linear(**kw)"),
        ("return torch.nn.functional.cross_entropy(*args)", "return functional.cross_entropy(*args)"),
    ],
)
def test_stars_that_fill_the_same_parameters_stay(body: str, expected: str) -> None:
    assert last_line(body) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return torch.clamp_max(*(x, 0.5))", "return ops.clamp(x, max=0.5)"),
        ("pair = x, 0.5\nreturn torch.clamp_max(*pair)", "return ops.clamp(pair[0], max=pair[1])"),
        ("pair = (x, 0.5)\nreturn x.clamp_max(*pair[1:])", "return (lambda max: x.clamp(max=max))(*pair[1:])"),
        ("rest = (x, 0.5)\nreturn torch.lerp(x, *rest)", "return ops.lerp(x, rest[0], rest[1])"),
        ("part = dict(weight=0.5)\nreturn torch.lerp(x, x, **part)", "return ops.lerp(x, x, weight=0.5)"),
        ("return torch.clamp_max(x, **{'max': 3})", "return ops.clamp(x, **{'max': 3})"),
    ],
)
def test_what_the_text_shows_is_written_out(body: str, expected: str) -> None:
    assert last_line(body).replace("'weight'", '"weight"') == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return torch.clamp_max(*args)", "return functional.clamp_max(*args)"),  # the runtime has PyTorch's parameters
        ("return torch.split(*args)", "return functional.split(*args)"),
        ("pair = [x, 0.5]\npair.append(1)\nreturn torch.clamp_max(*pair)", "return functional.clamp_max(*pair)"),
        (
            "if kw:\n    pair = (x, 1)\nelse:\n    pair = (x, 2)\nreturn torch.clamp_max(*pair)",
            "return functional.clamp_max(*pair)",
        ),
        ("return x.clamp_max(*args)", "return (lambda max: x.clamp(max=max))(*args)"),
        (
            "return torch.lerp(*args, **kw)",
            "return (lambda input, end, weight: ops.lerp(input, end, functional.float_of_int(weight)))(*args, **kw)",
        ),
        (
            "part = {'weight': 1}\npart['end'] = x\nreturn torch.lerp(x, **part)",
            "return (lambda input, end, weight: ops.lerp(input, end, functional.float_of_int(weight)))(x, **part)",
        ),
    ],
)
def test_other_stars_go_through_a_function_with_the_parameters_of_pytorch(body: str, expected: str) -> None:
    assert last_line(body) == expected


@pytest.mark.parametrize("call", ["torch.batch_norm(*args)", "x.relu().clamp_max(*args)", "torch.instance_norm(*args)"])
def test_calls_that_no_short_function_makes_stay_and_are_marked(call: str) -> None:
    found = translate_source(f"{HEAD}    return {call}\n")
    assert "T2M203" in {d.code for d in found.diagnostics}
    assert found.text.rstrip().endswith(call.rpartition("(")[2])
