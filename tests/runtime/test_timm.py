"""timm's small parts: what is random, what is refused, the registry."""

from __future__ import annotations

from argparse import Namespace

import mindspore as ms
import numpy as np
import pytest
from mindspore.experimental import optim

from torch2ms.runtime import gradients, timm_parts


def test_paths_are_dropped_for_whole_samples() -> None:
    ms.set_seed(0)
    x = ms.ops.ones((2000, 2, 3), ms.float32)
    layer = timm_parts.DropPath(0.25)
    kept = layer(x).asnumpy().reshape(2000, -1)
    assert set(np.unique(kept)) == {0.0, np.float32(1 / 0.75)}
    assert (kept == kept[:, :1]).all()
    assert kept.mean() == pytest.approx(1.0, abs=0.06)
    assert (layer.set_train(False)(x) == x).all()
    assert set(np.unique(timm_parts.drop_path(x, 0.5, True, scale_by_keep=False).asnumpy())) == {0.0, 1.0}
    assert (timm_parts.DropPath(None)(x) == x).all()


def test_patches_are_dropped_behind_the_token() -> None:
    x = ms.Tensor(np.arange(2 * 9 * 3, dtype=np.float32).reshape(2, 9, 3))
    layer = timm_parts.PatchDropout(0.5, ordered=True)
    found = layer(x).asnumpy()
    assert found.shape == (2, 5, 3)
    assert (found[:, 0] == x.asnumpy()[:, 0]).all()
    assert (np.diff(found[:, :, 0], axis=1) > 0).all()
    assert {tuple(row) for row in found[1]} <= {tuple(row) for row in x.asnumpy()[1]}
    assert layer.set_train(False)(x).shape == x.shape


def test_weights_begin_as_asked() -> None:
    ms.set_seed(1)
    weight = ms.Parameter(ms.ops.zeros((200, 100), ms.float32), name="w")
    timm_parts.lecun_normal_(weight)
    assert weight.asnumpy().std() == pytest.approx(0.1, rel=0.03)
    assert np.abs(weight.asnumpy()).max() < 0.1 / 0.8796 * 2 + 1e-6
    timm_parts.trunc_normal_tf_(weight, mean=1.0, std=0.5, a=-1.0, b=1.0)
    assert 0.5 <= weight.asnumpy().min() < weight.asnumpy().max() <= 1.5
    timm_parts.variance_scaling_(weight, 2.0, "fan_avg", "uniform")
    assert np.abs(weight.asnumpy()).max() == pytest.approx(np.sqrt(3 * 2 / 150), rel=0.01)
    with pytest.raises(ValueError, match="invalid distribution"):
        timm_parts.variance_scaling_(weight, distribution="cauchy")


def test_a_program_s_networks_are_found_by_name() -> None:
    @timm_parts.register_model
    def tiny_of_a_test(pretrained: bool = False, **options: int) -> ms.nn.Cell:
        return ms.nn.Dense(2, options.get("num_classes", 1)).set_train(False)

    network = timm_parts.create_model("tiny_of_a_test", num_classes=3, drop_rate=None)
    assert network.out_channels == 3
    assert network.training
    assert timm_parts.is_model("tiny_of_a_test")
    assert "tiny_of_a_test" in timm_parts.list_models("tiny*")
    with pytest.raises(RuntimeError, match=r"Unknown model \(resnet50\)"):
        timm_parts.create_model("resnet50")


def test_what_is_not_known_is_refused() -> None:
    with pytest.raises(TypeError, match="qkv_bias by its name"):
        timm_parts.Attention(8, 2, True)
    with pytest.raises(TypeError, match="representation_size"):
        timm_parts.VisionTransformer(16, 8, embed_dim=8, depth=1, num_heads=2, representation_size=4)
    with pytest.raises(AssertionError, match="doesn't match model"):
        timm_parts.PatchEmbed(16, 8)(ms.ops.ones((1, 3, 8, 16), ms.float32))
    with pytest.raises(ValueError, match="noise"):
        timm_parts.CosineLRScheduler(None, 3, noise_range_t=2)
    with pytest.raises(AssertionError, match="even"):
        timm_parts.Mixup()(ms.ops.ones((3, 3, 8, 8), ms.float32), ms.Tensor([0, 1, 2]))


def test_former_arguments() -> None:
    network = timm_parts.VisionTransformer(
        16, 8, num_classes=2, embed_dim=8, depth=1, num_heads=2, representation_size=None, distilled=False
    )
    assert network(ms.ops.ones((1, 3, 16, 16), ms.float32)).shape == (1, 2)
    block = timm_parts.Block(8, 2, drop=0.5, qk_scale=0.1)
    assert block.attn.scale == 0.1
    assert block.mlp.drop1.p == 0.5
    network.reset_classifier(5)
    assert network.get_classifier().out_channels == 5


def test_settings_and_constants() -> None:
    assert timm_parts.IMAGENET_DEFAULT_MEAN == (0.485, 0.456, 0.406)
    assert timm_parts.settings_of_weights("x", crop_pct=1.0)["crop_pct"] == 1.0
    names: list[str] = []
    timm_parts.named_apply(lambda module, name: names.append(name), timm_parts.Mlp(2))
    assert names == ["fc1", "act", "drop1", "norm", "fc2", "drop2"]
    meter = timm_parts.AverageMeter()
    meter.update(2.0, 3)
    meter.update(4.0)
    assert meter.avg == 2.5


def test_a_scaler_takes_the_step_of_the_loss_it_is_handed() -> None:
    weight = ms.Parameter(ms.Tensor(np.zeros(4, np.float32)), name="w")
    optimizer = optim.SGD([weight], lr=1.0)
    scaler = timm_parts.NativeScaler()
    grads = (ms.Tensor(np.full(4, 2.0, np.float32)),)
    gradients.hand_over([weight], grads)
    scaler(None, optimizer, need_update=False)
    assert (weight.asnumpy() == 0).all()
    gradients.hand_over([weight], grads)
    scaler(None, optimizer, clip_grad=1.0, parameters=[weight])
    assert np.allclose(weight.asnumpy(), -0.5, atol=1e-5)
    gradients.reset(optimizer)
    assert scaler.state_dict() == {}
    with pytest.raises(ValueError, match="agc"):
        scaler(None, optimizer, clip_grad=1.0, clip_mode="agc")


def test_optimizers_by_name_let_biases_and_norms_alone() -> None:
    network = ms.nn.SequentialCell(ms.nn.Dense(2, 3), ms.nn.LayerNorm((3,)))
    settings = Namespace(opt="adamw", lr=0.1, weight_decay=0.5, momentum=0.9, opt_eps=1e-7, opt_betas=None)
    made = timm_parts.create_optimizer(settings, network)
    assert [(float(g["weight_decay"]), len(g["params"])) for g in made.param_groups] == [(0.0, 3), (0.5, 1)]
    assert type(made).__name__ == "AdamW"
    plain = timm_parts.create_optimizer_v2(network, "momentum", lr=0.2, weight_decay=0.5, filter_bias_and_bn=False)
    assert [float(g["weight_decay"]) for g in plain.param_groups] == [0.5]
    assert not plain.param_groups[0]["nesterov"]
    groups = timm_parts.add_weight_decay(network, 0.3, ["0.weight"])
    assert [len(group["params"]) for group in groups] == [4]
    with pytest.raises(ValueError, match="lamb"):
        timm_parts.create_optimizer_v2(network, "lamb")
