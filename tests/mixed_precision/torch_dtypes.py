"""Write the type that autocast gives every operation in PyTorch: python torch_dtypes.py FOLDER OUT.json.

No accelerator is needed: tensors without memory, which say that they are on one, tell the types. A few operations ask
the device itself; those have None.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode


def dtype_of(function: Callable[[], Any]) -> str | None:
    """Return the name of a result's type; None where it cannot be computed here."""
    try:
        return str(function().dtype).rpartition(".")[2]
    except (RuntimeError, AssertionError, NotImplementedError):
        return None


def pretended(mode: FakeTensorMode, layers: dict[str, nn.Module]) -> dict[str, nn.Module]:
    """Return the layers, as if they were on an accelerator."""
    for part in [part for layer in layers.values() for part in layer.modules()]:
        for held in (part._parameters, part._buffers):
            held.update({name: moved(mode, tensor) for name, tensor in held.items() if tensor is not None})
        if isinstance(part, nn.RNNBase):
            part.flatten_parameters = lambda: None
            part._flat_weights = [getattr(part, name) for name in part._flat_weights_names]
    return layers


def moved(mode: FakeTensorMode, tensor: torch.Tensor) -> torch.Tensor:
    """Return a tensor that says it is on an accelerator."""
    return FakeTensor(mode, tensor.detach().to("meta"), torch.device("cuda:0"))


def main() -> None:
    """Compute everything twice: on the CPU, and where a GPU is pretended."""
    sys.path.insert(0, sys.argv[1])
    import operations

    found = {}
    with torch.autocast("cpu", dtype=torch.float16):
        made = operations.compute(operations.inputs(), operations.layers())
        found["cpu"] = {name: dtype_of(function) for name, function in made.items()}
    mode = FakeTensorMode()
    inputs = {name: moved(mode, tensor) for name, tensor in operations.inputs().items()}
    layers = pretended(mode, operations.layers())
    with mode:
        torch.set_autocast_enabled("cuda", True)
        torch.set_autocast_dtype("cuda", torch.float16)
        found["cuda"] = {name: dtype_of(function) for name, function in operations.compute(inputs, layers).items()}
    Path(sys.argv[2]).write_text(json.dumps(found))


if __name__ == "__main__":
    main()
