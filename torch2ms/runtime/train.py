"""Training and evaluation steps, compiled or not, and the state of a training run.

The train step and the eval step are two functions on purpose: a function compiled by ``ms.jit`` keeps the network's
``training`` flag of its first call.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, Iterable, Optional, Tuple

import mindspore as ms
from mindspore import amp as ms_amp
from mindspore import nn, ops

from . import amp, checkpoint, distributed, optim, schedules, seed
from .metrics import Average, Top

__all__ = ["TrainState", "build_eval_step", "build_train_step", "evaluate"]

TrainStep = Callable[[Any, Any], Tuple[ms.Tensor, ms.Tensor]]


def build_train_step(
    network: nn.Cell,
    loss_fn: Callable[..., ms.Tensor],
    optimizer: Any,
    jit: bool = False,
    reducer: Optional[Callable[..., Any]] = None,
    scaler: Any = None,
    clip_norm: Optional[float] = None,
) -> TrainStep:
    """Return ``step(data, label) -> (loss, logits)``, which moves the optimizer's parameters once.

    ``reducer`` averages gradients over ranks; ``scaler`` scales the loss (steps whose gradients overflow are left out);
    ``clip_norm`` bounds the gradients' norm. ``jit`` compiles the step: then call ``network.set_train()``
    before the first step, and not ``set_train(False)`` between steps.
    """

    def forward_fn(data: Any, label: Any) -> Tuple[ms.Tensor, ms.Tensor]:
        logits = network(data)
        loss = loss_fn(logits, label)
        if scaler is not None:
            loss = scaler.scale(loss)
        return loss, logits

    grad_fn = ms.value_and_grad(forward_fn, None, optimizer.parameters, has_aux=True)

    def train_step(data: Any, label: Any) -> Tuple[ms.Tensor, ms.Tensor]:
        (loss, logits), grads = grad_fn(data, label)
        if reducer is not None:
            grads = reducer(grads)
        if scaler is not None:
            loss = scaler.unscale(loss)
            grads = scaler.unscale(grads)
            is_finite = ms_amp.all_finite(grads)
            scaler.adjust(is_finite)
            if is_finite:
                if clip_norm is not None:
                    grads = ops.clip_by_global_norm(grads, clip_norm)
                optimizer(grads)
        else:
            if clip_norm is not None:
                grads = ops.clip_by_global_norm(grads, clip_norm)
            optimizer(grads)
        return loss, logits

    return ms.jit(train_step) if jit else train_step


def build_eval_step(network: nn.Cell, loss_fn: Callable[..., ms.Tensor], jit: bool = False) -> TrainStep:
    """Return ``step(data, label) -> (loss, logits)`` without gradients; call it with ``network.set_train(False)``."""

    def eval_step(data: Any, label: Any) -> Tuple[ms.Tensor, ms.Tensor]:
        logits = network(data)
        return loss_fn(logits, label), logits

    return ms.jit(eval_step) if jit else eval_step


def evaluate(network: nn.Cell, eval_step: TrainStep, batches: Iterable[Tuple[Any, Any]]) -> Dict[str, float]:
    """Return the mean loss and the top-1 accuracy over ``batches``, over all ranks.

    The network is in eval mode meanwhile; afterwards it is in the mode it was in.
    """
    was_training = bool(network.training)
    network.set_train(False)
    mean_loss, top = Average(), Top()
    for data, label in batches:
        loss, logits = eval_step(data, label)
        mean_loss.update(loss, len(label))
        top.update(logits, label)
    network.set_train(was_training)
    return {"eval_loss": mean_loss.compute(), "accuracy": top.compute()["top1"]}


class TrainState:
    """Everything a training run needs to go on exactly where it was: weights, moments, rates, random numbers, place.

    ``epoch`` and ``step`` say what comes next (step: within the epoch), ``total_steps`` how many steps were done,
    ``best`` the best metric so far.
    """

    def __init__(self, network: nn.Cell, optimizer: Any, scheduler: Any = None, scaler: Any = None) -> None:
        self.network, self.optimizer, self.scheduler, self.scaler = network, optimizer, scheduler, scaler
        self.epoch = self.step = self.total_steps = 0
        self.best = float("-inf")

    def improve(self, metric: float) -> bool:
        """Note a metric (larger is better); return whether it is the best so far."""
        if metric > self.best:
            self.best = metric
            return True
        return False

    def capture(self) -> Dict[str, Any]:
        """Return the state as :func:`.checkpoint.save` takes it."""
        return {
            "network": checkpoint.weights_of(self.network),
            "optimizer": optim.state_dict(self.optimizer),
            "scheduler": None if self.scheduler is None else schedules.state_dict(self.scheduler),
            "scaler": amp.scaler_state(self.scaler),
            "random": seed.get_rng_state(),
            "epoch": self.epoch,
            "step": self.step,
            "total_steps": self.total_steps,
            "best": self.best,
        }

    def restore(self, state: Dict[str, Any]) -> None:
        """Go back to a state of :meth:`capture`. Raises CheckpointError or ValueError where it does not fit."""
        checkpoint.load_weights(self.network, state["network"], "the checkpoint")
        optim.load_state_dict(self.optimizer, state["optimizer"])
        if self.scheduler is not None and state["scheduler"] is not None:
            schedules.load_state_dict(self.scheduler, state["scheduler"])
        amp.load_scaler_state(self.scaler, state["scaler"])
        seed.set_rng_state(state["random"])
        self.epoch, self.step = state["epoch"], state["step"]
        self.total_steps, self.best = state["total_steps"], state["best"]

    def resume(self, store: checkpoint.CheckpointStore) -> bool:
        """Go on from the newest readable checkpoint; return whether there was one."""
        found = store.load_latest()
        if found is None:
            return False
        path, state = found
        self.restore(state)
        if distributed.is_main_process():
            print(f"resumed from {path} (epoch {self.epoch + 1}, step {self.step})", flush=True)
        return True

    def save(self, store: checkpoint.CheckpointStore, is_best: bool = False) -> None:
        """Write a checkpoint (rank 0 does, the others wait)."""
        if distributed.is_main_process():
            store.save(self.capture(), self.total_steps, is_best)
        distributed.barrier()
