"""Runs snippets of one framework for ``snippets.py``: FRAMEWORK JOBS RESULTS START SEED.

JOBS is a JSON list of texts; the outcome of each, from number START on, is appended to RESULTS.
"""

from __future__ import annotations

import contextlib
import faulthandler
import json
import linecache
import pickle
import signal
import sys
from typing import Any

import numpy as np

SECONDS = 20


def is_tensor(value: Any) -> bool:
    roots = {base.__module__.split(".")[0] for base in type(value).__mro__}
    return bool(roots & {"torch", "mindspore"}) and hasattr(value, "shape") and hasattr(value, "dtype")


def plain(value: Any) -> Any:
    """Return ``value`` as Python and numpy objects."""
    if is_tensor(value):
        value = value.detach() if hasattr(value, "detach") else value
        if "bfloat16" in str(value.dtype).lower():
            value = value.float()
        if hasattr(value, "resolve_conj"):
            value = value.resolve_conj().resolve_neg()
        return np.array(value.asnumpy() if hasattr(value, "asnumpy") else value.numpy())
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    if value is None or isinstance(value, bool | int | float | complex | str | np.ndarray):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if type(value).__name__ == "dtype" or any(base.__name__ == "Type" for base in type(value).__mro__):
        return f"dtype {str(value).removeprefix('torch.').lower().removesuffix('_')}"
    raise TypeError(f"a result of type {type(value)}")


def numbers(size: int, index: int) -> Any:
    return (np.cos(np.arange(size) * 1.7 + index) * 0.4).astype(np.float32)


def fill(module: Any) -> Any:
    """Give every trained parameter numbers that depend on its place and size alone, and return the module."""
    if hasattr(module, "trainable_params"):
        import mindspore

        for index, parameter in enumerate(sorted(module.trainable_params(), key=_order(module))):
            shape = parameter.shape
            parameter.set_data(mindspore.Tensor(numbers(int(np.prod(shape)), index).reshape(shape)))
        return module
    import torch

    for index, parameter in enumerate(module.parameters()):
        parameter.data = torch.from_numpy(numbers(parameter.numel(), index).reshape(parameter.shape))
    return module


def _order(module: Any) -> Any:
    """Return a key that puts the weights of a recurrent layer in torch's order: by layer, then direction, then kind."""
    kinds = ("weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr", "weight", "bias")
    places = {id(parameter): index for index, parameter in enumerate(module.trainable_params())}
    first: dict[str, int] = {}

    def key(parameter: Any) -> tuple[Any, ...]:
        prefix, _, last = parameter.name.rpartition(".")
        start = first.setdefault(prefix, places[id(parameter)])
        kind, _, layer = last.rpartition("_l")
        return (start, layer, kinds.index(kind), 0) if kind in kinds else (start, "", 0, places[id(parameter)])

    for parameter in module.trainable_params():
        key(parameter)
    return key


def stop(number: int, frame: object) -> None:
    raise TimeoutError(f"took longer than {SECONDS} s")


def run(text: str, number: int, seed: int) -> Any:
    """Return the outcome of one text."""
    name = f"<snippet {number}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    scope: dict[str, Any] = {"__name__": f"snippet_{number}", "fill": fill}
    start_afresh(seed)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    faulthandler.dump_traceback_later(3 * SECONDS, exit=True)  # a kernel that never returns hears no signal
    try:
        exec(compile(text, name, "exec"), scope)
        return "value", plain(scope["out"])
    except BaseException as error:
        return "error", f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        _settle()
        faulthandler.cancel_dump_traceback_later()


def _settle() -> None:
    """Wait for kernels that still run, so that their errors do not surface in the next snippet."""
    mindspore = sys.modules.get("mindspore")
    if mindspore is not None:
        with contextlib.suppress(Exception):
            mindspore.runtime.synchronize()


def start_afresh(seed: int) -> None:
    """Seed every source of random numbers, and take back the defaults that an earlier snippet set."""
    np.random.seed(seed)
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.set_default_device(None)
        torch.set_default_dtype(torch.float32)
        torch.set_grad_enabled(True)
        torch.use_deterministic_algorithms(False)
        torch.manual_seed(seed)
    if "mindspore" in sys.modules:
        sys.modules["mindspore"].set_seed(seed)
        _forget_gradients()


def _forget_gradients() -> None:
    # Recording lasts as long as the process, and after an error inside of a gradient function MindSpore 2.10 refuses
    # every index that is a number: each snippet starts as in a process of its own.
    from mindspore.common.api import _pynative_executor

    if sys.modules.pop("torch2ms_runtime.recording", None) is not None:
        del sys.modules["torch2ms_runtime"].recording
    _pynative_executor.set_grad_flag(False)
    _pynative_executor.clear_res()


def main() -> None:
    framework, jobs, results, start, seed = sys.argv[1:]
    __import__(framework)
    if framework == "mindspore":
        sys.modules["torch"] = None  # type: ignore[assignment]  # what the translation left fails, as where there is none
        __import__("torch2ms_runtime")
    signal.signal(signal.SIGALRM, stop)
    with open(jobs, encoding="utf-8") as stream:
        texts = json.load(stream)
    with open(results, "ab", buffering=0) as stream:
        for number in range(int(start), len(texts)):
            stream.write(pickle.dumps(run(texts[number], number, int(seed))))


if __name__ == "__main__":
    main()
