"""A trainer in the shape of MindSpore's guides: several losses, a metric, the best checkpoint, a gradient reducer.

trainer = Trainer(network, {"class": SparseCrossEntropy(0.1), "size": (nn.MSELoss(), 0.5)}, optimizer,
                  metric=Top(), store=CheckpointStore("checkpoints"), watch="top1")
trainer.fit(lambda epoch: pipeline.batches(epoch), epochs=10, evaluate_on=lambda epoch: test.batches(epoch))
"""

from __future__ import annotations

from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Tuple, Union

import mindspore as ms
from mindspore import amp as ms_amp
from mindspore import nn, ops

from . import checkpoint, distributed
from .metrics import Average
from .train import TrainState

__all__ = ["Trainer"]

Loss = Callable[[Any, Any], ms.Tensor]  # of the network's outputs and the labels
Batches = Callable[[int], Iterable[Tuple[Any, Any]]]  # the batches (data, labels) of an epoch


class Trainer:
    """Trains a network on the weighted sum of its losses and keeps the best checkpoint.

    ``losses``: functions of (outputs, labels) by name, each alone or with its weight. ``metric``: an object with
    ``clear()``, ``update(outputs, labels)`` and ``compute()`` to figures by name. ``watch``: the figure that the best
    checkpoint is chosen by, ``"loss"`` or one of the metric's; a loss is best when it is smallest.
    ``reducer`` averages gradients over ranks (default: what the number of processes asks for), ``scaler`` scales the
    loss (:func:`.amp.create_loss_scaler`), ``clip_norm`` bounds the gradients' norm. The scheduler steps once an epoch.
    """

    def __init__(
        self,
        network: nn.Cell,
        losses: Mapping[str, Union[Loss, Tuple[Loss, float]]],
        optimizer: Any,
        *,
        metric: Any = None,
        scheduler: Any = None,
        scaler: Any = None,
        reducer: Optional[Callable[..., Any]] = None,
        clip_norm: Optional[float] = None,
        store: Optional[checkpoint.CheckpointStore] = None,
        watch: str = "loss",
    ) -> None:
        if not losses:
            raise ValueError("a trainer needs a loss")
        parts = {name: part if isinstance(part, tuple) else (part, 1.0) for name, part in losses.items()}
        self.losses: Dict[str, Tuple[Loss, float]] = parts
        self.network, self.optimizer, self.metric, self.scaler = network, optimizer, metric, scaler
        self.reducer = reducer if reducer is not None else distributed.gradient_reducer(optimizer.parameters)
        self.clip_norm, self.store, self.watch = clip_norm, store, watch
        self.state = TrainState(network, optimizer, scheduler, scaler)
        self._grad_fn = ms.value_and_grad(self._forward, None, optimizer.parameters, has_aux=True)

    def _forward(self, data: Any, labels: Any) -> Tuple[ms.Tensor, Tuple[ms.Tensor, ...], Any]:
        outputs = self.network(data)
        values = tuple(loss(outputs, labels) for loss, _ in self.losses.values())
        total = sum(value * weight for value, (_, weight) in zip(values, self.losses.values()))
        return (total if self.scaler is None else self.scaler.scale(total)), values, outputs

    def step(self, data: Any, labels: Any) -> Dict[str, ms.Tensor]:
        """Move the weights once; return the losses by name, and their weighted sum as ``"loss"``.

        With a scaler, a step whose gradients overflow is left out.
        """
        (total, values, _), grads = self._grad_fn(data, labels)
        if self.reducer is not None:
            grads = self.reducer(grads)
        finite = True
        if self.scaler is not None:
            total, grads = self.scaler.unscale(total), self.scaler.unscale(grads)
            finite = bool(ms_amp.all_finite(grads))
            self.scaler.adjust(ms.Tensor(finite))
        if finite:
            if self.clip_norm is not None:
                grads = ops.clip_by_global_norm(grads, self.clip_norm)
            self.optimizer(grads)
        self.state.total_steps += 1
        return {"loss": total, **dict(zip(self.losses, values))}

    def evaluate(self, batches: Iterable[Tuple[Any, Any]]) -> Dict[str, float]:
        """Return the mean losses and the metric's figures over ``batches`` and all ranks, in eval mode."""
        was_training = bool(self.network.training)
        self.network.set_train(False)
        means = {name: Average() for name in ("loss", *self.losses)}
        if self.metric is not None:
            self.metric.clear()
        for data, labels in batches:
            outputs = self.network(data)
            values = {name: loss(outputs, labels) for name, (loss, _) in self.losses.items()}
            values["loss"] = sum(values[name] * weight for name, (_, weight) in self.losses.items())
            for name, value in values.items():
                means[name].update(value, len(data))
            if self.metric is not None:
                self.metric.update(outputs, labels)
        self.network.set_train(was_training)
        return {**{name: mean.compute() for name, mean in means.items()},
                **(self.metric.compute() if self.metric is not None else {})}  # fmt: skip

    def fit(self, batches: Batches, epochs: int, evaluate_on: Optional[Batches] = None) -> List[Dict[str, float]]:
        """Train until ``epochs`` epochs are done and return the figures of each: losses, and ``eval_...`` figures.

        Goes on from the newest checkpoint of ``store`` where there is one; after every epoch one is written, and the
        best is kept aside. Raises ValueError where a figure of the metric is watched, but nothing is evaluated.
        """
        if evaluate_on is None and self.watch not in ("loss", *self.losses):
            raise ValueError(f"{self.watch} chooses the best checkpoint: give the batches to evaluate on")
        if self.store is not None:
            self.state.resume(self.store)
        history = []
        for epoch in range(self.state.epoch, epochs):
            self.network.set_train()
            means = {name: Average() for name in ("loss", *self.losses)}
            for data, labels in batches(epoch):
                for name, value in self.step(data, labels).items():
                    means[name].update(value, len(data))
            figures = {name: mean.compute() for name, mean in means.items()}
            if evaluate_on is not None:
                figures.update({f"eval_{name}": value for name, value in self.evaluate(evaluate_on(epoch)).items()})
            if self.state.scheduler is not None:
                self.state.scheduler.step()
            self.state.epoch = epoch + 1
            watched = figures[self.watch if evaluate_on is None else f"eval_{self.watch}"]
            best = self.state.improve(-watched if self.watch in ("loss", *self.losses) else watched)
            if self.store is not None:
                self.state.save(self.store, best)
            history.append(figures)
        return history
