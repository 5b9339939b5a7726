"""One framework's side of benchmarks/huggingface.py: makes or loads tiny networks, and writes what they compute.

    python huggingface_worker.py torch|mindspore FOLDER [NAME ...]

The torch side writes, for each network, its folder (config.json, model.safetensors), its inputs and what it computes in
float32 and float64; the mindspore side reads folder and inputs and writes what mindone's network of that name computes.
"""

from __future__ import annotations

import json
import sys
import traceback
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))


def settings_of(entry: dict[str, Any], shared: dict[str, Any]) -> dict[str, Any]:
    """Return what the configuration of a network holds: no dropout, attention written out."""
    return {"num_labels": 3, **shared, **entry.get("settings", {})}


def made_inputs(entry: dict[str, Any], settings: dict[str, Any]) -> dict[str, np.ndarray]:
    """Return random inputs of the shapes that an entry names."""
    rng = np.random.default_rng(1)
    found = {}
    for name, text in entry["inputs"].items():
        kind, _, shape = text.partition(":")
        size = tuple(map(int, shape.split("x")))
        if kind == "ids":
            found[name] = rng.integers(3, settings["vocab_size"], size)
        elif kind == "labels":
            found[name] = rng.integers(0, 3, size)
        else:
            found[name] = np.ones(size, np.int64) if kind == "mask" else rng.standard_normal(size).astype(np.float32)
    return found


def weights_of(shape: tuple[int, ...]) -> np.ndarray:
    """Return the weights that make a number of an output."""
    return np.random.default_rng(2).standard_normal(shape).astype(np.float32)


def on_torch(entry: dict[str, Any], shared: dict[str, Any], folder: Path) -> None:
    """Make a network, and write what it computes."""
    import torch
    import transformers

    torch.set_default_dtype(torch.float32)
    torch.manual_seed(0)
    settings = settings_of(entry, shared)
    config = getattr(transformers, entry["config"])(**settings)
    config._attn_implementation = "eager"
    model = getattr(transformers, entry["name"])(config).eval()
    with torch.no_grad():  # initial values hide faults: zeros, ones, and weights that are too small to matter
        for value in model.parameters():
            value.add_(0.1 * torch.randn_like(value))
    model.save_pretrained(folder / "model")
    inputs = made_inputs(entry, settings)
    np.savez(folder / "inputs.npz", **inputs)
    for precision in (torch.float32, torch.float64):
        torch.set_default_dtype(precision)  # masks are made in it
        own = model.to(precision)
        own.zero_grad()
        given = {k: torch.tensor(v) for k, v in inputs.items()}
        given = {k: v.to(precision) if v.is_floating_point() else v for k, v in given.items()}
        outputs = own(**given, return_dict=True)
        parts = {k: v for k, v in outputs.items() if torch.is_tensor(v) and v.is_floating_point()}
        total = outputs["loss"] if "loss" in parts else next(iter(parts.values()))
        if total.ndim:
            total = (total * torch.tensor(weights_of(tuple(total.shape))).to(precision)).sum()
        total.backward()
        found = {f"out:{k}": v.detach().numpy() for k, v in parts.items()}
        found |= {f"grad:{k}": v.grad.numpy() for k, v in own.named_parameters() if v.grad is not None}
        np.savez(folder / f"torch-{str(precision)[-2:]}.npz", **found)


_LAST = {"gamma": "weight", "beta": "bias", "embedding_table": "weight"}  # what MindSpore's own layers call theirs


def _as_torch(path: str) -> str:
    head, dot, last = path.rpartition(".")
    return head + dot + _LAST.get(last, last)


def on_mindspore(entry: dict[str, Any], folder: Path) -> None:
    """Load a network, and write what it computes."""
    import mindone.transformers
    import mindspore as ms

    from torch2ms.mapping_tables.counterparts import counterparts as found_for
    from torch2ms.runtime.encoded import with_labels

    counterparts = found_for("transformers")
    assert counterparts is not None
    kind = getattr(mindone.transformers, entry["name"])
    model = kind.from_pretrained(str(folder / "model"), attn_implementation="eager")
    model.set_train(False)
    inputs = with_labels({k: ms.Tensor(v) for k, v in np.load(folder / "inputs.npz").items()})
    takes = not counterparts.refuses(f"transformers.{entry['name']}")

    def forward() -> Any:
        outputs = model(**inputs, **({"return_dict": True} if takes else {}))
        parts = {k: v for k, v in outputs.items() if isinstance(v, ms.Tensor) and v.is_floating_point()}
        total = outputs["loss"] if "loss" in parts else next(iter(parts.values()))
        if total.ndim:
            total = (total * ms.Tensor(weights_of(tuple(total.shape)))).sum()
        return total, parts

    forward()  # what fails under a gradient leaves PyNative unable to take another one
    paths = {id(parameter): _as_torch(path) for path, parameter in model.parameters_and_names()}
    names = [paths[id(parameter)] for parameter in model.trainable_params()]
    (_, parts), grads = ms.value_and_grad(forward, None, model.trainable_params(), has_aux=True)()
    found = {f"out:{k}": v.asnumpy() for k, v in parts.items()}
    found |= {f"grad:{k}": v.asnumpy() for k, v in zip(names, grads, strict=True)}
    np.savez(folder / "mindspore.npz", **found)
    from torch2ms.verify.workers import stand_ins

    (folder / "stand_ins.txt").write_text(" ".join(stand_ins.used()), encoding="utf-8")


def main() -> None:
    """Go through the networks; what fails leaves its reason."""
    framework, folder, *names = sys.argv[1:]
    listed = json.loads((Path(folder) / "models.json").read_text(encoding="utf-8"))
    if framework == "mindspore":
        from torch2ms.verify.workers import stand_ins

        stand_ins.install()
    for entry in listed["model"]:
        if names and entry["name"] not in names:
            continue
        own = Path(folder) / entry["name"]
        own.mkdir(exist_ok=True)
        (own / f"{framework}.txt").unlink(missing_ok=True)
        try:
            if framework == "torch":
                on_torch(entry, listed.get(entry.get("base", ""), {}), own)
            elif (own / "torch-64.npz").is_file():
                on_mindspore(entry, own)
        except Exception as error:
            lines = traceback.format_exc().splitlines()
            text = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
            (own / f"{framework}.txt").write_text(text + "\n" + "\n".join(lines), encoding="utf-8")
        print(entry["name"], "failed" if (own / f"{framework}.txt").exists() else "done", flush=True)
        if (own / f"{framework}.txt").exists() and framework == "mindspore":
            break  # after a gradient that failed, PyNative takes no other one: the rest is for another process


if __name__ == "__main__":
    main()
