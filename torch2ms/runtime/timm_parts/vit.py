"""Vision Transformer with the names of timm's parts: Dosovitskiy et al., "An Image is Worth 16x16 Words" (2021)."""

from __future__ import annotations

import math
from typing import Any, Callable, Dict, Optional, Set, Union

import numpy as np
from mindspore import Tensor, nn, ops

from .. import functional as F
from .. import layers
from ..initializers import normal_, xavier_uniform_, zeros_
from ..vision.building import Network
from .initializers import lecun_normal_, trunc_normal_
from .layers import DropPath, LayerNorm, LayerScale, Mlp, PatchDropout, PatchEmbed, weight
from .sizes import calculate_drop_path_rates

__all__ = ["Attention", "Block", "VisionTransformer", "global_pool_nlc"]

Maker = Callable[..., nn.Cell]


def _added(mask: Optional[Tensor], places: int, is_causal: bool, dtype: Any) -> Optional[Tensor]:
    """Return what a mask adds to the scores; True in a mask of bools lets through."""
    if is_causal:
        return Tensor(np.triu(np.full((places, places), -np.inf, np.float32), 1)).astype(dtype)
    if mask is None or mask.dtype.is_floating_point:
        return mask
    return F.where(mask, ops.zeros_like(mask.astype(dtype)), float("-inf"))


class Attention(Network):
    """Self-attention of several heads; one linear layer makes queries, keys and values.

    The order of the arguments is timm 1.0's; ``qk_scale`` is that of its first releases.
    """

    def __init__(
        self,
        dim: int,
        num_heads: int = 8,
        attn_head_dim: Optional[int] = None,
        dim_out: Optional[int] = None,
        qkv_bias: bool = False,
        qk_norm: bool = False,
        scale_norm: bool = False,
        proj_bias: bool = True,
        gated: bool = False,
        attn_drop: float = 0.0,
        proj_drop: float = 0.0,
        norm_layer: Optional[Maker] = None,
        qk_scale: Optional[float] = None,
    ) -> None:
        super().__init__()
        if isinstance(attn_head_dim, bool):
            raise TypeError("attn_head_dim is a number: give qkv_bias by its name, timm's releases differ in its place")
        if attn_head_dim is None and dim % num_heads:
            raise AssertionError("dim should be divisible by num_heads")
        if (qk_norm or scale_norm) and norm_layer is None:
            raise AssertionError("norm_layer must be provided if qk_norm or scale_norm is True")
        self.num_heads = num_heads
        self.head_dim = attn_head_dim or dim // num_heads
        self.attn_dim = num_heads * self.head_dim
        self.scale = qk_scale or self.head_dim**-0.5
        self.fused_attn = False
        self.qkv = layers.Linear(dim, self.attn_dim * 3, bias=qkv_bias)
        self.q_norm = norm_layer(self.head_dim) if qk_norm and norm_layer else layers.Identity()
        self.k_norm = norm_layer(self.head_dim) if qk_norm and norm_layer else layers.Identity()
        self.attn_drop = layers.Dropout(attn_drop)
        self.norm = norm_layer(self.attn_dim) if scale_norm and norm_layer else layers.Identity()
        self.gate = layers.Linear(dim, self.attn_dim, bias=qkv_bias) if gated else None
        self.proj = layers.Linear(self.attn_dim, dim_out or dim, bias=proj_bias)
        self.proj_drop = layers.Dropout(proj_drop)

    def construct(self, x: Tensor, attn_mask: Optional[Tensor] = None, is_causal: bool = False) -> Tensor:
        """Return (batch, places, dim_out)."""
        batch, places, _ = x.shape
        gate = ops.sigmoid(self.gate(x)) if self.gate is not None else None
        parts = self.qkv(x).reshape((batch, places, 3, self.num_heads, self.head_dim)).transpose(2, 0, 3, 1, 4)
        queries, keys, values = self.q_norm(parts[0]), self.k_norm(parts[1]), parts[2]
        scores = ops.matmul(queries * self.scale, keys.swapaxes(-2, -1))
        added = _added(attn_mask, places, is_causal, scores.dtype)
        shares = self.attn_drop(F.softmax(scores if added is None else scores + added, -1))
        x = self.norm(ops.matmul(shares, values).swapaxes(1, 2).reshape((batch, places, self.attn_dim)))
        return self.proj_drop(self.proj(x if gate is None else x * gate))


