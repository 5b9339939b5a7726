"""Run examples with MindSpore, from the weights that PyTorch's side had."""

# Copied to another place to run, by a Python as old as 3.9: relative imports, no zip(strict=).
# ruff: noqa: TID252, B905

from __future__ import annotations

import importlib.util
import os
import sys
import tempfile
from collections.abc import Mapping
from functools import partial
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "2")
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX2")
os.environ.setdefault("GLOG_v", "3")

import mindspore
import numpy as np

from .framework import (
    Case,
    Framework,
    cotangent,
    fixed_gradients,
    fixed_loss,
    fixed_parameters,
    run_source,
    scope_of,
    use,
)

if DEVICE := os.environ.get("TORCH2MS_PROVE_DEVICE", ""):
    try:
        mindspore.set_device(DEVICE)
    except (RuntimeError, ValueError) as error:
        sys.exit(f"MindSpore does not compute on {DEVICE} here: {str(error).strip().splitlines()[0]}")
mindspore.set_context(mode=mindspore.PYNATIVE_MODE)
if hasattr(mindspore, "runtime") and hasattr(mindspore.runtime, "launch_blocking"):
    mindspore.runtime.launch_blocking()  # an error belongs to the example that caused it
_NAMES = ("float32", "bool_", "int32", "uint8", "complex64", "bfloat16")  # one of each class of dtypes
_DTYPES = tuple({type(getattr(mindspore, name)) for name in _NAMES if hasattr(mindspore, name)})


class MindSpore(Framework):
    """MindSpore."""

    name = "mindspore"

    def tensor(self, array: Any) -> Any:
        """Return a tensor that owns its memory."""
        return mindspore.Tensor(np.array(array))

    def bfloat16(self, array: Any) -> Any:
        """Return a tensor of bfloat16."""
        return self.tensor(array).astype(mindspore.bfloat16)

    def parameter(self, array: Any, name: str) -> Any:
        """Return a parameter."""
        return mindspore.Parameter(self.tensor(array), name=name)

    def is_tensor(self, value: Any) -> bool:
        """Whether a value is a tensor."""
        return isinstance(value, mindspore.Tensor)

    def is_layer(self, value: Any) -> bool:
        """Whether a value is a Cell."""
        return isinstance(value, mindspore.nn.Cell)

    def is_dtype(self, value: Any) -> bool:
        """Whether a value is a dtype."""
        return isinstance(value, _DTYPES)

    def array(self, value: Any) -> tuple[str, Any]:
        """Return dtype name and array; bfloat16 as float32."""
        dtype = str(value.dtype).lower()
        if dtype == "bfloat16":
            value = value.astype(mindspore.float32)
        return dtype, np.array(value.asnumpy())


FRAMEWORK = MindSpore()


def layers_of(scope: Mapping[str, Any], value: Any) -> dict[str, Any]:
    """Return the layers of an example by name; its value is called ``@``."""
    found = {name: item for name, item in scope.items() if FRAMEWORK.is_layer(item) and not name.startswith("__")}
    if FRAMEWORK.is_layer(value) and not any(item is value for item in found.values()):
        found["@"] = value
    return found


def execute(case: Case) -> dict[str, Any]:
    """Run one example; return its results in the names of PyTorch's side."""
    mindspore.set_context(mode=mindspore.PYNATIVE_MODE)  # an example before may have changed it
    mindspore.set_seed(0)
    if case["check"] in ("optimizer", "closure", "scheduler"):
        return {"value": optimise(case)}
    scope, inputs = scope_of(case, FRAMEWORK)
    problems: list[str] = []
    maps: dict[str, dict[str, str]] = {}
    for name, source in case["objects"].items():
        scope[name] = run_source(source["mindspore"], scope)
    prepare(layers_of(scope, None), case, problems, maps)
    kept = dict(scope)
    value = run_source(case["after"], dict(scope))
    layers = {name: layer for name, layer in layers_of(scope, value).items() if name == "@"}
    prepare(layers, case, problems, maps)
    layers = layers_of(kept, value)
    if case["graph"] == "only":
        return {"value": FRAMEWORK.plain(in_graph(case, value, layers))}

    def call(scope: dict[str, Any], inputs: list[Any]) -> Any:
        """Run the example on other tensors; its layer is made once only."""
        made = value if "@" in layers else run_source(case["after"], dict(scope))
        return use(made, case, inputs)

    if case["grad"]:
        answer = differentiate(case, call, kept, inputs, layers, maps)
    else:
        answer = {"value": FRAMEWORK.plain(use(value, case, inputs))}
    if case["graph"]:
        answer["graph"] = FRAMEWORK.plain(in_graph(case, value, layers))
    answer["problems"] = problems
    return answer


