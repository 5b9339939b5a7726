"""Hooks that change a state dictionary before it is loaded."""

from __future__ import annotations

from typing import Any

import pytest

from torch2ms.runtime import modules, state_hooks

mindspore = pytest.importorskip("mindspore")
nn, ops = mindspore.nn, mindspore.ops


class Joined(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.both = nn.Dense(2, 4, has_bias=False)
        self.handle = state_hooks.register_load_hook(self, self.join)

    def join(self, state: dict[str, Any], prefix: str, *_: Any) -> None:
        if f"{prefix}one.weight" in state:
            parts = [state.pop(f"{prefix}{name}.weight") for name in ("one", "two")]
            state[f"{prefix}both.weight"] = ops.cat(parts)


def test_a_part_joins_the_weights_it_finds_under_old_names() -> None:
    net = nn.SequentialCell(Joined(), nn.Dense(4, 1, has_bias=False))
    old = {"0.one.weight": ops.ones((2, 2)), "0.two.weight": ops.zeros((2, 2)), "1.weight": ops.ones((1, 4))}
    modules.load_state_dict(net, old)
    assert net[0].both.weight.asnumpy().tolist() == [[1, 1], [1, 1], [0, 0], [0, 0]]
    assert set(old) == {"0.one.weight", "0.two.weight", "1.weight"}  # the caller's stays
    net[0].handle.remove()
    with pytest.raises(RuntimeError, match=r"missing: 0\.both\.weight"):
        modules.load_state_dict(net, old)


def test_errors_of_hooks_are_told() -> None:
    net = nn.Dense(1, 1)
    state_hooks.register_load_hook(net, lambda cell, state, *rest: rest[-1].append(type(cell).__name__), True)
    with pytest.raises(RuntimeError, match="Dense"):
        modules.load_state_dict(net, modules.saved_state(net))
