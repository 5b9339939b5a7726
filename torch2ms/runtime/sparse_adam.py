"""Adam for gradients of few rows, as those of embeddings are: ``torch.optim.SparseAdam``.

What of a weight has no gradient stays as it is, and so do its moments; Adam would go on moving it by them. PyTorch
knows the rows by the sparse gradient that ``nn.Embedding(..., sparse=True)`` has. MindSpore's gradients are whole: the
rows are those that are not zero.
"""

from __future__ import annotations

from typing import Any, Tuple

import mindspore as ms
from mindspore import ops
from mindspore.experimental import optim

__all__ = ["SparseAdam"]


class SparseAdam(optim.Adam):
    """``torch.optim.SparseAdam``: same arguments, formula and numbers.

    The state has the names of ``mindspore.experimental.optim.Adam``. A row of which every element of the gradient is
    exactly zero counts as one without a gradient.
    """

    def __init__(
        self,
        params: Any,
        lr: float = 0.001,
        betas: Tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        maximize: bool = False,
    ) -> None:
        super().__init__(params, lr, betas, eps, maximize=maximize)

    def construct(self, gradients: Any) -> bool:
        """Make one step with the gradients of all parameters, in the parameters' order."""
        self.assignadd(self.state_step, self.increase_tensor)
        for number, group in enumerate(self.param_groups):
            lr = group.get("lr") if isinstance(group.get("lr"), float) else self.lrs[number]
            beta1, beta2 = group.get("betas")
            corrected = ops.sqrt(1 - self.op_pow(beta2, self.state_step)) / (1 - self.op_pow(beta1, self.state_step))
            size = lr * corrected
            for place in range(self.group_start_id[number], self.group_start_id[number + 1]):
                gradient = ops.neg(gradients[place]) if group.get("maximize") else gradients[place]
                self._move(place, gradient, size, (beta1, beta2), float(group.get("eps")))
        return True

    def _move(self, place: int, gradient: Any, size: Any, betas: Tuple[float, float], eps: float) -> None:
        """Change one parameter and its moments where it has a gradient."""
        parameter, first, second = self.parameters[place], self.exp_avg[place], self.exp_avg_sq[place]
        there = (gradient != 0).astype(ms.float32)
        if gradient.ndim > 1:
            there = there.max(axis=tuple(range(1, gradient.ndim)), keepdims=True)
        there = there.astype(gradient.dtype)
        ops.assign(first, first + there * (gradient - first) * (1 - betas[0]))
        ops.assign(second, second + there * (gradient * gradient - second) * (1 - betas[1]))
        ops.assign(parameter, parameter - there * size * first / (ops.sqrt(second) + eps))
