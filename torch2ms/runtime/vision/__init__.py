"""Networks for pictures that programs ask for by name, one module a family, and the blocks they are made of.

Written natively after the papers; ``vision_models`` brings the networks together. Children carry the names that
torchvision gives them, so programs find ``fc``, ``classifier[1]`` or ``heads.head``, and trained weights can be
converted (``torch2ms convert-weights``).
"""

from __future__ import annotations

from .blocks import (
    MLP,
    Conv2dNormActivation,
    Conv3dNormActivation,
    DeformConv2d,
    DropBlock2d,
    DropBlock3d,
    FrozenBatchNorm2d,
    Permute,
    SqueezeExcitation,
    StochasticDepth,
    drop_block2d,
    drop_block3d,
    stochastic_depth,
)
from .pyramid import ExtraFPNBlock, FeaturePyramidNetwork, LastLevelMaxPool, LastLevelP6P7
