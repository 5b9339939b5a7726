"""A long short-term memory whose hidden state is projected to fewer features, which MindSpore's LSTM cannot do."""

from __future__ import annotations

import math
from typing import Any, List, Optional, Tuple

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn, ops

from .recurrent import LSTM

__all__ = ["ProjectedLSTM"]

State = Tuple[Tensor, Tensor]


class ProjectedLSTM(nn.Cell):
    """LSTM with ``proj_size`` (Sak et al. 2014) over (length, batch, features); parameters carry torch's names.

    Without projections, which only the run may show (``nn.LSTM(4, 5, **settings)``), it is MindSpore's own.
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """Return the plain LSTM where nothing is projected."""
        projected = args[7] if len(args) > 7 else kwargs.get("proj_size", 0)
        return super().__new__(cls) if projected or cls is not ProjectedLSTM else LSTM(*args, **kwargs)

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.input_size, self.hidden_size, self.num_layers, self.proj_size = (
            input_size,
            hidden_size,
            num_layers,
            proj_size,
        )
        self.has_bias, self.batch_first = bool(bias), batch_first
        self.dropout, self.bidirectional = float(dropout), bidirectional
        self.directions = 2 if bidirectional else 1
        self.drop = nn.Dropout(p=self.dropout)
        for layer in range(num_layers):
            for suffix in self._suffixes(layer):
                width = input_size if layer == 0 else proj_size * self.directions
                self._add(suffix, width)

    def _suffixes(self, layer: int) -> List[str]:
        return [f"_l{layer}", f"_l{layer}_reverse"][: self.directions]

    def _add(self, suffix: str, width: int) -> None:
        """Make the parameters of one direction of a layer, drawn as torch draws them."""
        gates, bound = 4 * self.hidden_size, 1 / math.sqrt(self.hidden_size)
        shapes = {"weight_ih": (gates, width), "weight_hh": (gates, self.proj_size)}
        if self.has_bias:
            shapes.update(bias_ih=(gates,), bias_hh=(gates,))  # type: ignore[arg-type]
        shapes["weight_hr"] = (self.proj_size, self.hidden_size)
        for kind, shape in shapes.items():
            value = np.random.uniform(-bound, bound, shape).astype(np.float32)
            self.insert_param_to_cell(kind + suffix, Parameter(Tensor(value), name=kind + suffix))

    def construct(self, x: Tensor, hx: Optional[State] = None) -> Tuple[Tensor, State]:
        """Return the outputs of the last layer, and the last hidden and cell states of all: (layers, batch, ...)."""
        if x.ndim == 2:  # one sequence without a batch around it
            axis = 0 if self.batch_first else 1
            given = None if hx is None else (ops.expand_dims(hx[0], 1), ops.expand_dims(hx[1], 1))
            output, (hidden, cell) = self.construct(ops.expand_dims(x, axis), given)
            return ops.squeeze(output, axis), (ops.squeeze(hidden, 1), ops.squeeze(cell, 1))
        steps = ops.swapaxes(x, 0, 1) if self.batch_first else x
        total, batch = self.num_layers * self.directions, steps.shape[1]
        if hx is None:
            hx = (
                ops.zeros((total, batch, self.proj_size), ms.float32),
                ops.zeros((total, batch, self.hidden_size), ms.float32),
            )
        hidden, cells = [], []
        for layer in range(self.num_layers):
            parts = []
            for place, suffix in enumerate(self._suffixes(layer)):
                index = layer * self.directions + place
                outputs, state = self._run(steps, (hx[0][index], hx[1][index]), suffix, place == 1)
                parts.append(outputs)
                hidden.append(state[0])
                cells.append(state[1])
            steps = ops.concat(parts, -1) if len(parts) > 1 else parts[0]
            if self.dropout and layer < self.num_layers - 1:
                steps = self.drop(steps)
        steps = ops.swapaxes(steps, 0, 1) if self.batch_first else steps
        return steps, (ops.stack(hidden), ops.stack(cells))

    def _run(self, steps: Tensor, state: State, suffix: str, is_reversed: bool) -> Tuple[Tensor, State]:
        """Return the outputs of one direction of a layer, step by step, and its last states."""
        weights = [self._params[f"{kind}{suffix}"] for kind in ("weight_ih", "weight_hh", "weight_hr")]
        biases = [self._params[f"{kind}{suffix}"] for kind in ("bias_ih", "bias_hh")] if self.has_bias else []
        (hidden, cell), outputs = state, []
        order = range(steps.shape[0])
        for step in reversed(order) if is_reversed else order:
            gates = ops.matmul(steps[step], weights[0].T) + ops.matmul(hidden, weights[1].T)
            for bias in biases:
                gates = gates + bias
            enter, forget, new, leave = ops.split(gates, self.hidden_size, 1)
            cell = ops.sigmoid(forget) * cell + ops.sigmoid(enter) * ops.tanh(new)
            hidden = ops.matmul(ops.sigmoid(leave) * ops.tanh(cell), weights[2].T)
            outputs.append(hidden)
        return ops.stack(outputs[::-1] if is_reversed else outputs), (hidden, cell)
