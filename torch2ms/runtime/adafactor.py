"""Adafactor with PyTorch's formula (N. Shazeer and M. Stern, 2018), which MindSpore's optimizers lack.

It keeps one second moment for each row and each column of a weight, over its last two axes, instead of one for each
number; vectors keep all of theirs.
"""

from __future__ import annotations

from typing import Any, Iterable, List, Optional, Tuple

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, ops
from mindspore.experimental import optim

__all__ = ["Adafactor"]


class Adafactor(optim.Optimizer):
    """``torch.optim.Adafactor``: same arguments, formula and numbers.

    The learning rate bounds the relative step, ``d`` the size of an update; ``eps`` holds the least square of a
    gradient (that of the weight's dtype where it is None) and the least size of a weight.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-2,
        beta2_decay: float = -0.8,
        eps: Tuple[Optional[float], float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        *,
        maximize: bool = False,
    ) -> None:
        options = {"lr": lr, "beta2_decay": beta2_decay, "eps": eps, "d": d, "weight_decay": weight_decay}
        super().__init__(params, {**options, "maximize": maximize})
        self.rows: List[Parameter] = []
        self.columns: List[Parameter] = []
        for weight in self.parameters:
            shape = tuple(weight.shape)
            factored = len(shape) > 1
            rows = (*shape[:-1], 1) if factored else shape
            columns = (*shape[:-2], 1, shape[-1]) if factored else ()
            self.rows.append(self._slot("row_var" if factored else "variance", weight, rows))
            self.columns.append(self._slot("col_var", weight, columns))
        self.row_vars, self.col_vars = ms.ParameterTuple(self.rows), ms.ParameterTuple(self.columns)
        self.state_step = Parameter(Tensor(0, ms.int32), "state_step")

    def _slot(self, kind: str, weight: Parameter, shape: Tuple[int, ...]) -> Parameter:
        return Parameter(ops.zeros(shape, weight.dtype), name=f"{kind}.{weight.name}", requires_grad=False)

    def construct(self, gradients: Any) -> bool:
        """Make one step with the gradients of all parameters, in the parameters' order."""
        ops.assign_add(self.state_step, Tensor(1, ms.int32))
        for number, group in enumerate(self.param_groups):
            for place in range(self.group_start_id[number], self.group_start_id[number + 1]):
                gradient = gradients[place]
                self._update(place, -gradient if group["maximize"] else gradient, float(group["lr"]), group)
        return True

    def _update(self, place: int, gradient: Any, lr: float, group: Any) -> None:
        weight, steps = self.parameters[place], int(self.state_step.asnumpy())
        least, smallest = group["eps"]
        least = float(np.finfo(np.float32).eps) if least is None else float(least)
        size = float(np.prod(weight.shape)) ** 0.5
        alpha = ops.maximum(_norm(weight) / size, Tensor(smallest, ms.float32)) * min(lr, 1 / steps**0.5)
        value = weight * (1 - lr * group["weight_decay"]) if group["weight_decay"] else weight
        estimate = self._estimate(place, gradient, steps ** group["beta2_decay"], least)
        update = ops.rsqrt(ops.maximum(estimate, Tensor(least * least, estimate.dtype))) * gradient
        bound = ops.maximum(_norm(update) / (size * group["d"]), Tensor(1.0, ms.float32))
        ops.assign(weight, value - update * (alpha / bound).astype(weight.dtype))

    def _estimate(self, place: int, gradient: Any, rate: float, least: float) -> Any:
        """Return the second moments, after they took the gradient in."""
        square = ops.square(gradient)
        rows, columns = self.rows[place], self.columns[place]
        if gradient.ndim < 2:
            ops.assign(rows, rows + (square - rows) * rate)
            return rows
        ops.assign(rows, rows + (ops.mean(square, -1, True) - rows) * rate)
        ops.assign(columns, columns + (ops.mean(square, -2, True) - columns) * rate)
        whole = ops.maximum(ops.mean(rows, -2, True), Tensor(least, rows.dtype))
        return ops.matmul(rows, columns) / whole


def _norm(value: Any) -> Any:
    return ops.sqrt(ops.square(value).sum()).astype(ms.float32)