class Block(Network):
    """Self-attention and a perceptron, each behind a normalization and with its input added.

    ``drop`` and ``qk_scale`` are arguments of timm's first releases; ``drop`` is ``proj_drop`` now.
    """

    def __init__(
        self,
        dim: int,
        num_heads: int,
        mlp_ratio: float = 4.0,
        qkv_bias: bool = False,
        qk_norm: bool = False,
        scale_attn_norm: bool = False,
        scale_mlp_norm: bool = False,
        proj_bias: bool = True,
        proj_drop: float = 0.0,
        attn_drop: float = 0.0,
        init_values: Optional[float] = None,
        drop_path: float = 0.0,
        act_layer: Maker = layers.GELU,
        norm_layer: Maker = LayerNorm,
        mlp_layer: Maker = Mlp,
        attn_layer: Any = Attention,
        depth: int = 0,
        drop: Optional[float] = None,
        qk_scale: Optional[float] = None,
    ) -> None:
        super().__init__()
        proj_drop = proj_drop if drop is None else drop
        kind = Attention if attn_layer in ("", "attn") else attn_layer
        options: Dict[str, Any] = {} if qk_scale is None else {"qk_scale": qk_scale}
        self.norm1 = norm_layer(dim)
        self.attn = kind(
            dim, num_heads=num_heads, qkv_bias=qkv_bias, qk_norm=qk_norm, scale_norm=scale_attn_norm,
            proj_bias=proj_bias, attn_drop=attn_drop, proj_drop=proj_drop, norm_layer=norm_layer, **options,
        )  # fmt: skip
        self.ls1 = LayerScale(dim, init_values=init_values) if init_values else layers.Identity()
        self.drop_path1 = DropPath(drop_path) if drop_path > 0.0 else layers.Identity()
        self.norm2 = norm_layer(dim)
        self.mlp = mlp_layer(
            in_features=dim, hidden_features=int(dim * mlp_ratio), act_layer=act_layer,
            norm_layer=norm_layer if scale_mlp_norm else None, bias=proj_bias, drop=proj_drop,
        )  # fmt: skip
        self.ls2 = LayerScale(dim, init_values=init_values) if init_values else layers.Identity()
        self.drop_path2 = DropPath(drop_path) if drop_path > 0.0 else layers.Identity()

    def construct(self, x: Tensor, attn_mask: Optional[Tensor] = None, is_causal: bool = False) -> Tensor:
        """Return (batch, places, dim)."""
        options = {} if attn_mask is None and not is_causal else {"attn_mask": attn_mask, "is_causal": is_causal}
        x = x + self.drop_path1(self.ls1(self.attn(self.norm1(x), **options)))
        return x + self.drop_path2(self.ls2(self.mlp(self.norm2(x))))


def global_pool_nlc(
    x: Tensor, pool_type: str = "token", num_prefix_tokens: int = 1, reduce_include_prefix: bool = False
) -> Tensor:
    """Return one word for (batch, places, features): the first, or the mean or largest of the patches."""
    if not pool_type:
        return x
    if pool_type == "token":
        return x[:, 0]
    x = x if reduce_include_prefix else x[:, num_prefix_tokens:]
    if pool_type == "avg":
        return x.mean(1)
    if pool_type not in ("avgmax", "max"):
        raise AssertionError(f"Unknown pool type {pool_type}")
    largest = ops.amax(x, 1)
    return largest if pool_type == "max" else 0.5 * (largest + x.mean(1))


def _refuse(former: Dict[str, Any], global_pool: str, class_token: bool, dynamic_img_size: bool) -> None:
    """Raise an error for what is asked of a network that the runtime has not."""
    asked = sorted(name for name, value in former.items() if value)
    if asked:
        raise TypeError(f"arguments of former releases of timm that the runtime has not: {', '.join(asked)}")
    if global_pool not in ("", "avg", "avgmax", "max", "token"):
        raise ValueError(f"a pool of the kind {global_pool!r} is not known here")
    if dynamic_img_size:
        raise ValueError("pictures of changing sizes are not known here: translate timm's source")
    if not class_token and global_pool == "token":
        raise AssertionError("Token pooling needs the class token.")


