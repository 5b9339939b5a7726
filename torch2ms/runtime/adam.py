"""Adam with PyTorch's epsilon.

MindSpore's own Adam (``experimental.optim.Adam``, also with ``amsgrad``) adds epsilon before it corrects the bias of
the second moment, which makes it 1/sqrt(1 - beta2^t) times as large: 32 times in the first step, 10 times in the tenth.
Parameters with small gradients then move less: over ten steps with gradients from 1 down to 1e-10 the updates differ
from PyTorch's by 26%, and those of gradients below 1e-7 by 85%. (Its AdamW, NAdam and the others are right.)
"""

from __future__ import annotations

from typing import Any

import mindspore as ms
from mindspore import ops
from mindspore.experimental import optim

__all__ = ["Adam"]

_KERNEL = ops.Adam()


_fused = ops.MultitypeFuncGraph("fused_adam_with_the_epsilon_of_pytorch")
_plain = ops.MultitypeFuncGraph("adam_with_the_epsilon_of_pytorch")


def _effective(gradient: Any, parameter: Any, weight_decay: float, maximize: bool) -> Any:
    """Return the gradient that is descended along."""
    if maximize:
        gradient = ops.neg(gradient)
    if weight_decay != 0.0:
        gradient = gradient + parameter * weight_decay
    return gradient


@_fused.register(
    "Function", "Tensor", "Tensor", "Tensor", "Float", "Float", "Tensor", "Float", "Bool",
    "Tensor", "Tensor", "Tensor", "Tensor",
)  # fmt: skip
def _update_fused(
    kernel: Any, beta1_power: Any, beta2_power: Any, lr: Any, beta1: float, beta2: float, eps: Any, weight_decay: float,
    maximize: bool, parameter: Any, gradient: Any, first: Any, second: Any,
) -> bool:  # fmt: skip
    """Update one parameter and its moments with one kernel; of float64, which the kernel refuses, with its formula."""
    gradient = _effective(gradient, parameter, weight_decay, maximize)
    if parameter.dtype == ms.float64:
        new_first = first * beta1 + gradient * (1 - beta1)
        new_second = second * beta2 + gradient * gradient * (1 - beta2)
        step_size = lr * ops.sqrt(1 - beta2_power) / (1 - beta1_power)
        ops.assign(first, new_first)
        ops.assign(second, new_second)
        ops.assign(parameter, parameter - step_size * new_first / (ops.sqrt(new_second) + eps))
    else:
        kernel(parameter, first, second, beta1_power, beta2_power, lr, beta1, beta2, eps, gradient)
    return True


@_plain.register(
    "Tensor", "Tensor", "Float", "Float", "Float", "Float", "Bool", "Tensor", "Tensor", "Tensor", "Tensor", "Tensor"
)
def _update_amsgrad(
    step_size: Any, correction: Any, beta1: float, beta2: float, eps: float, weight_decay: float, maximize: bool,
    parameter: Any, gradient: Any, first: Any, second: Any, largest: Any,
) -> bool:  # fmt: skip
    """Update one parameter, its moments and their maximum."""
    gradient = _effective(gradient, parameter, weight_decay, maximize)
    new_first = first * beta1 + gradient * (1 - beta1)
    new_second = second * beta2 + gradient * gradient * (1 - beta2)
    new_largest = ops.maximum(largest, new_second)
    ops.assign(largest, new_largest)
    ops.assign(first, new_first)
    ops.assign(second, new_second)
    ops.assign(parameter, parameter - new_first / (ops.sqrt(new_largest) / correction + eps) * step_size)
    return True


class Adam(optim.Adam):
    """``torch.optim.Adam``: same arguments, formula and numbers (D. Kingma and J. Ba, 2015; epsilon as PyTorch has it).

    The state has the names of ``mindspore.experimental.optim.Adam``: ``exp_avg``, ``exp_avg_sq``, ``max_exp_avg_sq``,
    ``state_step``.
    """

    def construct(self, gradients: Any) -> bool:
        """Make one step with the gradients of all parameters, in the parameters' order."""
        self.assignadd(self.state_step, self.increase_tensor)
        for group_id, group in enumerate(self.param_groups):
            lr = self.lrs[group_id]
            if isinstance(group.get("lr"), float):
                lr = self.op_cast(group.get("lr"), ms.float32)
            beta1, beta2 = group.get("betas")
            update = self.update_amsgrad if group.get("amsgrad") else self.update
            update(
                lr, beta1, beta2, float(group.get("eps")), float(group.get("weight_decay")), group.get("maximize"),
                gradients, self.group_start_id[group_id], self.group_start_id[group_id + 1],
            )  # fmt: skip
        return True

    @ms.jit
    def update(
        self, lr: Any, beta1: float, beta2: float, eps: float, weight_decay: float, maximize: bool, gradients: Any,
        begin: int, end: int,
    ) -> bool:  # fmt: skip
        """Update the parameters from ``begin`` to ``end``.

        MindSpore's kernel divides by ``sqrt(second) + eps``, PyTorch by ``sqrt(second / (1 - beta2^t)) + eps``; both
        are the same when the kernel's epsilon is ``eps * sqrt(1 - beta2^t)``.
        """
        beta1_power, beta2_power = self.op_pow(beta1, self.state_step), self.op_pow(beta2, self.state_step)
        scaled_eps = eps * ops.sqrt(1 - beta2_power)
        self.hyper_map(
            ops.partial(
                _fused, _KERNEL, beta1_power, beta2_power, lr, beta1, beta2, scaled_eps, weight_decay, maximize
            ),
            self.parameters[begin:end],
            gradients[begin:end],
            self.exp_avg[begin:end],
            self.exp_avg_sq[begin:end],
        )
        return True

    @ms.jit
    def update_amsgrad(
        self, lr: Any, beta1: float, beta2: float, eps: float, weight_decay: float, maximize: bool, gradients: Any,
        begin: int, end: int,
    ) -> bool:  # fmt: skip
        """Update the parameters from ``begin`` to ``end`` with the largest second moments so far."""
        step_size = lr / (1 - self.op_pow(beta1, self.state_step))
        correction = ops.sqrt(1 - self.op_pow(beta2, self.state_step))
        self.hyper_map(
            ops.partial(_plain, step_size, correction, beta1, beta2, eps, weight_decay, maximize),
            self.parameters[begin:end],
            gradients[begin:end],
            self.exp_avg[begin:end],
            self.exp_avg_sq[begin:end],
            self.max_exp_avg_sq[begin:end],
        )
        return True
