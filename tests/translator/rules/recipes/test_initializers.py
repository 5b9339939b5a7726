"""torch.nn.init: a statement on a parameter becomes set_data, everything else the runtime's function."""

from __future__ import annotations

import pytest

from torch2ms.translator.pipeline import translate_source

HEAD = "import torch\nfrom torch import nn\n\n\ndef run(m: nn.Linear, bn: nn.BatchNorm2d, x: torch.Tensor, any, std):\n"


def last_line(line: str) -> str:
    """Return the last line of the translated function."""
    return translate_source(f"{HEAD}    {line}\n").text.rstrip().rsplit("\n", 1)[-1].strip()


@pytest.mark.parametrize(
    ("call", "initializer", "parameter"),
    [
        ("normal_(m.weight, 0, 0.02)", "init.Normal(mean=0, sigma=0.02)", "m.weight"),
        ("normal_(m.weight, std=std)", "init.Normal(sigma=std)", "m.weight"),
        ("normal_(m.weight)", "init.Normal(sigma=1.0)", "m.weight"),
        ("uniform_(m.weight, -0.1, 0.1)", "init.Uniform(0.1)", "m.weight"),
        ("uniform_(m.weight, -std, std)", "init.Uniform(std)", "m.weight"),
        ("kaiming_normal_(m.weight, mode='fan_out')", "init.HeNormal(mode='fan_out')", "m.weight"),
        ("kaiming_uniform_(m.weight, 5)", "init.HeUniform(5)", "m.weight"),
        ("xavier_uniform_(m.weight.data, gain=2)", "init.XavierUniform(gain=2)", "m.weight"),
        ("trunc_normal_(m.weight, std=0.5)", "init.TruncatedNormal(sigma=0.5)", "m.weight"),
        ("constant_(bn.weight, 1)", "1", "bn.gamma"),
        ("zeros_(bn.bias)", '"zeros"', "bn.beta"),
        ("ones_(bn.weight)", '"ones"', "bn.gamma"),
    ],
)
def test_a_parameter_is_set_to_an_initializers_tensor(call: str, initializer: str, parameter: str) -> None:
    expected = f"{parameter}.set_data(init.initializer({initializer}, {parameter}.shape, {parameter}.dtype))"
    assert last_line(f"nn.init.{call}") == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("nn.init.uniform_(m.weight)", "initializers.uniform_(m.weight)"),  # [0, 1) is not symmetric
        ("nn.init.uniform_(m.weight, -0.1, 0.2)", "initializers.uniform_(m.weight, -0.1, 0.2)"),
        ("w = nn.init.ones_(m.weight)", "w = initializers.ones_(m.weight)"),  # the value is used
        ("w = nn.init.ones_(m.weight.data)", "w = initializers.ones_(m.weight)"),
        ("nn.init.normal_(x)", "initializers.normal_(x)"),  # a tensor has no set_data
        ("nn.init.normal_(any.weight)", "initializers.normal_(modules.weight(any))"),  # weight or gamma
        ("nn.init.zeros_(any.bias.data)", "initializers.zeros_(modules.bias(any))"),
    ],
)
def test_what_is_no_such_statement_goes_through_the_runtime(line: str, expected: str) -> None:
    assert last_line(line) == expected
