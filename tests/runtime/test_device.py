from __future__ import annotations

import os
import subprocess
import sys

import mindspore as ms
import numpy as np
import pytest

import torch2ms.runtime as runtime
from torch2ms.runtime import device, distributed


def test_cpu_works_and_modes_are_set():
    assert device.setup("cpu", "graph") == "CPU"
    assert ms.get_context("mode") == ms.GRAPH_MODE
    assert device.setup("CPU:0") == "CPU"
    assert ms.get_context("mode") == ms.PYNATIVE_MODE
    assert "CPU" in device.available_devices()


@pytest.mark.parametrize(("target", "named"), [("Ascend", "CANN"), ("cuda:0", "CUDA")])
def test_a_missing_device_is_named(target, named):
    if device.is_available(target):
        pytest.skip(f"{target} is here")
    with pytest.raises(device.DeviceError, match=f"needs .*{named}.*Available: CPU"):
        device.setup(target)
    assert device.setup("CPU") == "CPU"


def test_unknown_words_are_refused():
    with pytest.raises(device.DeviceError, match="unknown device target 'tpu'"):
        device.setup("tpu")
    with pytest.raises(ValueError, match="unknown mode 'fast'"):
        device.setup("CPU", "fast")


@pytest.mark.parametrize(("given", "expected"), [(None, "AVX2"), ("AVX512_CORE", "AVX512_CORE")])
def test_importing_the_runtime_limits_onednn_unless_told(given, expected, repository):
    environment = {name: value for name, value in os.environ.items() if name != "ONEDNN_MAX_CPU_ISA"}
    if given:
        environment["ONEDNN_MAX_CPU_ISA"] = given
    script = "import os, torch2ms.runtime; print(os.environ['ONEDNN_MAX_CPU_ISA'])"
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, cwd=repository, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == [expected]


def test_kernels_are_waited_for_where_there_is_the_cpu_alone(monkeypatch):
    """An Ascend or a GPU computes beside Python: there MindSpore's queue is what makes it fast."""
    calls = []
    monkeypatch.setattr(ms.runtime, "launch_blocking", lambda: calls.append(1))
    for name in ("ascend", "gpu"):
        with monkeypatch.context() as other:
            other.setattr(getattr(ms.device_context, name), "is_available", lambda: True)
            assert not runtime.wait_for_kernels()
    assert calls == []
    assert runtime.wait_for_kernels()
    assert calls == [1]


def test_releases_without_the_switch_are_left_alone(monkeypatch):
    monkeypatch.delattr(ms.runtime, "launch_blocking")
    assert not runtime.wait_for_kernels()


def test_configurations_are_read_without_mindspore(repository):
    script = "import sys; sys.modules['mindspore'] = None; import torch2ms.runtime.config"
    done = subprocess.run([sys.executable, "-c", script], cwd=repository, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_older_releases_are_left_alone(monkeypatch):
    monkeypatch.delenv("ONEDNN_MAX_CPU_ISA")
    monkeypatch.setattr(runtime.metadata, "version", lambda _: "2.8.0")
    assert not runtime.limit_onednn_isa()
    assert "ONEDNN_MAX_CPU_ISA" not in os.environ
    monkeypatch.setenv("ONEDNN_MAX_CPU_ISA", "AVX2")


def test_one_process_needs_no_group():
    assert distributed.init() == 0
    assert not distributed.is_initialized()
    assert (distributed.rank(), distributed.world_size(), distributed.is_main_process()) == (0, 1, True)
    tensor = ms.Tensor([1.0, 2.0])
    assert distributed.all_reduce(tensor) is tensor
    assert distributed.all_gather(tensor) == [tensor]
    assert distributed.broadcast(tensor) is tensor
    assert distributed.sum_over_ranks([1.0, 2.0]) == [1.0, 2.0]
    assert distributed.gradient_reducer([]) is None
    distributed.barrier()


def test_a_cpu_has_no_events() -> None:
    with pytest.raises(device.DeviceError, match="perf_counter"):
        device.event(enable_timing=True)


def test_a_device_may_stand_around_what_is_made():
    with device.Device("meta") as chosen:
        assert chosen.type == "meta"


@pytest.mark.skipif(not hasattr(ms.Tensor, "device"), reason="tensors of this MindSpore do not say where they are")
def test_a_device_is_that_of_tensors_that_the_translation_did_not_know() -> None:
    x = ms.Tensor([1.0])
    assert device.Device("cpu") == x.device == device.tensor_device()
    assert device.Device("cuda:0") != x.device != device.Device("meta")
    assert device.Device("cpu") != "cpu"  # a string of the program's own: never equal in torch


def test_pythons_types_stand_for_the_widest_dtypes() -> None:
    x = ms.Tensor([0, 2], ms.int32)
    wanted = [(bool, ms.bool_), (int, ms.int64), (float, ms.float64), (ms.float16, ms.float16)]
    assert all(device.to(x, given).dtype == dtype for given, dtype in wanted)


def test_a_release_of_cuda_has_two_parts() -> None:
    assert [int(part) for part in device.split_cuda_version(".")] == [12, 8]


@pytest.mark.parametrize("number", [np.float64(2), np.float32(2), np.int64(2)])
def test_numpys_numbers_leave_the_operation_to_the_tensor(number: np.generic) -> None:
    x = ms.Tensor([1.0, 2.0])
    for result in (number * x, number - x, number / x, number > x, sum([number, x])):
        assert isinstance(result, ms.Tensor)
    np.testing.assert_array_equal(ms.grad(lambda x: (number * x).sum())(x).asnumpy(), [2.0, 2.0])
    with pytest.raises(TypeError):
        np.ones(2) * x  # as PyTorch does
