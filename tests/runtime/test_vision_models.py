"""Classifiers asked for by name: their size, their parts by torchvision's names, and where trained weights are."""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path

import mindspore as ms
import numpy as np
import pytest

from torch2ms.runtime import modules, vision, vision_models


def size(network: ms.nn.Cell) -> int:
    return sum(weight.size for weight in network.trainable_params())


SIZES = {
    "resnet18": 11_689_512, "resnet50": 25_557_032, "resnext50_32x4d": 25_028_904, "squeezenet1_0": 1_248_424,
    "squeezenet1_1": 1_235_496, "densenet121": 7_978_856, "mobilenet_v2": 3_504_872, "mobilenet_v3_small": 2_542_856,
    "mobilenet_v3_large": 5_483_032, "shufflenet_v2_x0_5": 1_366_792, "shufflenet_v2_x1_0": 2_278_604,
    "mnasnet0_5": 2_218_512, "mnasnet1_0": 4_383_312, "googlenet": 13_004_888, "efficientnet_b0": 5_288_548,
    "efficientnet_b1": 7_794_184, "regnet_y_400mf": 4_344_144, "regnet_x_400mf": 5_495_976,
}  # fmt: skip
LARGE = {
    "inception_v3": 27_161_264, "densenet161": 28_681_000, "densenet201": 20_013_928, "mnasnet1_3": 6_282_256,
    "shufflenet_v2_x2_0": 7_393_996, "efficientnet_b5": 30_389_784, "efficientnet_v2_s": 21_458_488,
    "convnext_tiny": 28_589_128, "vit_b_16": 86_567_656, "vit_b_32": 88_224_232, "swin_t": 28_288_354,
    "swin_v2_t": 28_351_570, "regnet_y_3_2gf": 19_436_338, "regnet_x_8gf": 39_572_648,
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "weights"),
    [*SIZES.items(), *(pytest.param(*pair, marks=pytest.mark.slow) for pair in LARGE.items())],
)
def test_sizes_are_those_of_the_papers_code(name: str, weights: int) -> None:
    assert size(vision_models.MODELS[name]()) == weights


def test_parts_have_the_usual_names_and_can_be_replaced() -> None:
    network = vision_models.resnet18(num_classes=5)
    assert network.training
    assert network.fc.in_features == 512
    network.fc = ms.nn.Dense(network.fc.in_features, 2)
    network.conv1 = ms.nn.Conv2d(1, 64, 7, 2, pad_mode="pad", padding=3)
    assert network(ms.Tensor(np.zeros((2, 1, 32, 32), np.float32))).shape == (2, 2)
    names = {weight.name for weight in network.get_parameters()}
    assert {"layer2.0.downsample.0.weight", "layer4.1.bn2.moving_mean"} <= names


@pytest.mark.parametrize(("name", "last"), [("resnet18", "bn2"), ("resnet50", "bn3")])
def test_blocks_may_start_as_their_shortcuts(name: str, last: str) -> None:
    network = vision_models.MODELS[name](zero_init_residual=True)
    assert not getattr(network.layer3[0], last).gamma.asnumpy().any()
    assert network.layer3[0].bn1.gamma.asnumpy().all()


def test_plain_networks() -> None:
    network = vision_models.VGG(vision_models.make_layers([8, "M", 512, "M"], True), num_classes=3)
    assert network(ms.Tensor(np.zeros((1, 3, 16, 16), np.float32))).shape == (1, 3)
    assert [type(cell).__name__ for cell in network.features][:4] == ["Conv2d", "BatchNorm2d", "ReLU", "MaxPool2d"]


def test_networks_are_found_by_name() -> None:
    assert {"alexnet", "googlenet", "mobilenet_v2"} <= set(vision_models.list_models())
    assert vision_models.list_models("dense*", exclude=["*161", "*201"]) == ["densenet121", "densenet169"]
    assert vision_models.get_model_builder("MobileNet_V2") is vision_models.mobilenet_v2
    assert vision_models.get_model("squeezenet1_1", num_classes=4).num_classes == 4
    with pytest.raises(ValueError, match="Unknown model lenet"):
        vision_models.get_model("lenet")