def prepare(layers: dict[str, Any], case: Case, problems: list[str], maps: dict[str, dict[str, str]]) -> None:
    """Set the mode of the layers and carry PyTorch's weights into them."""
    for name, layer in layers.items():
        layer.set_train(bool(case["train"]))
        state = case.get("state", {}).get(name)
        if state is not None and case["copy_weights"]:
            maps[name] = carry(layer, state, case["rules"], problems)


def carry(layer: Any, state: Mapping[str, Any], rules: Mapping[str, Any], problems: list[str]) -> dict[str, str]:
    """Copy weights by the runtime's own rules; return PyTorch's key and reshape of each parameter's path."""
    from torch2ms.runtime import weights

    keys = weights.key_map(layer, rules)
    problems += weights.match(keys, list(state))
    known = {}
    for entry in keys.entries:
        known[entry.mindspore] = f"{entry.torch}|{entry.reshape}"
        if entry.torch in state:
            array = weights.place(entry, state[entry.torch][1])
            if tuple(array.shape) != tuple(entry.tensor.shape):
                problems.append(f"{entry.torch}: shape {array.shape}, parameter {tuple(entry.tensor.shape)}")
                continue
            entry.tensor.set_data(mindspore.Tensor(array, dtype=entry.tensor.dtype))
    return known


def differentiate(
    case: Case,
    call: Any,
    scope: dict[str, Any],
    inputs: list[Any],
    layers: dict[str, Any],
    maps: dict[str, dict[str, str]],
) -> dict[str, Any]:
    """Return the value and the gradients of the weighted sum of all its outputs."""
    names = [name for name, item in scope.items() if is_float(item) and not isinstance(item, mindspore.Parameter)]
    places = [index for index, item in enumerate(inputs) if is_float(item)]
    weights = [
        (f"{prefix}:{path}", parameter)
        for prefix, layer in layers.items()
        for path, parameter in layer.parameters_and_names()
        if parameter.requires_grad
    ]
    weights += [(name, item) for name, item in scope.items() if isinstance(item, mindspore.Parameter)]
    kept: list[Any] = []

    def forward(*tensors: Any) -> Any:
        given = {**scope, **dict(zip(names, tensors))}
        fed = list(inputs)
        for index, tensor in zip(places, tensors[len(names) :]):
            fed[index] = tensor
        result = call(given, fed)
        kept.append(result)
        total = mindspore.Tensor(0.0, mindspore.float32)
        for index, tensor in enumerate(floats_in(result)):
            total = total + (tensor * mindspore.Tensor(cotangent(index, tuple(tensor.shape)), tensor.dtype)).sum()
        return total

    tensors = [scope[name] for name in names] + [inputs[index] for index in places]
    positions = tuple(range(len(tensors))) if tensors else None
    parameters = mindspore.ParameterTuple([parameter for _, parameter in weights]) if weights else None
    _, found = mindspore.value_and_grad(forward, positions, parameters)(*tensors)
    wanted = [*names, *(f"input_{index}" for index in places)]
    by_input, by_weight = found if tensors and weights else (found, ()) if tensors else ((), found)
    by_input = by_input if isinstance(by_input, (tuple, list)) else (by_input,)
    answer: dict[str, Any] = {"value": FRAMEWORK.plain(kept[0]), "gradients": {}}
    for name, gradient in zip(wanted, by_input):
        answer["gradients"][name] = ("tensor", *FRAMEWORK.array(gradient))
    for (name, _), gradient in zip(weights, by_weight):
        dtype, array = FRAMEWORK.array(gradient)
        answer["gradients"][name_in_torch(name, maps)] = ("tensor", dtype, restored(name, array, maps))
    return answer


