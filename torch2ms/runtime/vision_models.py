"""Classifiers that programs ask for by name, and how their parts are got at; written in the package ``vision``.

Nothing is downloaded: trained weights are read from ``$TORCH2MS_WEIGHTS/NAME.ckpt``, for example ``resnet18.ckpt``.
"""

from __future__ import annotations

from .vision.blocks import LayerNorm2d
from .vision.building import MODELS, TRAINED, get_model, get_model_builder, list_models
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
