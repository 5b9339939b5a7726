"""What takes the step for a loss that it is handed: it clips and updates; without half precision no scale is needed."""

from __future__ import annotations

from typing import Any, Dict

from .. import gradients

__all__ = ["NativeScaler"]


class NativeScaler:
    """``loss_scaler(loss, optimizer, clip_grad, parameters=...)``: the gradients come with the loss (``hand_over``)."""

    state_dict_key = "amp_scaler"

    def __init__(self, device: Any = "cuda") -> None:
        self.device = device

    def __call__(
        self,
        loss: Any,
        optimizer: Any,
        clip_grad: Any = None,
        clip_mode: str = "norm",
        parameters: Any = None,
        create_graph: bool = False,
        need_update: bool = True,
    ) -> None:
        """Add the gradients of the loss; with ``need_update``, clip what there is and update the weights."""
        if clip_mode not in ("norm", "value"):
            raise ValueError(f"gradients are clipped by their norm or value here, not by {clip_mode!r}")
        gradients.take_over(create_graph=create_graph)
        if not need_update:
            return
        if clip_grad is not None:
            if parameters is None:
                raise AssertionError("the parameters whose gradients are clipped are to be given")
            clip = gradients.clip_norm if clip_mode == "norm" else gradients.clip_value
            clip(parameters, clip_grad)
        gradients.update(optimizer)

    def state_dict(self) -> Dict[str, Any]:
        """Return the state of no scale."""
        return {}

    def load_state_dict(self, state_dict: Dict[str, Any]) -> None:
        """Take over nothing."""
