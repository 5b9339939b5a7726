"""Choose the device and the execution mode, with an error that says what is missing."""

from __future__ import annotations

import os
from typing import Any, List, Optional, Union

import mindspore as ms
from mindspore import ops

__all__ = [
    "VERSION",
    "Device",
    "DeviceError",
    "Stream",
    "available_devices",
    "current_accelerator",
    "current_device",
    "device_count",
    "device_name",
    "device_number_of",
    "event",
    "is_accelerated",
    "is_available",
    "is_on_cpu",
    "max_memory_allocated",
    "max_memory_reserved",
    "memory_allocated",
    "memory_reserved",
    "setup",
    "split_cuda_version",
    "synchronize",
    "tensor_device",
    "tensor_device_number",
    "to",
]

VERSION: str = ms.__version__
"""The MindSpore release, where programs print torch's."""

_PACKAGES = {
    "GPU": "a MindSpore build for CUDA (the GPU library needs CUDA 11.1 or 11.6 with cuDNN 8), and an NVIDIA GPU",
    "Ascend": "Ascend's CANN toolkit and driver beside the mindspore package, and an Ascend NPU",
}
_SPELLINGS = {"cpu": "CPU", "gpu": "GPU", "cuda": "GPU", "ascend": "Ascend", "npu": "Ascend"}


class DeviceError(RuntimeError):
    """The installed MindSpore cannot run on the device that was asked for."""


def _canonical(device_target: str) -> str:
    name = _SPELLINGS.get(device_target.split(":", 1)[0].lower())
    if name is None:
        raise DeviceError(f"unknown device target {device_target!r}: choose CPU, GPU or Ascend")
    return name


def is_available(device_target: str) -> bool:
    """Return whether this MindSpore can run on ``"CPU"``, ``"GPU"`` or ``"Ascend"`` here."""
    name = _canonical(device_target)
    devices = getattr(ms, "device_context", None)
    if devices is not None and hasattr(devices, name.lower()):
        return bool(getattr(devices, name.lower()).is_available())
    return name == "CPU"  # before 2.5 there is no way to ask without choosing


def available_devices() -> List[str]:
    """Return those of CPU, GPU, Ascend that this MindSpore can run on here."""
    return [name for name in ("CPU", "GPU", "Ascend") if is_available(name)]


def setup(device_target: str = "CPU", mode: str = "pynative", device_id: Union[int, None] = None) -> str:
    """Select device and execution mode; call it before the first operation.

    ``device_target`` is CPU, GPU or Ascend; ``mode`` is ``"pynative"`` (operator by operator) or ``"graph"`` (whole
    networks are compiled). ``device_id`` defaults to the environment's DEVICE_ID, or 0. Returns the device's name.
    Raises DeviceError where MindSpore lacks the device, ValueError for another mode.
    """
    name = _canonical(device_target)
    if mode not in ("pynative", "graph"):
        raise ValueError(f"unknown mode {mode!r}: choose 'pynative' or 'graph'")
    if device_id is None and name != "CPU":
        device_id = int(os.environ.get("DEVICE_ID", "0"))
    if name != "CPU" or ms.get_context("device_target") != "CPU":
        try:
            _select(name, device_id)
        except (RuntimeError, ValueError) as error:
            raise DeviceError(_explain(name, str(error).strip().splitlines()[0])) from error
    ms.set_context(mode=ms.GRAPH_MODE if mode == "graph" else ms.PYNATIVE_MODE)
    return name


def _select(name: str, device_id: Union[int, None]) -> None:
    if hasattr(ms, "set_device"):
        ms.set_device(name) if device_id is None else ms.set_device(name, device_id)
    elif device_id is None:
        ms.set_context(device_target=name)
    else:
        ms.set_context(device_target=name, device_id=device_id)


def _explain(name: str, reason: str) -> str:
    available = available_devices()
    if name in available:
        return f"{name} must be chosen before the first operation. MindSpore said: {reason}"
    return (
        f"MindSpore {ms.__version__} cannot run on {name} here: it needs {_PACKAGES.get(name, 'a CPU build')}. "
        f"Available: {', '.join(available)}. MindSpore said: {reason}"
    )


@ops.constexpr  # asked while a network is compiled, too
def is_accelerated() -> bool:
    """Return whether MindSpore computes on an accelerator: its device target is a GPU or an Ascend NPU."""
    return str(ms.get_context("device_target")) != "CPU"


def is_on_cpu() -> bool:
    """Return whether MindSpore computes on the CPU."""
    return not is_accelerated()


def device_number_of(tensor: Any) -> int:
    """Return the number of the accelerator that a tensor is on, -1 on a CPU: ``torch.get_device``."""
    del tensor
    return tensor_device_number()


def split_cuda_version(sep: Optional[str] = None, maxsplit: int = -1) -> List[str]:
    """Return the parts of a release of CUDA that lacks nothing programs ask for; MindSpore tells of none."""
    return "12.8".split(sep, maxsplit)


