"""Small, everyday parts of timm under its own names: layers, losses, schedules, measures, a registry of networks.

Written natively, from what they compute; ``tests/runtime/test_timm_parity.py`` compares them with timm. Where timm's
releases differ, they do as timm 1.0 does. Its networks are not here: they are source code to translate.
"""

from __future__ import annotations

from .augment import rand_augment_transform
from .constants import (
    DEFAULT_CROP_PCT,
    IMAGENET_DEFAULT_MEAN,
    IMAGENET_DEFAULT_STD,
    IMAGENET_INCEPTION_MEAN,
    IMAGENET_INCEPTION_STD,
    OPENAI_CLIP_MEAN,
    OPENAI_CLIP_STD,
    settings_of_weights,
)
from .factories import (
    add_weight_decay,
    create_optimizer,
    create_optimizer_v2,
    create_scheduler,
    param_groups_weight_decay,
)
from .initializers import lecun_normal_, named_apply, trunc_normal_, trunc_normal_tf_, variance_scaling_
from .layers import (
    ConvMlp,
    DropPath,
    GatedMlp,
    GlobalResponseNorm,
    GlobalResponseNormMlp,
    GroupNorm,
    GroupNorm1,
    LayerNorm,
    LayerNorm2d,
    LayerScale,
    LayerScale2d,
    Mlp,
    PatchDropout,
    PatchEmbed,
    SqueezeExcite,
    SwiGLU,
    drop_path,
)
from .losses import BinaryCrossEntropy, JsdCrossEntropy, LabelSmoothingCrossEntropy, SoftTargetCrossEntropy
from .measures import AverageMeter, ModelEma, ModelEmaV2, accuracy, get_state_dict, unwrap_model
from .mixing import Mixup, mixup_target, one_hot, rand_bbox
from .pooling import AdaptiveAvgMaxPool2d, AdaptiveCatAvgMaxPool2d, SelectAdaptivePool2d, select_adaptive_pool2d
from .registry import create_model, is_model, list_models, model_entrypoint, register_model
from .scaling import NativeScaler
from .schedulers import CosineLRScheduler, MultiStepLRScheduler, PolyLRScheduler, Scheduler, StepLRScheduler
from .sizes import (
    calculate_drop_path_rates,
    extend_tuple,
    get_padding,
    make_divisible,
    to_1tuple,
    to_2tuple,
    to_3tuple,
    to_4tuple,
    to_ntuple,
)
from .transforms import RandomErasing, RandomResizedCropAndInterpolation, create_transform
from .vit import Attention, Block, VisionTransformer, global_pool_nlc

__all__ = [
    "DEFAULT_CROP_PCT",
    "IMAGENET_DEFAULT_MEAN",
    "IMAGENET_DEFAULT_STD",
    "IMAGENET_INCEPTION_MEAN",
    "IMAGENET_INCEPTION_STD",
    "OPENAI_CLIP_MEAN",
    "OPENAI_CLIP_STD",
    "AdaptiveAvgMaxPool2d",
    "AdaptiveCatAvgMaxPool2d",
    "Attention",
    "AverageMeter",
    "BinaryCrossEntropy",
    "Block",
    "ConvMlp",
    "CosineLRScheduler",
    "DropPath",
    "GatedMlp",
    "GlobalResponseNorm",
    "GlobalResponseNormMlp",
    "GroupNorm",
    "GroupNorm1",
    "JsdCrossEntropy",
    "LabelSmoothingCrossEntropy",
    "LayerNorm",
    "LayerNorm2d",
    "LayerScale",
    "LayerScale2d",
    "Mixup",
    "Mlp",
    "ModelEma",
    "ModelEmaV2",
    "MultiStepLRScheduler",
    "NativeScaler",
    "PatchDropout",
    "PatchEmbed",
    "PolyLRScheduler",
    "RandomErasing",
    "RandomResizedCropAndInterpolation",
    "Scheduler",
    "SelectAdaptivePool2d",
    "SoftTargetCrossEntropy",
    "SqueezeExcite",
    "StepLRScheduler",
    "SwiGLU",
    "VisionTransformer",
    "accuracy",
    "add_weight_decay",
    "calculate_drop_path_rates",
    "create_model",
    "create_optimizer",
    "create_optimizer_v2",
    "create_scheduler",
    "create_transform",
    "drop_path",
    "extend_tuple",
    "get_padding",
    "get_state_dict",
    "global_pool_nlc",
    "is_model",
    "lecun_normal_",
    "list_models",
    "make_divisible",
    "mixup_target",
    "model_entrypoint",
    "named_apply",
    "one_hot",
    "param_groups_weight_decay",
    "rand_augment_transform",
    "rand_bbox",
    "register_model",
    "select_adaptive_pool2d",
    "settings_of_weights",
    "to_1tuple",
    "to_2tuple",
    "to_3tuple",
    "to_4tuple",
    "to_ntuple",
    "trunc_normal_",
    "trunc_normal_tf_",
    "unwrap_model",
    "variance_scaling_",
]