class VisionTransformer(Network):
    """Patches as words, with words for the class and registers in front, blocks, and a linear layer.

    Arguments of timm's first releases (``representation_size``, ``distilled``, ``hybrid_backbone``, ``qk_scale``)
    may be given where they ask for nothing.
    """

    # fmt: off
    def __init__(
        self, img_size: Any = 224, patch_size: Any = 16, in_chans: int = 3, num_classes: int = 1000,
        global_pool: str = "token", embed_dim: int = 768, depth: int = 12, num_heads: int = 12, mlp_ratio: float = 4.0,
        qkv_bias: bool = True, qk_norm: bool = False, scale_attn_norm: bool = False, scale_mlp_norm: bool = False,
        proj_bias: bool = True, init_values: Optional[float] = None, class_token: bool = True, pos_embed: str = "learn",
        no_embed_class: bool = False, reg_tokens: int = 0, pre_norm: bool = False, final_norm: bool = True,
        fc_norm: Optional[bool] = None, pool_include_prefix: bool = False, dynamic_img_size: bool = False,
        dynamic_img_pad: bool = False, drop_rate: float = 0.0, pos_drop_rate: float = 0.0, patch_drop_rate: float = 0.0,
        proj_drop_rate: float = 0.0, attn_drop_rate: float = 0.0, drop_path_rate: float = 0.0, weight_init: str = "",
        fix_init: bool = False, embed_layer: Maker = PatchEmbed, embed_norm_layer: Optional[Maker] = None,
        norm_layer: Optional[Maker] = None, act_layer: Optional[Maker] = None, block_fn: Maker = Block,
        mlp_layer: Maker = Mlp, attn_layer: Any = Attention, **former: Any,
    ) -> None:
        # fmt: on
        super().__init__()
        _refuse(former, global_pool, class_token, dynamic_img_size)
        after_pool = global_pool in ("avg", "avgmax", "max") if fc_norm is None else fc_norm
        norm, act = norm_layer or LayerNorm, act_layer or layers.GELU
        self.num_classes, self.in_chans, self.global_pool = num_classes, in_chans, global_pool
        self.num_features = self.head_hidden_size = self.embed_dim = embed_dim
        self.num_prefix_tokens, self.num_reg_tokens = int(class_token) + reg_tokens, reg_tokens
        self.has_class_token, self.no_embed_class = class_token, no_embed_class
        self.pool_include_prefix, self.grad_checkpointing = pool_include_prefix, False
        options: Dict[str, Any] = {} if embed_norm_layer is None else {"norm_layer": embed_norm_layer}
        options.update({"bias": False} if pre_norm else {}, **({"dynamic_img_pad": True} if dynamic_img_pad else {}))
        self.patch_embed = embed_layer(
            img_size=img_size, patch_size=patch_size, in_chans=in_chans, embed_dim=embed_dim, **options
        )
        places = self.patch_embed.num_patches + (0 if no_embed_class else self.num_prefix_tokens)
        self.cls_token = weight(np.zeros((1, 1, embed_dim)), "cls_token") if class_token else None
        self.reg_token = weight(np.zeros((1, reg_tokens, embed_dim)), "reg_token") if reg_tokens else None
        learnt = pos_embed not in ("", "none")
        self.pos_embed = weight(np.zeros((1, places, embed_dim)), "pos_embed") if learnt else None
        self.pos_drop = layers.Dropout(pos_drop_rate)
        dropped = PatchDropout(patch_drop_rate, self.num_prefix_tokens) if patch_drop_rate else None
        self.patch_drop = dropped or layers.Identity()
        self.norm_pre = norm(embed_dim) if pre_norm else layers.Identity()
        shared = {
            "dim": embed_dim, "num_heads": num_heads, "mlp_ratio": mlp_ratio, "qkv_bias": qkv_bias, "qk_norm": qk_norm,
            "scale_attn_norm": scale_attn_norm, "scale_mlp_norm": scale_mlp_norm, "proj_bias": proj_bias,
            "init_values": init_values, "proj_drop": proj_drop_rate, "attn_drop": attn_drop_rate, "norm_layer": norm,
            "act_layer": act, "mlp_layer": mlp_layer, "attn_layer": attn_layer,
        }  # fmt: skip
        rates = enumerate(calculate_drop_path_rates(drop_path_rate, depth))
        self.blocks = layers.Sequential(*(block_fn(drop_path=rate, depth=place, **shared) for place, rate in rates))
        self.norm = norm(embed_dim) if final_norm and not after_pool else layers.Identity()
        self.attn_pool = None
        self.fc_norm = norm(embed_dim) if final_norm and after_pool else layers.Identity()
        self.head_drop = layers.Dropout(drop_rate)
        self.head = layers.Linear(embed_dim, num_classes) if num_classes > 0 else layers.Identity()
        if weight_init != "skip":
            self.init_weights(weight_init)
            if fix_init:
                self.fix_init_weight()

    def init_weights(self, mode: str = "") -> None:
        """Draw the weights: as timm ("") or as JAX's implementation ("jax", "jax_nlhb")."""
        if mode not in ("", "jax", "jax_nlhb"):
            raise ValueError(f"weights that begin as {mode!r} are not known here")
        if self.pos_embed is not None:
            trunc_normal_(self.pos_embed, std=0.02)
        for token in (self.cls_token, self.reg_token):
            if token is not None:
                normal_(token, std=1e-6)
        for name, cell in self.cells_and_names():
            if not mode:
                self._init_weights(cell)
            elif isinstance(cell, nn.Dense):
                self._as_jax(name, cell, -math.log(self.num_classes) if mode == "jax_nlhb" else 0.0)
            elif isinstance(cell, nn.Conv2d):
                lecun_normal_(cell.weight)
                if cell.bias is not None:
                    zeros_(cell.bias)

    def _init_weights(self, m: nn.Cell) -> None:
        """Draw the weights of one layer."""
        if isinstance(m, nn.Dense):
            trunc_normal_(m.weight, std=0.02)
            if m.bias is not None:
                zeros_(m.bias)

    def _as_jax(self, name: str, cell: nn.Dense, head_bias: float) -> None:
        if name.startswith("head"):
            zeros_(cell.weight)
            cell.bias.set_data(ops.full_like(cell.bias, head_bias))
            return
        xavier_uniform_(cell.weight)
        if cell.bias is not None:
            normal_(cell.bias, std=1e-6) if "mlp" in name else zeros_(cell.bias)

    def fix_init_weight(self) -> None:
        """Make the last layers of each block smaller, the deeper the block."""
        for place, block in enumerate(self.blocks):
            for last in (block.attn.proj, block.mlp.fc2):
                last.weight.set_data(last.weight / math.sqrt(2.0 * (place + 1)))

    def no_weight_decay(self) -> Set[str]:
        """Return the names of weights that are not to decay."""
        return {"pos_embed", "cls_token", "reg_token", "dist_token"}

    def set_grad_checkpointing(self, enable: bool = True) -> None:
        """Keep whether activations are to be computed again; they never are."""
        self.grad_checkpointing = enable

    def get_classifier(self) -> nn.Cell:
        """Return the last layer."""
        return self.head

    def reset_classifier(self, num_classes: int, global_pool: Optional[str] = None) -> None:
        """Put a new last layer in the place of the old."""
        self.num_classes = num_classes
        self.global_pool = self.global_pool if global_pool is None else global_pool
        self.head = layers.Linear(self.embed_dim, num_classes) if num_classes > 0 else layers.Identity()
        self.head.set_train(self.training)

    def _pos_embed(self, x: Tensor) -> Tensor:
        """Return the words with those of class and registers in front, and what is learnt of their places added."""
        tokens = [ops.tile(one, (x.shape[0], 1, 1)) for one in (self.cls_token, self.reg_token) if one is not None]
        if self.pos_embed is None:
            return ops.cat([*tokens, x.reshape((x.shape[0], -1, x.shape[-1]))], 1)
        if self.no_embed_class:
            x = x + self.pos_embed
        x = ops.cat([*tokens, x], 1) if tokens else x
        return self.pos_drop(x if self.no_embed_class else x + self.pos_embed)

    def forward_features(self, x: Tensor, attn_mask: Optional[Tensor] = None, is_causal: bool = False) -> Tensor:
        """Return (batch, words, embed_dim)."""
        x = self.norm_pre(self.patch_drop(self._pos_embed(self.patch_embed(x))))
        if attn_mask is None and not is_causal:
            return self.norm(self.blocks(x))
        for block in self.blocks:
            x = block(x, attn_mask=attn_mask, is_causal=is_causal)
        return self.norm(x)

    def pool(self, x: Tensor, pool_type: Optional[str] = None) -> Tensor:
        """Return one word for each picture."""
        kind: Union[str, None] = self.global_pool if pool_type is None else pool_type
        return global_pool_nlc(x, kind or "", self.num_prefix_tokens, self.pool_include_prefix)

    def forward_head(self, x: Tensor, pre_logits: bool = False) -> Tensor:
        """Return logits, or with ``pre_logits`` what they are computed from."""
        x = self.head_drop(self.fc_norm(self.pool(x)))
        return x if pre_logits else self.head(x)

    def construct(self, x: Tensor, attn_mask: Optional[Tensor] = None, is_causal: bool = False) -> Tensor:
        """Return logits of shape (N, num_classes)."""
        options: Dict[str, Any] = {}
        if attn_mask is not None or is_causal:
            options = {"attn_mask": attn_mask, "is_causal": is_causal}
        return self.forward_head(self.forward_features(x, **options))