def test_classes_are_bases_of_a_program_s_own() -> None:
    class Pyramid(vision_models.ResNet):
        def __init__(self) -> None:
            super().__init__(vision_models.BasicBlock, [1, 1, 1, 1], num_classes=2)

        def _forward_impl(self, x: ms.Tensor) -> ms.Tensor:
            return self.layer1(self.relu(self.bn1(self.conv1(x))))

    network = Pyramid()
    assert network.training
    assert network.layer4.training
    assert network(ms.Tensor(np.zeros((1, 3, 16, 16), np.float32))).shape == (1, 64, 8, 8)


def spread(weight: ms.Tensor) -> float:
    return float(weight.asnumpy().std())


def test_weights_begin_as_torchvision_draws_them() -> None:
    network = vision_models.mobilenet_v2(num_classes=50)
    assert spread(network.features[2].conv[0][0].weight) == pytest.approx((2 / 96) ** 0.5, rel=0.1)  # by fan out
    assert spread(network.classifier[1].weight) == pytest.approx(0.01, rel=0.05)
    assert not network.classifier[1].bias.asnumpy().any()
    network = vision_models.squeezenet1_1()
    assert spread(network.features[0].weight) == pytest.approx((2 / 27) ** 0.5, rel=0.1)
    assert spread(network.classifier[1].weight) == pytest.approx(0.01, rel=0.05)
    network = vision_models.efficientnet_b0(num_classes=4)
    assert np.abs(network.classifier[1].weight.asnumpy()).max() == pytest.approx(0.5, rel=0.05)
    network = vision_models.ConvNeXt([vision_models.CNBlockConfig(32, None, 2)])
    assert spread(network.classifier[2].weight) == pytest.approx(0.02, rel=0.05)
    assert np.allclose(network.features[1][0].layer_scale.asnumpy(), 1e-6)


def test_frozen_normalizations_have_no_parameters() -> None:
    network = vision_models.ResNet(vision_models.BasicBlock, [1, 1, 1, 1], norm_layer=vision.FrozenBatchNorm2d)
    names = [name for name, _ in modules.named_parameters(network.layer1)]
    assert names == ["0.conv1.weight", "0.conv2.weight"]
    state = modules.state_dict(network.bn1)
    assert list(state) == ["weight", "bias", "running_mean", "running_var"]


def test_the_backbone_for_segmentation_is_a_trained_one_unless_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TORCH2MS_WEIGHTS", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"mobilenet_v3_large\.ckpt"):
        vision_models.lraspp_mobilenet_v3_large(num_classes=2)
    with pytest.raises(ValueError, match="aux_loss"):
        vision_models.fcn_resnet50(pretrained=True, aux_loss=False)
    network = vision_models.lraspp_mobilenet_v3_large(weights_backbone=None)
    assert size(network) == 3_221_538
    found = network.set_train(False)(ms.Tensor(np.zeros((1, 3, 32, 40), np.float32)))
    assert {name: value.shape for name, value in found.items()} == {"out": (1, 21, 32, 40)}
    assert "lraspp_mobilenet_v3_large" in vision_models.list_models()
    assert "lraspp_mobilenet_v3_large" not in vision_models.MODELS


def test_a_transformer_takes_pictures_of_its_size() -> None:
    network = vision_models.VisionTransformer(16, 8, 1, 2, 8, 16, num_classes=3)
    assert not network.heads.head.weight.asnumpy().any()  # it begins with no opinion
    assert network(ms.Tensor(np.ones((2, 3, 16, 16), np.float32))).shape == (2, 3)
    with pytest.raises(AssertionError, match="Wrong image width! Expected 16 but got 24!"):
        network(ms.Tensor(np.ones((2, 3, 16, 24), np.float32)))


def test_inception_gives_auxiliary_logits_in_training_alone() -> None:
    network = vision_models.GoogLeNet(num_classes=3, init_weights=False)
    x = ms.Tensor(np.zeros((2, 3, 48, 48), np.float32))
    found = network(x)
    assert type(found).__name__ == "GoogLeNetOutputs"
    assert [one.shape for one in (found.logits, found.aux_logits2, found.aux_logits1)] == [(2, 3)] * 3
    assert network.set_train(False)(x).shape == (2, 3)


