"""Networks asked for by name against torchvision's own source: parts, outputs, gradients and statistics."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import mindspore as ms
import numpy as np
import pytest

from tests.sampling import sampled
from torch2ms.runtime import layers, vision_models, weights
from torch2ms.runtime.vision import blocks
from torch2ms.verify.figures import judge
from torch2ms.weights import table_rules

pytestmark = [pytest.mark.slow, pytest.mark.corpus]
SEEDS = (0, 1, 2)
BOTH, EVAL, TRAIN = (False, True), (False,), (True,)

# Small relatives of each family, in torchvision's own words
CASES: dict[str, tuple[str, str, tuple[int, ...], tuple[bool, ...]]] = {
    "resnet": ("models.resnet", "ResNet(Bottleneck, [1, 1, 1, 1], 5, groups=2, width_per_group=8, "
               "replace_stride_with_dilation=[False, True, True])", (2, 3, 40, 48), BOTH),
    "resnet_basic": ("models.resnet", "ResNet(BasicBlock, [1, 2, 1, 1], 4, zero_init_residual=True)",
                     (2, 3, 64, 64), BOTH),
    "vgg": ("models.vgg", "VGG(make_layers([8, 'M', 16, 'M', 512, 'M'], True), 3)", (1, 3, 56, 56), EVAL),
    "squeezenet": ("models.squeezenet", "SqueezeNet('1_0', 7)", (2, 3, 65, 70), BOTH),
    "squeezenet_1": ("models.squeezenet", "squeezenet1_1(num_classes=7)", (2, 3, 64, 64), BOTH),
    "densenet": ("models.densenet", "DenseNet(8, (2, 3, 2, 2), 16, num_classes=6, drop_rate=0.3)",
                 (2, 3, 64, 64), BOTH),
    "mobilenet_v2": ("models.mobilenetv2", "mobilenet_v2(num_classes=5, width_mult=0.35)", (2, 3, 64, 64), BOTH),
    "mobilenet_v3": ("models.mobilenetv3", "mobilenet_v3_small(num_classes=5, width_mult=0.5)",
                     (2, 3, 64, 64), BOTH),
    "mobilenet_v3_large": ("models.mobilenetv3", "mobilenet_v3_large(num_classes=5, width_mult=0.35, "
                           "reduced_tail=True, dilated=True)", (2, 3, 64, 64), BOTH),
    "mnasnet": ("models.mnasnet", "MNASNet(0.35, 5)", (8, 3, 48, 48), BOTH),
    "shufflenet": ("models.shufflenetv2", "ShuffleNetV2([2, 2, 2], [8, 16, 32, 64, 128], 5)", (2, 3, 64, 64), BOTH),
    "googlenet": ("models.googlenet", "googlenet(num_classes=5, transform_input=True, init_weights=False)",
                  (6, 3, 64, 64), BOTH),
    "googlenet_plain": ("models.googlenet", "googlenet(num_classes=5, aux_logits=False, init_weights=False)",
                        (6, 3, 72, 64), BOTH),
    "inception": ("models.inception", "inception_v3(num_classes=5, transform_input=True, init_weights=False)",
                  (2, 3, 96, 80), EVAL),
    "inception_aux": ("models.inception", "inception_v3(num_classes=5, init_weights=False)",
                      (2, 3, 299, 299), TRAIN),
    "efficientnet": ("models.efficientnet", "EfficientNet([MBConvConfig(1, 3, 1, 16, 8, 1), "
                     "MBConvConfig(4, 5, 2, 8, 16, 2)], 0.2, num_classes=5)", (2, 3, 48, 48), BOTH),
    "efficientnet_v2": ("models.efficientnet", "EfficientNet([FusedMBConvConfig(1, 3, 1, 16, 16, 2), "
                        "FusedMBConvConfig(4, 3, 2, 16, 24, 2), MBConvConfig(4, 3, 2, 24, 32, 2)], 0.2, "
                        "num_classes=5, last_channel=40, norm_layer=partial(nn.BatchNorm2d, eps=1e-3))",
                        (2, 3, 48, 48), BOTH),
    "convnext": ("models.convnext", "ConvNeXt([CNBlockConfig(16, 24, 2), CNBlockConfig(24, None, 2)], 0.1, "
                 "num_classes=5)", (2, 3, 48, 48), BOTH),
    "regnet": (
        "models.regnet",
        "RegNet(BlockParams.from_init_params(6, 16, 9.0, 2.2, 8, se_ratio=0.25), 5, stem_width=8)",
        (2, 3, 64, 64),
        BOTH,
    ),
    "vit": (
        "models.vision_transformer",
        "VisionTransformer(32, 8, 2, 4, 16, 32, 0.1, 0.1, 5, representation_size=12)",
        (2, 3, 32, 32),
        BOTH,
    ),
    "vit_stem": (
        "models.vision_transformer",
        "VisionTransformer(32, 8, 1, 2, 16, 32, num_classes=5, conv_stem_configs=[ConvStemConfig(8, 3, 4), "
        "ConvStemConfig(12, 3, 2)])",
        (2, 3, 32, 32),
        BOTH,
    ),
    "swin": (
        "models.swin_transformer",
        "SwinTransformer([2, 2], 8, [2, 2], [2, 4], [4, 3], num_classes=5, attention_dropout=0.0)",
        (2, 3, 34, 28),
        BOTH,
    ),
    "swin_v2": (
        "models.swin_transformer",
        "SwinTransformer([2, 2], 8, [2, 2], [2, 4], [4, 4], num_classes=5, block=SwinTransformerBlockV2, "
        "downsample_layer=PatchMergingV2)",
        (2, 3, 32, 40),
        BOTH,
    ),
    "fcn": (
        "models.segmentation.fcn",
        "FCN(IntermediateLayerGetter(ResNet(BasicBlock, [1, 1, 1, 1]), {'layer4': 'out', 'layer3': 'aux'}), "
        "FCNHead(512, 4), FCNHead(256, 4))",
        (2, 3, 40, 56),
        BOTH,
    ),
    "deeplab": (
        "models.segmentation.deeplabv3",
        "DeepLabV3(IntermediateLayerGetter(ResNet(BasicBlock, [1, 1, 1, 1]), {'layer3': 'out'}), "
        "DeepLabHead(256, 4, (2, 3)))",
        (2, 3, 40, 48),
        BOTH,
    ),
    "lraspp": (
        "models.segmentation.lraspp",
        "lraspp_mobilenet_v3_large(weights=None, weights_backbone=None, num_classes=4)",
        (2, 3, 40, 48),
        EVAL,
    ),
    "deeplab_mobilenet": (
        "models.segmentation.deeplabv3",
        "deeplabv3_mobilenet_v3_large(weights=None, weights_backbone=None, aux_loss=True)",
        (1, 3, 48, 40),
        EVAL,
    ),
    "frozen": ("models.resnet", "ResNet(BasicBlock, [1, 1, 1, 1], 3, "
               "norm_layer=__import__('torchvision.ops.misc', fromlist=['x']).FrozenBatchNorm2d)",
               (1, 3, 48, 48), EVAL),
}  # fmt: skip

FULL = sampled(vision_models.list_models(), 2)


class _Words:
    """The names of a case on this side."""

    BatchNorm2d = layers.BatchNorm2d


def build(code: str) -> ms.nn.Cell:
    scope = {**vars(vision_models), "partial": partial, "nn": _Words}
    text = code.replace("__import__('torchvision.ops.misc', fromlist=['x'])", "blocks")
    return eval(text, {**scope, "blocks": blocks})


@pytest.fixture(scope="module")
def theirs(corpus: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Return a function that lets torchvision answer, in one process for all, and gives the folder."""
    source = corpus("torchvision")
    source = source / "torchvision" if (source / "torchvision").is_dir() else source
    folder = tmp_path_factory.mktemp("torchvision")
    worker = Path(__file__).with_name("torchvision_models_side.py")
    place = {**os.environ, "OMP_NUM_THREADS": "2"}
    command = [sys.executable, str(worker), str(source), str(folder)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, bufsize=1, env=place) as running:
        given, told = running.stdin, running.stdout
        assert given is not None
        assert told is not None

        def ask(**asked: Any) -> Path:
            given.write(json.dumps(asked) + "\n")
            fault = json.loads(told.readline())
            assert not fault, fault
            return folder

        yield ask
        given.close()


