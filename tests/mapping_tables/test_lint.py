from __future__ import annotations

from collections.abc import Callable

import pytest

from torch2ms.mapping_tables.lint import lint
from torch2ms.mapping_tables.lookup import Tables

Only = Callable[[str], Tables]


def problems(tables: Tables) -> list[str]:
    """Return "check: message" of the rows' problems, without those about transforms that these few rows do not use."""
    return [f"{item.check}: {item.message}" for item in lint(tables) if item.check != "unused"]


GOOD = """
namespace = "torch.nn"
[Linear]
[[Linear.to]]
target = "mindspore.nn.Dense"
rename = { in_features = "in_channels", out_features = "out_channels", bias = "has_bias" }
state = "same"
[[Linear.example]]
before = "torch.nn.Linear(2, 3)"
after = "mindspore.nn.Dense(2, 3)"
"""


def test_a_good_row_is_clean(only: Only) -> None:
    assert problems(only(GOOD)) == []


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "mindspore.nn.Dense",
            "mindspore.nn.Denze",
            "target-exists: mindspore.nn.Denze does not exist in MindSpore 2.10",
        ),
        ("mindspore.nn.Dense", "mindspore.mint.nn.Linear", "does not exist in MindSpore 2.0"),
        ("mindspore.nn.Dense", "torch2ms.runtime.layers.Nothing", "the runtime has no torch2ms.runtime.layers.Nothing"),
        ("in_features =", "in_feature =", "torch has no parameter 'in_feature'"),
        (
            'out_features = "out_channels", ',
            "",
            "the required argument 'out_features' has no counterpart (MindSpore 2.0,",
        ),
        ('"in_channels"', '"in_channel"', "no parameter 'in_channel' in MindSpore 2.10"),
        ("[Linear]", "[Linear]\nadapter = 'torch2ms.runtime.layers.Nothing'", "(adapter)"),
        ("state =", "transform = { bias = 'nothing' }\nstate =", "there is no transform 'nothing'"),
        ("state =", "codes = ['T2M999']\nstate =", "there is no diagnostic 'T2M999'"),
        ("state =", "mindspore = '>=2.11'\nstate =", "no release from 2.0 to 2.10 fulfils"),
        ("before = ", "mindspore = '3.1'\nbefore = ", "outside the supported targets"),
        ('"torch.nn.Linear(2, 3)"', '"torch.nn.Linear(2"', "was never closed"),
    ],
)
def test_what_is_wrong_is_found(only: Only, old: str, new: str, said: str) -> None:
    found = problems(only(GOOD.replace(old, new)))
    assert any(said in text for text in found), found


def test_a_name_torch_does_not_have(only: Only) -> None:
    text = (
        '["torch.abz"]\nto = "mindspore.ops.abs"\n'
        '[["torch.abz".example]]\nbefore = "torch.abz(x)"\nafter = "mindspore.ops.abs(x)"\n'
    )
    assert any("torch has no such name" in item for item in problems(only(text)))
    assert problems(only(text.replace("to = ", 'kind = "function"\nto = '))) == []


def test_differing_defaults_must_be_handled(only: Only) -> None:
    row = """
namespace = "torch.nn"
[LeakyReLU]
[[LeakyReLU.to]]
target = "mindspore.nn.LeakyReLU"
rename = { negative_slope = "alpha" }
drop = ["inplace"]
KEY
[[LeakyReLU.example]]
before = "torch.nn.LeakyReLU()"
after = "mindspore.nn.LeakyReLU(0.01)"
"""
    (found,) = problems(only(row.replace("KEY", "")))
    assert found.startswith(
        "defaults: mindspore.nn.LeakyReLU: negative_slope defaults to 0.01, there to 0.2 (MindSpore 2.0,"
    )
    assert problems(only(row.replace("KEY", 'write_default = ["negative_slope"]'))) == []


def test_identical_must_be_identical(only: Only) -> None:
    entry = 'namespace = "torch"\n[[identical]]\nto = "mindspore.ops"\nnames = ["NAME"]\nexample = "{name}(x)"\n'
    assert problems(only(entry.replace("NAME", "softmax")))
    assert problems(only(entry.replace("NAME", "exp"))) == []


def test_platforms(only: Only) -> None:
    row = """
namespace = "torch.nn"
[InstanceNorm2d]
[[InstanceNorm2d.to]]
target = "mindspore.nn.InstanceNorm2d"
DEVICE
write_default = ["affine", "momentum"]
drop = ["track_running_stats"]
[[InstanceNorm2d.example]]
device = "gpu"
before = "torch.nn.InstanceNorm2d(3)"
after = "mindspore.nn.InstanceNorm2d(3)"
"""
    found = problems(only(row.replace("DEVICE", 'device = ["gpu", "ascend"]')))
    assert found == ["platforms: mindspore.nn.InstanceNorm2d: not documented for ascend"]
    assert problems(only(row.replace("DEVICE", 'device = ["gpu"]'))) == []


def test_every_target_needs_an_example_that_meets_its_conditions(only: Only) -> None:
    row = """
namespace = "torch.nn"
[Linear]
[[Linear.to]]
target = "mindspore.nn.Dense"
when = { bias = "False" }
rename = { in_features = "in_channels", out_features = "out_channels", bias = "has_bias" }
[[Linear.to]]
target = "mindspore.nn.Dense"
rename = { in_features = "in_channels", out_features = "out_channels", bias = "has_bias" }
[[Linear.example]]
before = "torch.nn.Linear(2, 3)"
after = "mindspore.nn.Dense(2, 3)"
"""
    (found,) = problems(only(row))
    assert found == "examples: mindspore.nn.Dense (target 1): no example shows this target"
    more = """
[[Linear.example]]
before = 'torch.nn.Linear(2, 3, bias=False)'
after = 'mindspore.nn.Dense(2, 3, has_bias=False)'
"""
    assert problems(only(row + more)) == []


def test_rows_of_one_target_must_agree_on_its_state(only: Only) -> None:
    second = (
        GOOD.replace("Linear", "LazyLinear")
        .replace('namespace = "torch.nn"', "")
        .replace('state = "same"', "state = { weight = 'w' }")
    )
    assert any(text.startswith("state: mindspore.nn.Dense") for text in problems(only(GOOD + second)))


def test_unknown_and_unused_recipes(only: Only) -> None:
    tables = only('["torch.abs"]\n[["torch.abs".to]]\ntarget = "mindspore.ops.abs"\nrecipe = "one"\n')
    said = [f"{item.row}: {item.message}" for item in lint(tables, ["two"]) if "recipe" in item.message]
    assert said == ["two: no row uses this recipe", "torch.abs: there is no recipe 'one'"]


def test_the_page_lists_every_rule() -> None:
    from pathlib import Path

    from torch2ms.mapping_tables import lint as module

    page = (Path(__file__).parents[2] / "docs" / "mapping-tables.md").read_text(encoding="utf-8")
    rules = [check.__name__[1:].replace("_", "-") for check in module._CHECKS]
    assert [rule for rule in [*rules, "state", "recipe", "unused"] if f"`{rule}`" not in page] == []
