"""The PyTorch side of a rehearsal: the recorded run in float32, the reference in float64, and the twins."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Dict, List, Set, Tuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional
from torch.optim import optimizer as torch_optimizer
from torch.utils import data

from . import norm_gradients
from .channel import load_arrays, save_arrays
from .rehearsal import Rehearsal, Stream, find_networks, put_stubs, read_job

__all__ = ["main"]

_TWIN = 1e-7  # relative size of the twin's perturbation (docs/parity.md)
_SKIP = ("/torch/", "/verify/workers/")


class TorchRehearsal(Rehearsal):
    """A run of the source."""

    def __init__(self, job: Dict[str, Any]) -> None:
        super().__init__(job)
        torch.manual_seed(job["seed"])
        if job["double"]:
            torch.set_default_dtype(torch.float64)
        self.depth = 0

    def tensor(self, array: NDArray[Any]) -> Any:
        """Return an array as a tensor; floating point ones in the run's precision."""
        value = torch.from_numpy(np.array(array))
        return value.to(torch.get_default_dtype()) if value.is_floating_point() else value

    def arrays(self) -> Dict[str, NDArray[Any]]:
        """Return the state dictionaries of all networks."""
        return {
            f"{name}:{key}": value.detach().numpy().copy()
            for name, net in self.networks.items()
            for key, value in net.state_dict().items()
        }

    def names(self) -> Dict[int, str]:
        """Return the name of each parameter by its id; a shared one has its first."""
        found: Dict[int, str] = {}
        for name, net in self.networks.items():
            for key, parameter in net.named_parameters():
                found.setdefault(id(parameter), f"{name}:{key}")
        return found

    def load_state(self, name: str, optimizer: Any = None) -> None:
        """Take over the recorded run's state, in this run's precision."""
        arrays = load_arrays(str(Path(self.job["states"]) / f"{name}.npz"))
        moved = self.moved_by(optimizer)
        with torch.no_grad():
            for own in moved:
                for key, value in self.networks[own].state_dict().items():
                    if f"{own}:{key}" in arrays:
                        value.copy_(torch.from_numpy(arrays[f"{own}:{key}"]))
            if optimizer is not None:
                names = self.names()
                for parameter, state in optimizer.state.items():
                    for key, value in state.items():
                        array = arrays.get(f"optimizer:{key}:{names.get(id(parameter))}")
                        if array is not None and torch.is_tensor(value):
                            value.copy_(torch.from_numpy(array))
        self.perturb(moved, self.steps)

    def moved_by(self, optimizer: Any) -> List[str]:
        """Return the networks that an optimizer trains; the graph of another one may be waiting for its backward."""
        own = {id(parameter) for group in getattr(optimizer, "param_groups", []) for parameter in group["params"]}
        return [
            name
            for name, net in self.networks.items()
            if not own or any(id(parameter) in own for parameter in net.parameters())
        ]

    def perturb(self, names: List[str], step: int) -> None:
        """Move the weights of a twin."""
        if not self.job["perturb"]:
            return
        generator = torch.Generator().manual_seed(1000 * self.job["perturb"] + step)
        with torch.no_grad():
            for name in names:
                for parameter in self.networks[name].parameters():
                    parameter.mul_(1 + _TWIN * torch.randn(parameter.shape, generator=generator))

    def start(self, names: List[str]) -> None:
        """Write the first weights in the recorded run, read them in the others; no recurrent layer drops anything."""
        for name in names:
            for module in self.networks[name].modules():
                if isinstance(module, torch.nn.RNNBase):
                    module.dropout = 0.0
        if not self.job["recorded"]:
            for name in names:
                self.load_state(f"start-{name}")
            return
        for name in names:
            own = {key: array for key, array in self.arrays().items() if key.startswith(f"{name}:")}
            save_arrays(str(Path(self.job["states"]) / f"start-{name}.npz"), own)

    def after_step(self, optimizer: Any) -> None:
        """Write the state after the step in the recorded run."""
        if not self.job["recorded"]:
            super().after_step(optimizer)
            return
        arrays = self.arrays()
        names = self.names()
        for parameter, state in getattr(optimizer, "state", {}).items():
            for key, value in state.items():
                if torch.is_tensor(value) and id(parameter) in names:
                    arrays[f"optimizer:{key}:{names[id(parameter)]}"] = value.detach().numpy()
        arrays["class"] = np.array(type(optimizer).__name__)
        save_arrays(str(Path(self.job["states"]) / f"after-{self.steps}.npz"), arrays)

    def patch(self) -> None:
        """Give batches and random numbers, write no files, and listen."""
        torch.save = lambda *_, **__: None
        data.DataLoader = data.dataloader.DataLoader = Stream(self.job["arrays"], self.tensor).loader
        _no_dropout()
        self._patch_random()
        self._listen()

    def _patch_random(self) -> None:
        def shape_of(size: Tuple[Any, ...]) -> Tuple[int, ...]:
            return tuple(size[0]) if len(size) == 1 and not isinstance(size[0], int) else tuple(size)

        def integers(low: int, high: Any = None, size: Any = None, **_: Any) -> Any:
            if size is None:
                low, high, size = 0, low, high
            return self.tensor(self.draws.integers(low, high, tuple(size)))

        torch.randn = lambda *size, **_: self.tensor(self.draws.normal(shape_of(size)))
        torch.rand = lambda *size, **_: self.tensor(self.draws.uniform(shape_of(size)))
        torch.randn_like = lambda value, **_: self.tensor(self.draws.normal(tuple(value.shape)))
        torch.rand_like = lambda value, **_: self.tensor(self.draws.uniform(tuple(value.shape)))
        torch.randperm = lambda count, **_: self.tensor(self.draws.permutation(count))
        torch.randint = integers

    def _listen(self) -> None:
        init, call, backward = torch.optim.Optimizer.__init__, torch.nn.Module.__call__, torch.Tensor.backward

        def initialize(optimizer: Any, *args: Any, **kwargs: Any) -> None:
            init(optimizer, *args, **kwargs)
            self.optimizers.append(optimizer)
            own = {id(parameter) for group in optimizer.param_groups for parameter in group["params"]}
            self.adopt(self._find(own))

        def forward(net: Any, *args: Any, **kwargs: Any) -> Any:
            if self.depth == 0:
                if not self.optimizers and torch.is_grad_enabled():
                    self.adopt(self._find({id(parameter) for parameter in net.parameters()}))
                self.begin_forward()
            self.depth += 1
            try:
                return call(net, *args, **kwargs)
            finally:
                self.depth -= 1

        def go_back(tensor: Any, *args: Any, **kwargs: Any) -> None:
            self.note_loss(float(tensor.detach()))
            backward(tensor, *args, **kwargs)
            if not self.optimizers:
                self.gradients([parameter for net in self.networks.values() for parameter in net.parameters()])

        torch.optim.Optimizer.__init__ = initialize
        torch.nn.Module.__call__ = forward
        torch.Tensor.backward = go_back
        torch_optimizer.register_optimizer_step_pre_hook(
            lambda optimizer, *_: self.gradients([p for group in optimizer.param_groups for p in group["params"]])
        )
        torch_optimizer.register_optimizer_step_post_hook(lambda optimizer, *_: self.end_step(optimizer))

    def _find(self, own: Set[int]) -> Dict[str, Any]:
        def wanted(net: Any) -> Set[int]:
            return own & {id(parameter) for parameter in net.parameters()}

        return find_networks(sys._getframe(2), _SKIP, torch.nn.Module, wanted)

    def gradients(self, parameters: List[Any]) -> None:
        """Record the parameters' gradients."""
        names = self.names()
        self.note_gradients(
            {
                names[id(parameter)]: parameter.grad.detach().numpy()
                for parameter in parameters
                if id(parameter) in names and parameter.grad is not None
            }
        )


def _no_dropout() -> None:
    for name in ("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout"):
        setattr(functional, name, lambda input, *_, **__: input)
    torch.dropout = lambda input, *_, **__: input
    attention = functional.scaled_dot_product_attention

    def attend(
        query: Any, key: Any, value: Any, mask: Any = None, dropout_p: float = 0.0, *rest: Any, **kw: Any
    ) -> Any:
        kw.pop("attn_mask", None) if mask is not None else None
        return attention(query, key, value, kw.pop("attn_mask", mask), 0.0, *rest, **kw)

    setattr(functional, "scaled_dot_product_attention", attend)  # noqa: B010 - mypy knows the signature


def main(path: str) -> None:
    """Run the job in the file ``path``."""
    norm_gradients.repair()
    job = read_job(path)
    put_stubs(job["stubs"])
    rehearsal = TorchRehearsal(job)
    rehearsal.patch()
    rehearsal.run()
