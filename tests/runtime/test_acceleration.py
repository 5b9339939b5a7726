from __future__ import annotations

import mindspore as ms
import pytest

from torch2ms.runtime import acceleration


def test_nothing_is_turned_on_by_default(monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("a switch was turned")

    for name in ("set_context", "set_auto_parallel_context", "Profiler"):
        monkeypatch.setattr(ms, name, refuse)
    acceleration.configure()


def test_gradient_buckets_have_a_size(monkeypatch):
    seen = {}
    monkeypatch.setattr(ms, "set_auto_parallel_context", lambda **options: seen.update(options))
    acceleration.configure(gradient_fusion=32)
    assert seen == {"comm_fusion": {"allreduce": {"mode": "size", "config": 32}}}
    with pytest.raises(ValueError, match="MB"):
        acceleration.configure(gradient_fusion=-1)


def test_graph_kernels_are_a_context(monkeypatch):
    seen = {}
    monkeypatch.setattr(ms, "set_context", lambda **options: seen.update(options))
    acceleration.configure(graph_kernels=True)
    assert seen == {"enable_graph_kernel": True}
