"""Classifiers that programs ask for by name, and how their parts are got at; written in the package ``vision``.

Nothing is downloaded: trained weights are read from ``$TORCH2MS_WEIGHTS/NAME.ckpt``, for example ``resnet18.ckpt``.
"""

from __future__ import annotations

import fnmatch
from typing import Any, Dict, Iterable, List, Union

from mindspore import nn

from .vision.blocks import LayerNorm2d
from .vision.building import TRAINED, Builder
from .vision.convnext import *
from .vision.densenet import *
from .vision.efficientnet import *
from .vision.inception import *
from .vision.intermediate import IntermediateLayerGetter, create_feature_extractor
from .vision.mobilenet import *
from .vision.regnet import *
from .vision.resnet import *
from .vision.segmentation import *
from .vision.shufflenet import *
from .vision.squeezenet import *
from .vision.swin import *
from .vision.vgg import *
from .vision.vit import *

MODELS: Dict[str, Builder] = {
    name: made for name, made in list(globals().items()) if getattr(made, "task", "") == "classification"
}
_OTHERS: Dict[str, Builder] = {
    name: made for name, made in list(globals().items()) if getattr(made, "task", "") == "segmentation"
}


def get_model_builder(name: str) -> Builder:
    """Return the function that builds a network. Raises ValueError for a name that the runtime does not have."""
    found = MODELS.get(name.lower()) or _OTHERS.get(name.lower())
    if found is None:
        raise ValueError(f"Unknown model {name}")
    return found


def get_model(name: str, **config: Any) -> nn.Cell:
    """Return a network by its name, built with ``config``."""
    return get_model_builder(name)(**config)


def list_models(
    include: Union[str, Iterable[str], None] = None, exclude: Union[str, Iterable[str], None] = None
) -> List[str]:
    """Return the names of the networks, sorted: those that a pattern of ``include`` and none of ``exclude`` fits."""

    def fits(name: str, patterns: Union[str, Iterable[str]]) -> bool:
        return any(
            fnmatch.fnmatch(name, pattern) for pattern in ([patterns] if isinstance(patterns, str) else patterns)
        )

    names = sorted({*MODELS, *_OTHERS})
    return [name for name in names if (not include or fits(name, include)) and not (exclude and fits(name, exclude))]