def is_float(value: Any) -> bool:
    """Whether a value is a floating-point tensor."""
    return FRAMEWORK.is_tensor(value) and "float" in str(value.dtype).lower()


def floats_in(value: Any) -> list[Any]:
    """Return the floating-point tensors of a result, in order."""
    if is_float(value):
        return [value]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, (tuple, list)) else ()
    return [item for part in parts for item in floats_in(part)]


def name_in_torch(name: str, maps: dict[str, dict[str, str]]) -> str:
    """Return PyTorch's name of a parameter ``layer:path``."""
    prefix, colon, path = name.partition(":")
    if not colon:
        return name
    return f"{prefix}:{maps.get(prefix, {}).get(path, path + '|').partition('|')[0]}"


def restored(name: str, array: Any, maps: dict[str, dict[str, str]]) -> Any:
    """Return a gradient in the shape of PyTorch's parameter."""
    prefix, _, path = name.partition(":")
    reshape = maps.get(prefix, {}).get(path, "|").partition("|")[2]
    if not reshape:
        return array
    from torch2ms.runtime import weights

    return weights.RESHAPES[reshape][1](array)


def in_graph(case: Case, value: Any, layers: dict[str, Any]) -> Any:
    """Return the result of the example under ``mindspore.jit``."""
    scope, inputs = scope_of(case, FRAMEWORK)
    if "@" in layers or case["inputs"]:
        return mindspore.jit(value)(*inputs)
    names = [name for name in case["args"] if FRAMEWORK.is_tensor(scope[name])]
    lines = case["after"].strip().splitlines()
    body = "".join(f"    {line}\n" for line in lines[:-1])
    last = lines[-1]
    if "=" in last and last.split("=")[0].strip().isidentifier() and not last.split("=", 1)[1].startswith("="):
        body += f"    {last}\n    return {last.split('=')[0].strip()}\n"
    else:
        body += f"    return {last}\n"
    others = {name: item for name, item in scope.items() if name not in names}
    # The graph compiler reads source from a file.
    with tempfile.NamedTemporaryFile("w", suffix=".py", delete=False, dir=".", encoding="utf-8") as stream:
        stream.write(f"import mindspore\nimport torch2ms.runtime\n\n\ndef run({', '.join(names)}):\n{body}")
    name = f"graph_example_{len(sys.modules)}"
    spec = importlib.util.spec_from_file_location(name, stream.name)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)  # the compiler looks it up there
    spec.loader.exec_module(module)
    module.__dict__.update(others)
    return mindspore.jit(module.run)(*[scope[name] for name in names])


def _closure(parameters: list[Any]) -> tuple[float, tuple[Any, ...]]:
    """Return a fixed loss of the parameters and its gradients."""
    loss, gradients = fixed_loss([parameter.asnumpy() for parameter in parameters])
    return loss, tuple(FRAMEWORK.tensor(gradient) for gradient in gradients)


def optimise(case: Case) -> Any:
    """Take the steps of an optimizer's or a scheduler's example; return the course of parameters or learning rates."""
    scope, _ = scope_of(case, FRAMEWORK)
    parameters = [FRAMEWORK.parameter(array, f"p{index}") for index, array in enumerate(fixed_parameters())]
    scope["parameters"] = parameters
    if case["check"] == "scheduler":
        from mindspore.experimental import optim

        scope["optimizer"] = optim.SGD(parameters, lr=0.1)
    value = run_source(case["after"], scope)
    course: list[list[Any]] = []
    for step in range(case["steps"]):
        if case["check"] == "optimizer":
            value(tuple(FRAMEWORK.tensor(gradient) for gradient in fixed_gradients(step)))
            course.append([("tensor", *FRAMEWORK.array(parameter)) for parameter in parameters])
        elif case["check"] == "closure":
            value.step(partial(_closure, parameters))
            course.append([("tensor", *FRAMEWORK.array(parameter)) for parameter in parameters])
        else:
            value.step(*([1.0] if "Plateau" in type(value).__name__ else []))
            rate = scope["optimizer"].param_groups[0]["lr"]
            course.append([("value", float(rate.asnumpy()) if FRAMEWORK.is_tensor(rate) else float(rate))])
    return ("sequence", [("sequence", items) for items in course])
