"""Means and deviations of the pictures that networks were trained on, and what is known of trained weights."""

from __future__ import annotations

from typing import Any, Dict

__all__ = [
    "DEFAULT_CROP_PCT",
    "IMAGENET_DEFAULT_MEAN",
    "IMAGENET_DEFAULT_STD",
    "IMAGENET_INCEPTION_MEAN",
    "IMAGENET_INCEPTION_STD",
    "OPENAI_CLIP_MEAN",
    "OPENAI_CLIP_STD",
    "settings_of_weights",
]

DEFAULT_CROP_PCT = 0.875
IMAGENET_DEFAULT_MEAN = (0.485, 0.456, 0.406)
IMAGENET_DEFAULT_STD = (0.229, 0.224, 0.225)
IMAGENET_INCEPTION_MEAN = (0.5, 0.5, 0.5)
IMAGENET_INCEPTION_STD = (0.5, 0.5, 0.5)
OPENAI_CLIP_MEAN = (0.48145466, 0.4578275, 0.40821073)
OPENAI_CLIP_STD = (0.26862954, 0.26130258, 0.27577711)


def settings_of_weights(url: str = "", **settings: Any) -> Dict[str, Any]:
    """Return what timm says of the trained weights of a vision transformer: ``_cfg``."""
    return {
        "url": url,
        "num_classes": 1000,
        "input_size": (3, 224, 224),
        "pool_size": None,
        "crop_pct": 0.9,
        "interpolation": "bicubic",
        "fixed_input_size": True,
        "mean": IMAGENET_INCEPTION_MEAN,
        "std": IMAGENET_INCEPTION_STD,
        "first_conv": "patch_embed.proj",
        "classifier": "head",
        **settings,
    }
