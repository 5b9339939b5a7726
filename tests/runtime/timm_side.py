"""timm's own parts, from its unpacked source, on the cases of ``cases.json``; run in a process of its own.

python timm_side.py CORPUS FOLDER
"""

from __future__ import annotations

import importlib
import importlib.machinery
import json
import sys
import types
import warnings
from argparse import Namespace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn


class _Anything(types.ModuleType):
    """What timm imports of torchvision: nothing of it is used by the cases."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (nn.Module,), {})


class _Finder:
    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name.partition(".")[0] not in ("torchvision", "huggingface_hub", "safetensors"):
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: Any) -> types.ModuleType:
        return _Anything(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        module.__path__ = []


def scope(source: str) -> dict[str, Any]:
    """Return the names that the cases are written with; the packages' own ``__init__`` would import all networks."""
    sys.meta_path.insert(0, _Finder())
    for name in ("timm", "timm.models", "timm.data", "timm.utils"):
        package = types.ModuleType(name)
        package.__path__ = [f"{source}/{name.replace('.', '/')}"]
        sys.modules[name] = package
    vars(sys.modules["timm"])["__version__"] = "1"
    vars(sys.modules["timm.data"]).update(vars(importlib.import_module("timm.data.constants")))
    layers = importlib.import_module("timm.layers")
    vit = importlib.import_module("timm.models.vision_transformer")
    loss = importlib.import_module("timm.loss")
    scheduler = importlib.import_module("timm.scheduler")
    names: dict[str, Any] = {}
    grn = importlib.import_module("timm.layers.grn")
    for module in (grn, scheduler, loss, vit, layers):
        names.update({key: value for key, value in vars(module).items() if not key.startswith("_")})
    optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=0.4)
    return {**names, "nn": nn, "partial": partial, "Namespace": Namespace, "optimizer": optimizer}


def compare(case: dict[str, Any], names: dict[str, Any], folder: Path) -> None:
    """Write weights, inputs, outputs and gradients of one layer, in both precisions."""
    torch.manual_seed(0)
    network = eval(case["code"], dict(names))
    with torch.no_grad():
        for value in network.parameters():
            value += 0.1 * torch.randn_like(value)
    inputs = [torch.randn(*shape) for shape in case["shapes"]]
    if "classes" in case:
        inputs.append(torch.randint(case["classes"], (case["shapes"][0][0],)))
    found: dict[str, Any] = {f"in/{place}": one.numpy() for place, one in enumerate(inputs)}
    found.update({f"weights/{name}": value.numpy() for name, value in network.state_dict().items()})
    for tag, dtype in (("64", torch.float64), ("32", torch.float32)):
        given = [one.to(dtype) if one.is_floating_point() else one for one in inputs]
        given[0].requires_grad_()
        network.to(dtype).train(case.get("train", False)).zero_grad()
        out = network(*given)
        (out * torch.cos(torch.arange(out.numel()).view_as(out))).sum().backward()
        found[f"{tag}/out"] = out.detach().numpy()
        found[f"{tag}/grad/input"] = given[0].grad.numpy()
        for name, value in network.named_parameters():
            found[f"{tag}/grad/{name}"] = value.grad.numpy()
        given[0].grad = None
    np.savez(folder / f"{case['name']}.npz", **found)


def rates(code: str, names: dict[str, Any]) -> list[float]:
    """Return the rates of a schedule at the start and behind each step."""
    optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=0.4)
    schedule = eval(code, {**names, "optimizer": optimizer})
    found = [optimizer.param_groups[0]["lr"]]
    for epoch in range(25):
        schedule.step(epoch)
        schedule.step_update(3 * epoch)
        found.append(optimizer.param_groups[0]["lr"])
    return found


def mixed(options: dict[str, Any]) -> list[Any]:
    """Return what Mixup gives for three batches."""
    mixup = importlib.import_module("timm.data.mixup")
    np.random.seed(3)
    mix = mixup.Mixup(num_classes=5, **options)
    found = []
    for batch in range(3):
        x = torch.arange(4 * 3 * 8 * 8, dtype=torch.float32).view(4, 3, 8, 8) / 100 + batch
        images, targets = mix(x, torch.tensor([0, 3, 4, 1]))
        found.append([images.tolist(), targets.tolist()])
    return found


def average(code: str) -> list[Any]:
    """Return the averaged weights and buffers of a small network."""
    utils = importlib.import_module("timm.utils.model_ema")
    network = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    with torch.no_grad():
        for value in network.parameters():
            value.copy_(torch.arange(value.numel(), dtype=torch.float32).view_as(value))
    kept = getattr(utils, code)(network, decay=0.75)
    with torch.no_grad():
        for value in [*network.parameters(), network[1].running_mean]:
            value += 1
    kept.update(network)
    kept.update(network)
    inner = kept.ema if hasattr(kept, "ema") else kept.module
    return [value.tolist() for name, value in inner.state_dict().items() if "tracked" not in name]


def main() -> None:
    """Answer all cases."""
    warnings.simplefilter("ignore")
    folder = Path(sys.argv[2])
    names = scope(sys.argv[1])
    cases = json.loads((folder / "cases.json").read_text())
    for case in cases["layers"]:
        compare(case, names, folder)
    metrics = importlib.import_module("timm.utils.metrics")
    output = torch.tensor(np.sin(np.arange(48.0)).reshape(8, 6))
    plain = {
        "rates": {code: rates(code, names) for code in cases["rates"]},
        "mixed": [mixed(options) for options in cases["mixed"]],
        "average": {code: average(code) for code in cases["average"]},
        "plain": {code: eval(code, dict(names)) for code in cases["plain"]},
        "accuracy": [float(one) for one in metrics.accuracy(output, torch.tensor([0, 1, 2, 3, 4, 5, 0, 1]), (1, 3, 9))],
    }
    (folder / "plain.json").write_text(json.dumps(plain))


if __name__ == "__main__":
    main()
