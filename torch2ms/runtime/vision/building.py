"""How a network is built by name, where its trained weights are, and how its weights begin.

Nothing is downloaded: trained weights are read from ``$TORCH2MS_WEIGHTS/NAME.ckpt``, for example ``resnet18.ckpt``.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Callable, Dict, Optional, Union

from mindspore import Parameter, nn

from .. import checkpoint
from ..kinds import Kind

__all__ = [
    "TRAINED",
    "Builder",
    "Network",
    "fill_layers",
    "make_divisible",
    "named",
    "weights_file",
]

TRAINED = "trained"  # what a name of trained weights stands for: there is one file a network
Builder = Callable[..., nn.Cell]


class Network(nn.Cell, metaclass=Kind):
    """A network or a block of one; new ones are in train mode, as PyTorch's are."""


def make_divisible(value: float, divisor: int = 8) -> int:
    """Return the multiple of ``divisor`` that is next to ``value``, but no more than a tenth below it."""
    nearest = max(divisor, int(value + divisor / 2) // divisor * divisor)
    return nearest + divisor if nearest < 0.9 * value else nearest


def fill_layers(
    network: nn.Cell,
    conv: Optional[Callable[[Parameter], Any]] = None,
    linear: Optional[Callable[[Parameter], Any]] = None,
) -> None:
    """Draw the weights of all convolutions and linear layers with the functions given; their biases become zero."""
    for _, cell in network.cells_and_names():
        draw = conv if isinstance(cell, (nn.Conv2d, nn.Conv3d)) else linear if isinstance(cell, nn.Dense) else None
        if draw is not None:
            draw(cell.weight)
            if cell.bias is not None:
                cell.bias.set_data(cell.bias * 0)


def named(
    name: str,
    kind: Callable[..., nn.Cell],
    *structure: Any,
    trained: Optional[Callable[[Dict[str, Any]], Callable[[nn.Cell], None]]] = None,
    **fixed: Any,
) -> Builder:
    """Return the function that builds the classifier ``name``.

    ``trained``: for networks whose trained form has other options. It changes these, and returns what is to be done
    to the network once it has its weights.
    """

    def build(
        pretrained: Union[bool, str, None] = False, progress: bool = True, *, weights: Any = None, **options: Any
    ) -> nn.Cell:
        wanted = bool(pretrained) or weights is not None
        finish = trained(options) if wanted and trained is not None else None
        network = kind(*structure, **{**fixed, **options})
        if wanted:
            checkpoint.load_network(network, weights_file(name))
        if finish is not None:
            finish(network)
        return network.set_train()

    build.__name__ = build.__qualname__ = name
    build.__doc__ = f"{name}, in train mode; ``pretrained`` or ``weights``: with trained weights (module docstring)."
    build.task = "classification"  # type: ignore[attr-defined]
    return build


def weights_file(name: str) -> Path:
    """Return where the trained weights of a network are. Raises FileNotFoundError where they are not."""
    path = Path(os.environ.get("TORCH2MS_WEIGHTS", "weights")) / f"{name}.ckpt"
    if not path.is_file():
        raise FileNotFoundError(
            f"trained weights of {name} are wanted at {path} and not downloaded: convert torchvision's file with"
            " torch2ms convert-weights, and name the folder in TORCH2MS_WEIGHTS"
        )
    return path
