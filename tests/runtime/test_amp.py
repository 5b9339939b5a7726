"""Mixed precision: what a program can ask about autocast."""

from __future__ import annotations

import pytest

pytest.importorskip("mindspore")

import mindspore as ms

from torch2ms.runtime import amp


def test_it_is_enabled_in_a_context_for_this_device_alone() -> None:
    told = [amp.is_autocast_enabled("cpu")]
    with amp.autocast("cpu", dtype=ms.float16):
        told += [amp.is_autocast_enabled("cpu"), amp.is_autocast_enabled("cuda")]
        with amp.autocast("cpu", enabled=False):
            told.append(amp.is_autocast_enabled("cpu"))
        told.append(amp.is_autocast_enabled("cpu"))
    assert [*told, amp.is_autocast_enabled("cpu")] == [False, True, False, False, True, False]