class Device:
    """The name of a device, for programs that hand one on, print it or compare it; it moves nothing.

    ``Device("cuda:1")``, ``Device("cuda", 1)`` or ``Device(1)``; ``type`` and ``index`` can be read.
    """

    def __init__(self, type: Union[str, int, Device], index: Optional[int] = None) -> None:
        if isinstance(type, Device):
            self.type: str = type.type
            self.index: Optional[int] = type.index
        elif isinstance(type, int):
            self.type, self.index = "cuda", type
        else:
            self.type, _, number = type.partition(":")
            self.index = int(number) if number else index

    def __enter__(self) -> Device:
        return self

    def __exit__(self, *_: object) -> None:
        """Stand for the end of ``with torch.device("cuda"):``; where tensors are made, the whole program is."""

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __repr__(self) -> str:
        extra = "" if self.index is None else f", index={self.index}"
        return f"device(type={self.type!r}{extra})"

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str) and other.partition(":")[0] in _PACKAGES.keys() | {"CPU"}:
            return self == tensor_device()  # ``x.device`` of a tensor that the translation did not know as one
        return isinstance(other, Device) and (self.type, self.index) == (other.type, other.index)

    def __hash__(self) -> int:
        return hash((self.type, self.index))


def tensor_device() -> Device:
    """Return the device that tensors are on: all are where MindSpore computes."""
    return Device("cuda", current_device()) if is_accelerated() else Device("cpu")


def tensor_device_number() -> int:
    """Return the number of the accelerator that tensors are on, -1 on a CPU: ``tensor.get_device()`` in torch."""
    return current_device() if is_accelerated() else -1


def current_accelerator(check_available: bool = False) -> Optional[Device]:
    """Return ``Device("cuda")``, the name programs know an accelerator by, or None on a CPU."""
    del check_available
    return Device("cuda") if is_accelerated() else None


def device_count() -> int:
    """Return the number of accelerators that MindSpore sees; 0 on a CPU."""
    if not is_accelerated():
        return 0
    devices = getattr(ms, "device_context", None)
    name = str(ms.get_context("device_target")).lower()
    return int(getattr(devices, name).device_count()) if devices is not None else 1


def current_device() -> int:
    """Return the number of the accelerator in use."""
    return int(ms.get_context("device_id")) if is_accelerated() else 0


def device_name(device: object = None) -> str:
    """Return the name of the device target: CPU, GPU or Ascend."""
    del device
    return str(ms.get_context("device_target"))


def synchronize(device: object = None) -> None:
    """Wait until everything that was started is computed."""
    del device
    wait = getattr(getattr(ms, "runtime", None), "synchronize", None)
    if wait is not None and is_accelerated():
        wait()


class Stream:
    """Where a program names streams: MindSpore orders the work itself, so that only ``synchronize`` does something."""

    def wait_stream(self, stream: object) -> None:
        """Do nothing: what follows is ordered."""

    def wait_event(self, event: object) -> None:
        """Do nothing: what follows is ordered."""

    def record_event(self, given: Any = None) -> Any:
        """Return an event that is recorded now: ``given``, else a new one."""
        found = event() if given is None else given
        found.record()
        return found

    def query(self) -> bool:
        """Whether all work is done: it is, once it has been waited for."""
        synchronize()
        return True

    def synchronize(self) -> None:
        """Wait until all work is done."""
        synchronize()


def event(enable_timing: bool = False, blocking: bool = False) -> Any:
    """Return an event of the accelerator (``record``, ``synchronize``, ``elapsed_time``); MindSpore 2.7 and later.

    Raises:
        DeviceError: there is no accelerator, or MindSpore has no events.
    """
    make = getattr(getattr(ms, "runtime", None), "Event", None)
    if make is None or not is_accelerated():
        raise DeviceError("events are an Ascend's or a GPU's: on a CPU take the time with time.perf_counter()")
    return make(enable_timing, blocking)


def _memory(name: str) -> int:
    read = getattr(getattr(ms, "runtime", None), name, None)
    return int(read()) if read is not None and is_accelerated() else 0


def memory_allocated(device: object = None) -> int:
    """Return the accelerator memory that tensors take now, in bytes; 0 on a CPU."""
    del device
    return _memory("memory_allocated")


def max_memory_allocated(device: object = None) -> int:
    """Return the most accelerator memory that tensors took, in bytes; 0 on a CPU."""
    del device
    return _memory("max_memory_allocated")


def memory_reserved(device: object = None) -> int:
    """Return the accelerator memory that MindSpore holds now, in bytes; 0 on a CPU."""
    del device
    return _memory("memory_reserved")


def max_memory_reserved(device: object = None) -> int:
    """Return the most accelerator memory that MindSpore held, in bytes; 0 on a CPU."""
    del device
    return _memory("max_memory_reserved")


_PLAIN = {bool: ms.bool_, int: ms.int64, float: ms.float64, complex: ms.complex128}


def to(value: Any, target: Any) -> Any:
    """Return a tensor cast to the dtype that ``target`` is or, being a tensor, has; the tensor itself for a device.

    Python's own types stand for int64, float64 and so on.
    """
    if isinstance(target, ms.Tensor):
        return value.astype(target.dtype)
    if isinstance(target, type):
        target = _PLAIN.get(target, target)
    return value if target is None or isinstance(target, (Device, str, int)) else value.astype(target)