def without_chance(network: ms.nn.Cell) -> None:
    for _, cell in network.cells_and_names():
        if isinstance(cell, layers.Dropout | blocks.StochasticDepth):
            cell.p = 0.0
        if isinstance(getattr(cell, "drop_rate", None), float):
            cell.drop_rate = 0.0


def outputs(value: Any) -> list[ms.Tensor]:
    if isinstance(value, ms.Tensor):
        return [value]
    return [part for one in (value.values() if isinstance(value, dict) else value) for part in outputs(one)]


def answer(network: ms.nn.Cell, keys: weights.KeyMap, x: np.ndarray, train: bool) -> dict[str, np.ndarray]:
    """Return outputs, gradients and statistics under torchvision's names."""
    network.set_train(train)
    trained = network.trainable_params()

    def loss(image: ms.Tensor) -> Any:
        found = outputs(network(image))
        total = sum(
            (one * ms.Tensor(np.cos(np.arange(one.size)).reshape(one.shape).astype(np.float32))).sum() for one in found
        )
        return (total, *found)

    (_, *found), grads = ms.value_and_grad(loss, None, trained, has_aux=True)(ms.Tensor(x))
    result = {f"out/{index}": one.asnumpy() for index, one in enumerate(found)}
    by_identity = {id(parameter): grad.asnumpy() for parameter, grad in zip(trained, grads, strict=True)}
    for entry in keys.entries:
        if id(entry.tensor) in by_identity:
            result[f"grad/{entry.torch}"] = weights.restore(entry, by_identity[id(entry.tensor)])
        elif train and "running" in entry.torch:
            result[f"state/{entry.torch}"] = entry.tensor.asnumpy()
    return result


