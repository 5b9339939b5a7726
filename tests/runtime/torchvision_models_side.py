"""Torchvision's own networks, from its unpacked source, on the cases it is asked for; run in a process of its own.

python torchvision_models_side.py SOURCE FOLDER

Each line of the input asks for one case, ``{"compare": CASE}``, or for networks, ``{"build": [NAME, ...]}``. When the
line of the answer comes, which is empty or says why there is nothing, what was asked for lies in the folder.

For a case and each seed: weights, an input, and from them the outputs, gradients and statistics, in both precisions. Of
networks that are only built: what they are made of.
"""

from __future__ import annotations

import copy
import functools
import importlib
import json
import sys
import traceback
import types
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

SEEDS = (0, 1, 2)


def load(source: str) -> Any:
    """Return torchvision's models; the package's ``__init__`` loads compiled operators that no build here has."""
    package = types.ModuleType("torchvision")
    package.__path__ = [source]
    sys.modules["torchvision"] = package
    return importlib.import_module("torchvision.models")


def scope_of(family: str) -> dict[str, Any]:
    """Return the names of one of its files."""
    shared = ("models.resnet", "models._utils")
    names = {
        key: value
        for one in (*shared, family)
        for key, value in vars(importlib.import_module(f"torchvision.{one}")).items()
    }
    return {**names, "partial": functools.partial}


def without_chance(network: nn.Module) -> nn.Module:
    """Turn dropout off."""
    for part in network.modules():
        if type(part).__name__ in ("Dropout", "StochasticDepth"):
            part.p = 0.0
        if isinstance(getattr(part, "drop_rate", None), float):
            part.drop_rate = 0.0
    return network


def stir(network: nn.Module) -> None:
    """Move what begins as a constant, so that each weight and statistic counts."""
    with torch.no_grad():
        for value in network.parameters():
            if value.ndim < 2 or value.std() == 0 or value.shape[1:].numel() == 1:
                value += 0.1 * torch.randn_like(value)
        for name, value in network.named_buffers():
            if name.endswith("running_mean"):
                value += 0.1 * torch.randn_like(value)
            elif name.endswith("running_var"):
                value *= 0.5 + torch.rand_like(value)


def outputs(value: Any) -> list[torch.Tensor]:
    """Return the tensors of a result."""
    if isinstance(value, torch.Tensor):
        return [value]
    return [part for one in (value.values() if isinstance(value, dict) else value) for part in outputs(one)]


def run(network: nn.Module, x: torch.Tensor, train: bool, tag: str, found: dict[str, Any]) -> None:
    """Add outputs, gradients and statistics under a tag."""
    network = network.train(train)
    network.zero_grad()
    results = outputs(network(x))
    sum((one * torch.cos(torch.arange(one.numel()).view_as(one))).sum() for one in results).backward()
    found.update({f"{tag}/out/{index}": one.detach().numpy() for index, one in enumerate(results)})
    for name, value in network.named_parameters():
        found[f"{tag}/grad/{name}"] = np.zeros(value.shape) if value.grad is None else value.grad.numpy()
    if train:
        found.update(
            {f"{tag}/state/{name}": value.numpy() for name, value in network.named_buffers() if "running" in name}
        )


def compare(case: dict[str, Any], folder: Path) -> None:
    """Write what one case gives for each seed."""
    for seed in SEEDS:
        torch.manual_seed(seed)
        network = without_chance(eval(case["code"], scope_of(case["family"])))
        stir(network)
        state = copy.deepcopy(network.state_dict())  # with the version in it, which MNASNet asks for
        x = torch.randn(case["shape"])
        found: dict[str, Any] = {"x": x.numpy(), **{f"weights/{name}": one.numpy() for name, one in state.items()}}
        for train in case["modes"]:
            for tag, dtype in (("64", torch.float64), ("32", torch.float32)):
                network.load_state_dict(state)
                run(network.to(dtype), x.to(dtype), train, f"{'train' if train else 'eval'}{tag}", found)
                network.float()
        np.savez(folder / f"{case['name']}.{seed}.npz", **found)


def parts(network: nn.Module) -> dict[str, Any]:
    """Return what a network is made of: shapes by key, children in order, settings of layers."""
    settings: dict[str, list[float]] = {}
    for path, part in network.named_modules():
        if type(part).__name__ in ("Dropout", "StochasticDepth"):
            settings[path] = [part.p]
        elif isinstance(part, nn.BatchNorm2d):
            settings[path] = [part.eps, part.momentum]
        elif isinstance(part, nn.LayerNorm):
            settings[path] = [part.eps]
    return {
        "shapes": {name: list(value.shape) for name, value in network.state_dict().items()},
        # MindSpore counts no containers of nothing among the parts
        "children": [
            path for path, part in network.named_modules() if not isinstance(part, nn.Sequential) or len(part)
        ],
        "settings": settings,
    }


def _is_empty(part: nn.Module) -> bool:
    return isinstance(part, nn.Sequential) and not len(part)


def build(names: list[str], models: Any, folder: Path) -> None:
    """Write what networks are made of."""
    built = {}
    for name in names:
        # RegNet's widths are computed by tensors, of which meta has no values
        with torch.device("cpu" if name.startswith("regnet") else "meta"):
            options = {"weights_backbone": None} if name.startswith(("fcn", "deeplab", "lraspp")) else {}
            built[name] = parts(models.get_model(name, weights=None, **options))
    (folder / "built.json").write_text(json.dumps(built))


def main() -> None:
    """Answer every line."""
    warnings.simplefilter("ignore")
    folder, models = Path(sys.argv[2]), load(sys.argv[1])
    for line in sys.stdin:
        asked, fault = json.loads(line), ""
        try:
            compare(asked["compare"], folder) if "compare" in asked else build(asked["build"], models, folder)
        except Exception:
            fault = traceback.format_exc()
        print(json.dumps(fault), flush=True)


if __name__ == "__main__":
    main()