def test_trained_inception_has_auxiliary_logits_where_they_are_wanted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TORCH2MS_WEIGHTS", str(tmp_path))
    ms.save_checkpoint(vision_models.GoogLeNet(num_classes=2, init_weights=False), str(tmp_path / "googlenet.ckpt"))
    network = vision_models.googlenet(pretrained=True, num_classes=2)
    assert network.transform_input
    assert not network.aux_logits
    assert network.aux1 is None
    assert "aux1" not in network.name_cells()
    assert vision_models.googlenet(pretrained=True, num_classes=2, aux_logits=True).aux2 is not None


def test_trained_weights_are_read_not_downloaded(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setenv("TORCH2MS_WEIGHTS", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"resnet18\.ckpt"):
        vision_models.resnet18(pretrained=True)
    network = vision_models.resnet18(num_classes=2)
    ms.save_checkpoint(network, str(tmp_path / "resnet18.ckpt"))
    again = vision_models.resnet18(weights=vision_models.TRAINED, num_classes=2)
    assert np.array_equal(again.fc.weight.asnumpy(), network.fc.weight.asnumpy())


def test_the_outputs_of_some_children() -> None:
    network = ms.nn.SequentialCell(
        OrderedDict(a=ms.nn.Dense(3, 4), b=ms.nn.ReLU(), c=ms.nn.Dense(4, 2), d=ms.nn.Dense(2, 2))
    )
    stages = vision_models.IntermediateLayerGetter(network, {"a": "first", "c": 2})
    x = ms.Tensor(np.ones((2, 3), np.float32))
    found = stages(x)
    assert list(found) == ["first", 2]
    assert found["first"].shape == (2, 4)
    assert np.array_equal(found[2].asnumpy(), network.c(network.b(network.a(x))).asnumpy())
    assert {weight.name for weight in stages.trainable_params()} == {"a.weight", "a.bias", "c.weight", "c.bias"}
    with pytest.raises(ValueError, match="not present in model: e"):
        vision_models.IntermediateLayerGetter(network, {"e": 1})


def make_stages() -> ms.nn.Cell:
    inner = ms.nn.SequentialCell(OrderedDict(a=ms.nn.Dense(4, 4), b=ms.nn.ReLU()))
    return ms.nn.SequentialCell(OrderedDict(stem=ms.nn.Dense(3, 4), block=inner, drop=ms.nn.Dropout(p=0.5)))


def test_feature_extractor_gives_layers_by_their_paths() -> None:
    network = make_stages()
    network.set_train(False)
    x = ms.Tensor(np.ones((2, 3), np.float32))
    stages = vision_models.create_feature_extractor(network, ["block.a", "block", "stem"])
    found = stages(x)
    assert list(found) == ["block.a", "block", "stem"]
    stem = network.stem(x)
    assert np.array_equal(found["stem"].asnumpy(), stem.asnumpy())
    assert np.array_equal(found["block"].asnumpy(), network.block(stem).asnumpy())
    names = [parameter.name for parameter in network.get_parameters()]
    assert [parameter.name for parameter in stages.get_parameters()] == names
    assert [name for name, _ in stages.parameters_and_names()] == [name for name, _ in network.parameters_and_names()]

    weights = [network.stem.weight]

    def loss(x: ms.Tensor) -> ms.Tensor:
        return (stages(x)["block"] ** 2).sum()

    def plain(x: ms.Tensor) -> ms.Tensor:
        return (network.block(network.stem(x)) ** 2).sum()

    ours, theirs = (ms.value_and_grad(function, None, weights)(x)[1][0].asnumpy() for function in (loss, plain))
    assert np.array_equal(ours, theirs)


def test_feature_extractor_has_nodes_for_each_mode() -> None:
    network = make_stages()
    create = vision_models.create_feature_extractor
    stages = create(network, train_return_nodes={"stem": "low"}, eval_return_nodes={"block": "high"})
    x = ms.Tensor(np.ones((2, 3), np.float32))
    assert list(stages.set_train(True)(x)) == ["low"]
    assert network.drop.training
    assert list(stages.set_train(False)(x)) == ["high"]
    assert not network.drop.training
    with pytest.raises(ValueError, match=r"not layers of the network: add_1"):
        create(network, ["stem", "add_1"])
    with pytest.raises(ValueError, match="give return_nodes, or both"):
        create(network, train_return_nodes=["stem"])