def errors(ours: dict[str, np.ndarray], wanted: dict[str, np.ndarray]) -> dict[str, float]:
    """Return the errors of outputs and statistics, and of all gradients together."""
    found, squares, size = {}, 0.0, 0.0
    for name, value in wanted.items():
        difference = ours[name].astype(np.float64) - value
        if name.startswith("grad/"):
            squares, size = squares + float((difference**2).sum()), size + float((value**2).sum())
        else:
            found[name] = float(np.abs(difference).max() / max(np.abs(value).max(), 1e-30))
    return {**found, "gradients": (squares / max(size, 1e-30)) ** 0.5}


@pytest.mark.parametrize("name", sampled(CASES, 2))
def test_results_are_torchvisions(name: str, theirs: Any) -> None:
    family, code, shape, modes = CASES[name]
    folder = theirs(compare={"name": name, "family": family, "code": code, "shape": shape, "modes": modes})
    network = build(code)
    without_chance(network)
    keys = weights.key_map(network, table_rules())
    mine: dict[str, list[float]] = {}
    floors: dict[str, list[float]] = {}
    for seed in SEEDS:
        with np.load(folder / f"{name}.{seed}.npz") as archive:
            data = dict(archive)
        given = {
            key[8:]: weights.Value(value, str(value.dtype)) for key, value in data.items() if key[:8] == "weights/"
        }
        for train in modes:
            values, _ = weights.from_torch(keys, given)
            for entry in keys.entries:
                entry.tensor.set_data(ms.Tensor(values[entry.mindspore].array))
            mode = "train" if train else "eval"
            wanted, theirs32 = (
                {key[len(tag) :]: value for key, value in data.items() if key.startswith(tag)}
                for tag in (f"{mode}64/", f"{mode}32/")
            )
            ours = answer(network, keys, data["x"], train)
            assert set(ours) == set(wanted)
            for place, error in errors(ours, wanted).items():
                mine.setdefault(f"{mode} {place}", []).append(error)
            for place, error in errors(theirs32, wanted).items():
                floors.setdefault(f"{mode} {place}", []).append(error)
    figures = [judge("", place, found, floors[place]) for place, found in mine.items()]
    assert all(figure.passed for figure in figures), [figure for figure in figures if not figure.passed]


@pytest.fixture(scope="module")
def built(theirs: Any) -> dict[str, Any]:
    return dict(json.loads((theirs(build=FULL) / "built.json").read_text()))


@pytest.mark.parametrize("name", FULL)
def test_full_networks_are_made_of_the_same(name: str, built: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    from mindspore.common import initializer

    for kind in (initializer.HeUniform, initializer.Normal, initializer.TruncatedNormal, initializer.Uniform):
        monkeypatch.setattr(kind, "_initialize", lambda self, array: None, raising=False)
    options = {"weights_backbone": None} if name.startswith(("fcn", "deeplab", "lraspp")) else {}
    network = vision_models.get_model(name, weights=None, **options)
    keys = weights.key_map(network, table_rules())
    assert not keys.problems
    shapes = {entry.torch: list(weights.restore(entry, entry.tensor.asnumpy()).shape) for entry in keys.entries}
    wanted = built[name]
    assert shapes == {key: shape for key, shape in wanted["shapes"].items() if key not in keys.dropped}
    cells = dict(network.cells_and_names())
    plain = [path for path in cells if not path.endswith((".dropout", "dropout_")) or path in wanted["children"]]
    assert [path for path in wanted["children"] if path not in cells] == []
    assert [path for path in plain if path in set(wanted["children"])] == wanted["children"]
    for path, settings in wanted["settings"].items():
        cell = cells[path]
        if isinstance(cell, layers.Dropout | blocks.StochasticDepth):
            assert settings == [pytest.approx(cell.p)], path
        elif isinstance(cell, ms.nn.LayerNorm):
            assert settings == [pytest.approx(cell.epsilon)], path
        else:
            # MindSpore keeps 1 - momentum, which is what PyTorch calls momentum
            assert settings == [pytest.approx(cell.eps), pytest.approx(cell.momentum, rel=1e-4)], path
