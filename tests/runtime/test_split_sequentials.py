"""Sequentials that begin with an activation, which PyTorch may run in place: that first, and the rest of them."""

from __future__ import annotations

import mindspore as ms
import numpy as np
import pytest
import torch
from mindspore import nn

from torch2ms.runtime import layers, parts

GIVEN = np.array([[-1.0, -0.25, 0.5, 2.0]], np.float32)


def _torch(first: torch.nn.Module) -> torch.Tensor:
    x = torch.tensor(GIVEN)
    made = torch.nn.Sequential(first, torch.nn.Tanh())(x)
    return torch.cat([x, made], 1)


def _here(cells: nn.SequentialCell, kind: str) -> np.ndarray:
    x = parts.begun(cells, ms.Tensor(GIVEN), kind)
    return np.concatenate([x.asnumpy(), parts.behind(cells, x, kind).asnumpy()], 1)


@pytest.mark.parametrize(
    ("theirs", "ours", "kind"),
    [
        (torch.nn.LeakyReLU(0.2, True), nn.LeakyReLU(0.2), "LeakyReLU"),
        (torch.nn.LeakyReLU(0.2, True), layers.LeakyReLU(0.2, True), "LeakyReLU"),
        (torch.nn.ELU(inplace=True), nn.ELU(), "ELU"),
        (torch.nn.ReLU(True), nn.ReLU(), "ReLU"),
        (torch.nn.Sigmoid(), nn.Sigmoid(), "ReLU"),  # another layer is the first, which makes a new tensor
    ],
)
@pytest.mark.parametrize("nested", [False, True])
def test_who_reads_the_input_again_sees_what_the_activation_made(
    theirs: torch.nn.Module, ours: nn.Cell, kind: str, nested: bool
) -> None:
    cells = nn.SequentialCell(nn.SequentialCell(ours, nn.Identity()) if nested else ours, nn.Tanh())
    np.testing.assert_allclose(_here(cells, kind), _torch(theirs).numpy(), rtol=1e-6, atol=1e-7)


def test_an_empty_sequential_gives_what_it_gets() -> None:
    x = ms.Tensor(GIVEN)
    assert parts.begun(nn.SequentialCell(), x, "ReLU") is x
    assert parts.behind(nn.SequentialCell(), x, "ReLU") is x


def test_hooks_of_the_whole_are_not_passed_over() -> None:
    cells = nn.SequentialCell(nn.ReLU(), nn.Tanh())
    cells.register_forward_hook(lambda cell, given, made: made)
    with pytest.raises(RuntimeError, match="hooks of the whole would not run"):
        parts.behind(cells, ms.Tensor(GIVEN), "ReLU")
