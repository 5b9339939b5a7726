"""Weights that are changed by masks, lists and views: an optimizer that has begun keeps the memory it had then."""

from __future__ import annotations

import pytest

from torch2ms.translator.pipeline import translate_source

HEAD = "import torch\nfrom torch import nn\n"


def body_of(source: str, function: str = "def prune(net: nn.Module, fc: nn.Linear, mask: torch.Tensor, idx):") -> str:
    """Return what becomes of the body of a function."""
    lines = "".join(f"    {line}\n" for line in source.splitlines())
    text = translate_source(f"{HEAD}\n{function}\n{lines}").text
    body = text.partition("def ")[2].split("\n", 1)[1].splitlines()
    return "\n".join(line.removeprefix("    ") for line in body)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("fc.weight.data[mask] = 0", "weight_data.put_at(fc.weight, mask, 0)"),
        ("fc.weight.data[fc.weight < 0] = 0", "weight_data.put_at(fc.weight, fc.weight < 0, 0)"),
        ("fc.weight[[0, 1]] += 1", "weight_data.put_at(fc.weight, [0, 1], fc.weight[[0, 1]] + 1)"),
        ("fc.weight.data[0, idx] = 3", "weight_data.put_at(fc.weight, (0, idx), 3)"),
        ("fc.weight.data[:] = 3", "weight_data.put_at(fc.weight, ..., 3)"),
        ("net.head.weight.data[mask] = 0", "weight_data.put_at(modules.weight(net.head).data, mask, 0)"),
        ("w = net.head[1].weight\nw.mul_(2)", "ops.assign(w, w * 2)"),
        ("w = net.head[1].weight\nw += 1", "ops.assign(w, w + 1)"),
        ("w = net.head[1].weight\nw[mask] = 0", "weight_data.put_at(w, mask, 0)"),
        (
            "fc.weight.data.view(-1)[mask] = 0",
            "ops.stop_gradient(fc.weight).view(-1)[()] = "
            "functional.assigned(ops.stop_gradient(fc.weight).view(-1), mask, 0)",
        ),
        ("for p in net.parameters():\n    p.data[mask] = 0", "    weight_data.put_at(p, mask, 0)"),
        ("w = dict(net.named_parameters())\nw['a'].data.mul_(2)", "ops.assign(w['a'], w['a'] * 2)"),
        ("w = list(net.parameters())\nw[0] += 2", "ops.assign(w[0], w[0] + 2)"),
        ("for k, v in net.state_dict().items():\n    v.mul_(2)", "    v.copy_(v * 2)"),
        ("own = net.state_dict()\nown[idx] += 1", "own[idx].copy_(own[idx] + 1)"),
        ("net.state_dict()[idx].copy_(mask)", "modules.state_dict(net)[idx].copy_(mask)"),
    ],
)
def test_a_weight_keeps_its_memory(source: str, expected: str) -> None:
    assert body_of(source).splitlines()[-1] == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("fc.weight.data[0] = 0", "fc.weight[0] = 0"),
        ("fc.weight.data[:, 1:] = 0", "fc.weight[:, 1:] = 0"),
        ("fc.weight.data[0][1] = 0", "ops.stop_gradient(fc.weight)[0][1] = 0"),
        ("mask[mask > 0] = False", "mask[mask > 0] = False"),
        ("idx[mask] = 0", "idx[mask] = 0"),
        ("net.scores[mask] = 0", "net.scores[mask] = 0"),
        ("w = net.scores\nw[mask] = 0", "w[mask] = 0"),
        ("w = net.head.weight\nw = w.numpy()\nw[idx] = 0", "w[idx] = 0"),
        ("mask.view(-1)[0] = True", "mask.view(-1)[0] = True"),
        ("names = dict(idx)\nnames['a'] += 1", "names['a'] += 1"),
    ],
)
def test_other_elements_are_assigned_as_before(source: str, expected: str) -> None:
    assert body_of(source).splitlines()[-1] == expected


@pytest.mark.parametrize("before", ["", "nn.init.zeros_(fc.bias); ", "fc.bias.data.normal_(); "])
def test_first_values_are_given_plainly(before: str) -> None:
    name = "first" if before else "reset_parameters"
    body = body_of(f"{before}fc.weight.data[mask] = 0", f"def {name}(fc: nn.Linear, mask):")
    assert body.endswith("fc.weight[mask] = 0")


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("mask.view(-1)[idx > 2] = 0", "mask[...] = functional.assigned(mask.view(-1), idx > 2, 0).view(mask.shape)"),
        ("mask.view(-1)[2] = 0", "mask.view(-1)[2] = 0"),
        ("mask[idx > 2] = 0", "mask[idx > 2] = 0"),
    ],
)
def test_elements_of_a_view_without_a_name_reach_the_tensor(source: str, expected: str) -> None:
    assert body_of(source) == expected


def test_a_gradient_does_not_see_what_is_written_into_another_order() -> None:
    mark, made = body_of("mask.t()[idx > 2] = 0").splitlines()
    assert made == "ops.t(mask)[()] = functional.assigned(ops.t(mask), idx > 2, 0)"
    assert "T2M305" in mark


def test_where_nothing_is_differentiated_views_are_written_through() -> None:
    source = "import torch\ndef f(x: torch.Tensor, mask):\n    x.view(-1)[mask > 0] = 0\n"
    made = translate_source(source).text.splitlines()[-1].strip()
    assert made == "x.view(-1)[()] = functional.assigned(x.view(-1), mask > 0, 0)"
