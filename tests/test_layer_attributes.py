"""Attributes of layers: for every layer of the tables' examples, what the translation of ``layer.attr`` prints."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest

from tests import run_cases
from torch2ms import translate_project
from torch2ms.mapping_tables import loader

# What a program prints of layers: plain settings, and parameters that are None
COLLECT = """\
import json
import torch

found = {{}}
for text in {calls!r}:
    try:
        layer = eval(text)
    except Exception:
        continue
    if isinstance(layer, torch.nn.Module):
        members = {{**vars(layer), **{{name: value for name, value in layer._parameters.items() if value is None}}}}
        plain = (bool, int, float, str, tuple, list, type(None))
        found[text] = sorted(n for n, v in members.items() if n[0] != "_" and n != "training" and isinstance(v, plain))
print(json.dumps(found))
"""
LINE = """\
    try:
        print({shown!r}, repr(layer.{name}))
    except AttributeError:
        print({shown!r}, "is missing")
"""

# Told otherwise, and why: settings that PyTorch itself keeps as no argument gave them
KNOWN = {
    "CrossMapLRN2d.size", "CrossMapLRN2d.alpha",  # an even window is computed as the odd one below it
    "ZeroPad2d.value",  # 0, not 0.0
    "BatchNorm2d.eps", "GroupNorm.eps",  # a whole number that was given is a float
    "Upsample.recompute_scale_factor",  # MindSpore's own layer computes as PyTorch's where it is True
    "LazyConvTranspose1d.bias", "LazyConvTranspose2d.bias", "LazyConvTranspose3d.bias",  # until the first call
}  # fmt: skip
# MindSpore's layers have no such attribute: a program that reads it stops
MISSING = frozenset(
    """
    activation_relu_or_gelu alpha beta bias ceil_mode count_include_pad delta dilation divisor_override
    elementwise_affine enable_nested_tensor eps full init inplace log_input log_target margin mask_check
    max_norm max_val min_val name norm_type padding process_group proj_size recompute_scale_factor
    scale_grad_by_freq sparse use_nested_tensor
    """.split()
)


def layer_calls() -> list[str]:
    """Return the calls of layers in the examples of the tables, as texts."""
    calls: dict[str, None] = {}
    for row in loader.load().rows():
        examples = row.examples if row.name.startswith("torch.nn.") else ()
        for example in examples:
            for node in ast.walk(ast.parse(example.before)):
                text = ast.unparse(node) if isinstance(node, ast.Call) else ""
                if re.match(r"torch\.nn\.[A-Z]\w*\(", text):
                    calls[text] = None
    return list(calls)


def told(output: str) -> dict[str, str]:
    lines = (line.partition(" | ") for line in output.splitlines())
    return {shown: value.strip() for shown, _, value in lines}


@pytest.mark.slow
def test_attributes_are_told_as_pytorch_tells_them(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "collect.py").write_text(COLLECT.format(calls=layer_calls()))
    (collected,) = run_cases.run("torch", [source / "collect.py"]).values()
    found = json.loads(collected.output)
    assert len(found) > 200, collected.error
    (source / "collect.py").unlink()
    parts = []
    for number, (text, names) in enumerate(found.items()):
        lines = "".join(LINE.format(shown=f"{text}.{name} |", name=name) for name in names)
        parts.append(f"def layer_{number}():\n    layer = {text}\n{lines or '    pass'}\n\nlayer_{number}()\n\n")
    (source / "layers.py").write_text("import torch\n\n\n" + "\n".join(parts))
    translate_project(source, tmp_path / "out")
    (theirs,) = run_cases.run("torch", [source / "layers.py"]).values()
    (ours,) = run_cases.run("mindspore", [tmp_path / "out" / "layers.py"]).values()
    assert theirs.error == ours.error == ""
    expected, printed = told(theirs.output), told(ours.output)
    assert expected.keys() == printed.keys()
    assert len(expected) > 1000
    other: dict[str, tuple[str, str]] = {}
    for shown, value in expected.items():
        layer, name = shown.removeprefix("torch.nn.").partition("(")[0], shown.rpartition(".")[2]
        lazily = layer.startswith("Lazy")  # has its settings from the first call on
        is_missing = printed[shown] == "is missing" and (name in MISSING or lazily)
        if printed[shown] != value and f"{layer}.{name}" not in KNOWN and not is_missing:
            other[shown] = (value, printed[shown])
    assert other == {}
