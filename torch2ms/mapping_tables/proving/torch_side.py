"""Run examples with PyTorch: the reference."""

# Copied to another place to run, by a Python as old as 3.9: relative imports, no zip(strict=).
# ruff: noqa: TID252, B905

from __future__ import annotations

import os
from functools import partial
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "2")

import numpy as np
import torch

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

torch.set_num_threads(2)


class Torch(Framework):
    """PyTorch."""

    name = "torch"

    def tensor(self, array: Any) -> Any:
        """Return a tensor that owns its memory."""
        return torch.tensor(np.array(array))  # from_numpy: numpy's strides of what is empty

    def bfloat16(self, array: Any) -> Any:
        """Return a tensor of bfloat16."""
        return self.tensor(array).to(torch.bfloat16)

    def parameter(self, array: Any, name: str) -> Any:
        """Return a parameter."""
        return torch.nn.Parameter(self.tensor(array))

    def is_tensor(self, value: Any) -> bool:
        """Whether a value is a tensor."""
        return isinstance(value, torch.Tensor)

    def is_layer(self, value: Any) -> bool:
        """Whether a value is a Module."""
        return isinstance(value, torch.nn.Module)

    def is_dtype(self, value: Any) -> bool:
        """Whether a value is a dtype."""
        return isinstance(value, torch.dtype)

    def array(self, value: Any) -> tuple[str, Any]:
        """Return dtype name and array; bfloat16 as float32."""
        dtype = str(value.dtype).split(".")[-1]
        value = value.detach()
        if value.layout is not torch.strided:
            value = value.to_dense()
        return dtype, (value.float() if value.dtype == torch.bfloat16 else value).cpu().resolve_conj().numpy().copy()


FRAMEWORK = Torch()


def unusual(module: torch.nn.Module, seed: int) -> None:
    """Give a layer's weights values that its initialisation does not: ones and zeros would hide a wrong mapping."""
    random = np.random.RandomState(seed)
    for tensor in [*module.parameters(), *module.buffers()]:
        if not tensor.is_floating_point():
            continue
        if tensor.dim() <= 1:
            values = random.random_sample(tuple(tensor.shape)) + 0.5  # positive: a variance may be among them
        else:
            values = random.standard_normal(tuple(tensor.shape)) * 0.3
        with torch.no_grad():
            tensor.copy_(torch.from_numpy(np.asarray(values, np.float32)).to(tensor.dtype))


def layers_of(scope: dict[str, Any], value: Any) -> dict[str, torch.nn.Module]:
    """Return the layers of an example by name; its value is called ``@``."""
    found = {name: item for name, item in scope.items() if FRAMEWORK.is_layer(item) and not name.startswith("__")}
    if FRAMEWORK.is_layer(value) and not any(item is value for item in found.values()):
        found["@"] = value
    return found


def execute(case: Case) -> dict[str, Any]:
    """Run one example; return its results, and what the other side needs of it."""
    torch.set_default_dtype(torch.float32)  # an example before may have changed what the process starts with
    torch.set_grad_enabled(True)
    torch.set_float32_matmul_precision("highest")
    torch.manual_seed(case.get("seed", 0))
    np.random.seed(0)
    if case["check"] in ("optimizer", "closure", "scheduler"):
        return {"value": optimise(case)}
    scope, inputs = scope_of(case, FRAMEWORK)
    leaves: dict[str, Any] = {}
    if case["grad"]:
        scope, inputs = with_gradients(scope, inputs, leaves)
    for name, source in case["objects"].items():
        scope[name] = run_source(source["torch"], scope)
    prepare(layers_of(scope, None), case)
    value = run_source(case["before"], scope)
    layers = layers_of(scope, value)
    prepare({name: layer for name, layer in layers.items() if name == "@"}, case)
    state = {
        name: {key: FRAMEWORK.array(tensor) for key, tensor in layer.state_dict().items()}
        for name, layer in layers.items()
    }
    result = use(value, case, inputs)
    answer = {"value": FRAMEWORK.plain(result), "state": state}
    if case["grad"]:
        answer["gradients"] = gradients(result, leaves, layers)
    return answer


def prepare(layers: dict[str, torch.nn.Module], case: Case) -> None:
    """Set the mode, and the weights unless the example wants the initial ones."""
    for index, layer in enumerate(layers.values()):
        layer.train(bool(case["train"]))
        if case["copy_weights"]:
            unusual(layer, index)


def with_gradients(
    scope: dict[str, Any], inputs: list[Any], leaves: dict[str, Any]
) -> tuple[dict[str, Any], list[Any]]:
    """Return the variables and inputs with their floating-point tensors made to collect gradients.

    A copy is handed to the example: it may change its tensors in place, which a leaf does not allow.
    """

    def leaf(name: str, tensor: Any) -> Any:
        if not (FRAMEWORK.is_tensor(tensor) and tensor.is_floating_point()):
            return tensor
        if isinstance(tensor, torch.nn.Parameter):
            leaves[name] = tensor
            return tensor
        leaves[name] = tensor.requires_grad_(True)
        return tensor.clone()

    made = {name: leaf(name, tensor) for name, tensor in scope.items()}
    return made, [leaf(f"input_{index}", tensor) for index, tensor in enumerate(inputs)]


def gradients(result: Any, leaves: dict[str, Any], layers: dict[str, torch.nn.Module]) -> dict[str, Any]:
    """Return the gradients of the weighted sum of all outputs, by name of the leaf."""
    loss = torch.zeros(())
    for index, tensor in enumerate(FRAMEWORK.tensors_in(result)):
        if tensor.requires_grad:
            weights = torch.from_numpy(cotangent(index, tuple(tensor.shape))).to(tensor.dtype)
            loss = loss + (tensor * weights).sum()
    loss.backward()
    found = {}
    for name, leaf in leaves.items():
        found[name] = ("tensor", *FRAMEWORK.array(torch.zeros_like(leaf) if leaf.grad is None else leaf.grad))
    for prefix, layer in layers.items():
        for key, tensor in layer.named_parameters():
            if tensor.requires_grad:
                gradient = torch.zeros_like(tensor) if tensor.grad is None else tensor.grad
                found[f"{prefix}:{key}"] = ("tensor", *FRAMEWORK.array(gradient))
    return found


def _closure(parameters: list[Any]) -> float:
    """Put the gradients of a fixed loss into the parameters and return the loss."""
    loss, gradients = fixed_loss([parameter.detach().numpy() for parameter in parameters])
    for parameter, gradient in zip(parameters, gradients):
        parameter.grad = FRAMEWORK.tensor(gradient)
    return loss


def optimise(case: Case) -> Any:
    """Take the steps of an optimizer's or a scheduler's example; return the course of parameters or learning rates."""
    scope, _ = scope_of(case, FRAMEWORK)
    parameters = [torch.nn.Parameter(FRAMEWORK.tensor(array)) for array in fixed_parameters()]
    scope["parameters"] = parameters
    scope["optimizer"] = torch.optim.SGD(parameters, lr=0.1)
    value = run_source(case["before"], scope)
    course: list[list[Any]] = []
    for step in range(case["steps"]):
        if case["check"] == "optimizer":
            for parameter, gradient in zip(parameters, fixed_gradients(step)):
                parameter.grad = FRAMEWORK.tensor(gradient)
            value.step()
            course.append([("tensor", *FRAMEWORK.array(parameter)) for parameter in parameters])
        elif case["check"] == "closure":
            value.step(partial(_closure, parameters))
            course.append([("tensor", *FRAMEWORK.array(parameter)) for parameter in parameters])
        else:
            scope["optimizer"].step()
            value.step(*([1.0] if "Plateau" in type(value).__name__ else []))
            course.append([("value", float(scope["optimizer"].param_groups[0]["lr"]))])
    return ("sequence", [("sequence", items) for items in course])
