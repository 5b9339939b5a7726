"""timm's small parts against timm's own source: outputs, gradients, names of weights, rates, mixes, averages."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from argparse import Namespace
from functools import partial
from pathlib import Path
from typing import Any

import mindspore as ms
import numpy as np
import pytest
from mindspore.experimental import optim

from torch2ms.runtime import layers, timm_parts, weights
from torch2ms.weights import table_rules

pytestmark = [pytest.mark.slow, pytest.mark.corpus]

# The code of a layer, the shapes of its inputs, and for losses the number of classes
CASES: dict[str, dict[str, Any]] = {
    "mlp": {"code": "Mlp(6, 12, 5, norm_layer=nn.LayerNorm)", "shapes": [[2, 3, 6]]},
    "mlp_conv": {"code": "Mlp(6, use_conv=True, bias=(True, False), act_layer=nn.ReLU)", "shapes": [[2, 6, 4, 3]]},
    "glu": {"code": "GluMlp(6, 12, gate_last=False)", "shapes": [[2, 3, 6]]},
    "swiglu": {"code": "SwiGLU(6, 10, align_to=8)", "shapes": [[2, 3, 6]]},
    "conv_mlp": {"code": "ConvMlp(4, 8, norm_layer=LayerNorm2d)", "shapes": [[2, 4, 5, 3]]},
    "grn": {"code": "GlobalResponseNorm(4)", "shapes": [[2, 5, 3, 4]]},
    "grn_mlp": {"code": "GlobalResponseNormMlp(4, 8, use_conv=True)", "shapes": [[2, 4, 5, 3]]},
    "norm": {"code": "LayerNorm(7)", "shapes": [[3, 7]]},
    "norm_2d": {"code": "LayerNorm2d(4)", "shapes": [[2, 4, 5, 3]]},
    "group": {"code": "GroupNorm(8, 4)", "shapes": [[2, 8, 5]]},
    "group_1": {"code": "GroupNorm1(8)", "shapes": [[2, 8, 5]]},
    "scale": {"code": "LayerScale(5, 0.3)", "shapes": [[2, 3, 5]]},
    "scale_2d": {"code": "LayerScale2d(5)", "shapes": [[2, 5, 3, 3]]},
    "squeeze": {"code": "SEModule(16, rd_ratio=0.25)", "shapes": [[2, 16, 5, 4]]},
    "squeeze_max": {
        "code": "SqueezeExcite(12, add_maxpool=True, norm_layer=nn.BatchNorm2d, gate_layer='hard_sigmoid')",
        "shapes": [[2, 12, 5, 4]],
    },
    "patches": {"code": "PatchEmbed(12, 4, 3, 6, norm_layer=nn.LayerNorm)", "shapes": [[2, 3, 12, 12]]},
    "patches_padded": {
        "code": "PatchEmbed((12, 8), 4, 2, 6, output_fmt='NHWC', strict_img_size=False, dynamic_img_pad=True)",
        "shapes": [[2, 2, 10, 7]],
    },
    "attention": {
        "code": "Attention(12, 3, qkv_bias=True, qk_norm=True, scale_norm=True, norm_layer=LayerNorm, gated=True)",
        "shapes": [[2, 5, 12]],
    },
    "attention_plain": {"code": "Attention(12, num_heads=2, dim_out=8, attn_head_dim=4)", "shapes": [[2, 5, 12]]},
    "attention_masked": {"code": "Attention(12, num_heads=2)", "shapes": [[2, 5, 12], [5, 5]]},
    "block": {"code": "Block(12, 3, qkv_bias=True, init_values=0.1, scale_mlp_norm=True)", "shapes": [[2, 5, 12]]},
    "pool": {"code": "SelectAdaptivePool2d(pool_type='catavgmax', flatten=True)", "shapes": [[2, 3, 5, 4]]},
    "pool_fast": {"code": "SelectAdaptivePool2d()", "shapes": [[2, 3, 5, 4]]},
    "pool_2": {"code": "SelectAdaptivePool2d((2, 1), 'avgmax')", "shapes": [[2, 3, 4, 4]]},
    "vit": {
        "code": "VisionTransformer(16, 4, 3, 5, embed_dim=12, depth=2, num_heads=3, reg_tokens=1, init_values=0.2)",
        "shapes": [[2, 3, 16, 16]],
    },
    "vit_mean": {
        "code": "VisionTransformer(16, 8, 3, 5, 'avg', 12, 1, 3, class_token=False, weight_init='jax_nlhb', "
        "norm_layer=partial(nn.LayerNorm, eps=1e-5), pre_norm=True, no_embed_class=True)",
        "shapes": [[2, 3, 16, 16]],
    },
    "smoothed": {"code": "LabelSmoothingCrossEntropy(0.2)", "shapes": [[4, 5]], "classes": 5},
    "soft": {"code": "SoftTargetCrossEntropy()", "shapes": [[4, 5], [4, 5]]},
    "binary": {"code": "BinaryCrossEntropy(0.1)", "shapes": [[4, 5]], "classes": 5},
    "binary_cut": {
        "code": "BinaryCrossEntropy(target_threshold=0.2, sum_classes=True, pos_weight=2.0)",
        "shapes": [[4, 5], [4, 5]],
    },
    "views": {"code": "JsdCrossEntropy(3, 12, 0.1)", "shapes": [[12, 5]], "classes": 5},
}  # fmt: skip
RATES = [
    "CosineLRScheduler(optimizer, 10, 0.01, warmup_t=3, warmup_lr_init=0.001)",
    "CosineLRScheduler(optimizer, 4, cycle_mul=2.0, cycle_decay=0.5, cycle_limit=3, warmup_t=2, warmup_prefix=True)",
    "CosineLRScheduler(optimizer, t_initial=40, t_in_epochs=False, k_decay=1.5)",
    "StepLRScheduler(optimizer, decay_t=5, decay_rate=0.3, warmup_t=4)",
    "MultiStepLRScheduler(optimizer, decay_t=[4, 9], decay_rate=0.1, warmup_t=2, warmup_lr_init=0.1)",
    "PolyLRScheduler(optimizer, 12, power=0.9, lr_min=0.02, warmup_t=2)",
    "create_scheduler(Namespace(sched='cosine', epochs=15, min_lr=1e-3, warmup_epochs=3), optimizer)[0]",
    "create_scheduler(Namespace(sched='step', epochs=15, decay_epochs=4, decay_rate=0.5), optimizer)[0]",
    "create_scheduler(Namespace(sched='multistep', decay_milestones=[5, 9], warmup_epochs=1), optimizer)[0]",
    "create_scheduler(Namespace(sched='poly', epochs=9, sched_on_updates=True, decay_rate=0.9), optimizer, 3)[0]",
]
MIXED: list[dict[str, Any]] = [
    {}, {"cutmix_alpha": 1.0, "label_smoothing": 0.0}, {"cutmix_alpha": 1.0, "mode": "pair"},
    {"cutmix_alpha": 1.0, "mode": "elem", "prob": 0.7}, {"mixup_alpha": 0.0, "cutmix_minmax": [0.2, 0.8]},
    {"mixup_alpha": 0.0, "cutmix_alpha": 0.5, "mode": "elem", "correct_lam": False},
]  # fmt: skip
PLAIN = [
    "to_2tuple(3), to_2tuple([1, 2]), to_3tuple('ab'), to_ntuple(1)(2)", "extend_tuple([1, 2], 4), extend_tuple(3, 2)",
    "[make_divisible(x, d) for x in (1, 17, 20, 30.5, 100) for d in (4, 8)], make_divisible(7, 8, 16, 0.5)",
    "get_padding(3), get_padding(5, 2), get_padding((3, 5), 1, (1, 2))",
    "[create_scheduler(Namespace(sched=s, epochs=9, warmup_prefix=True, cooldown_epochs=4), optimizer)[1] for s in "
    "('cosine', 'step', 'none')]",
    "calculate_drop_path_rates(0.3, 4), calculate_drop_path_rates(0.2, [2, 3], stagewise=True)",
]  # fmt: skip


class _Words:
    """The names of a case on this side."""

    LayerNorm, BatchNorm2d, ReLU = layers.LayerNorm, layers.BatchNorm2d, layers.ReLU


NAMES = {
    **{name: getattr(timm_parts, name) for name in timm_parts.__all__},
    "GluMlp": timm_parts.GatedMlp, "SEModule": timm_parts.SqueezeExcite, "nn": _Words, "partial": partial,
    "Namespace": Namespace,
}  # fmt: skip


@pytest.fixture(scope="module")
def theirs(corpus: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder with timm's answers."""
    source = corpus("timm")
    folder = tmp_path_factory.mktemp("timm")
    cases = {
        "layers": [{"name": name, **case} for name, case in CASES.items()], "rates": RATES, "mixed": MIXED,
        "plain": PLAIN, "average": ["ModelEma", "ModelEmaV2"],
    }  # fmt: skip
    (folder / "cases.json").write_text(json.dumps(cases))
    worker = Path(__file__).with_name("timm_side.py")
    command = [sys.executable, str(worker), str(source.parent if source.name == "timm" else source), str(folder)]
    place = {**os.environ, "OMP_NUM_THREADS": "2"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=place)
    assert done.returncode == 0, done.stderr[-2000:]
    return folder


@pytest.fixture(scope="module")
def plain(theirs: Path) -> dict[str, Any]:
    return dict(json.loads((theirs / "plain.json").read_text()))


@pytest.mark.parametrize("name", CASES)
def test_layers_compute_the_same(name: str, theirs: Path) -> None:
    network = eval(CASES[name]["code"], dict(NAMES))
    keys = weights.key_map(network, table_rules())
    assert not keys.problems
    with np.load(theirs / f"{name}.npz") as archive:
        data = dict(archive)
    given = {key[8:]: weights.Value(value, str(value.dtype)) for key, value in data.items() if key[:8] == "weights/"}
    values, _ = weights.from_torch(keys, given)
    for entry in keys.entries:
        entry.tensor.set_data(ms.Tensor(values[entry.mindspore].array))
    assert {entry.torch for entry in keys.entries} == set(given) - set(keys.dropped)
    inputs = [ms.Tensor(data[f"in/{place}"]) for place in range(sum(key.startswith("in/") for key in data))]
    network.set_train(False)

    def loss(first: ms.Tensor) -> Any:
        out = network(first, *inputs[1:])
        return (out * ms.Tensor(np.cos(np.arange(out.size)).reshape(out.shape).astype(np.float32))).sum(), out

    trained = network.trainable_params()
    position = (0, trained) if trained else (0, None)
    (_, out), gradients = ms.value_and_grad(loss, *position, has_aux=True)(inputs[0])
    to_input, grads = gradients if trained else (gradients, ())
    found = {"out": out.asnumpy(), "grad/input": to_input.asnumpy()}
    by_identity = {id(parameter): grad.asnumpy() for parameter, grad in zip(trained, grads, strict=True)}
    for entry in keys.entries:
        if id(entry.tensor) in by_identity:
            found[f"grad/{entry.torch}"] = weights.restore(entry, by_identity[id(entry.tensor)])
    assert {f"32/{key}" for key in found} == {key for key in data if key.startswith("32/")}
    for key, value in found.items():
        wanted, floor = data[f"64/{key}"], np.abs(data[f"32/{key}"] - data[f"64/{key}"]).max()
        size = max(np.abs(wanted).max(), 1e-2)
        assert value.shape == wanted.shape, key
        assert np.abs(value - wanted).max() <= max(4 * floor, 2e-6 * size), key


@pytest.mark.parametrize("code", RATES)
def test_rates(code: str, plain: dict[str, Any]) -> None:
    optimizer = optim.SGD([ms.Parameter(ms.Tensor([0.0]), name="x")], lr=0.4)
    schedule = eval(code, {**NAMES, "optimizer": optimizer})
    found = [float(optimizer.param_groups[0]["lr"])]
    for epoch in range(25):
        schedule.step(epoch)
        schedule.step_update(3 * epoch)
        found.append(float(optimizer.param_groups[0]["lr"]))
    assert found == pytest.approx(plain["rates"][code], rel=1e-6)


@pytest.mark.parametrize("place", range(len(MIXED)))
def test_mixes(place: int, plain: dict[str, Any]) -> None:
    np.random.seed(3)
    mix = timm_parts.Mixup(num_classes=5, **MIXED[place])
    for batch in range(3):
        x = ms.Tensor(np.arange(4 * 3 * 8 * 8, dtype=np.float32).reshape(4, 3, 8, 8) / 100 + batch)
        images, targets = mix(x, ms.Tensor([0, 3, 4, 1]))
        assert np.allclose(images.asnumpy(), plain["mixed"][place][batch][0], rtol=1e-6)
        assert np.allclose(targets.asnumpy(), plain["mixed"][place][batch][1], atol=1e-6)


@pytest.mark.parametrize("code", ["ModelEma", "ModelEmaV2"])
def test_averages(code: str, plain: dict[str, Any]) -> None:
    network = ms.nn.SequentialCell(ms.nn.Dense(2, 2), ms.nn.BatchNorm1d(2))
    for value in network.trainable_params():
        value.set_data(ms.Tensor(np.arange(value.size, dtype=np.float32).reshape(value.shape)))
    kept = getattr(timm_parts, code)(network, decay=0.75)
    for value in [*network.trainable_params(), network[1].moving_mean]:
        value.set_data(value + 1)
    kept.update(network)
    kept.update(network)
    inner = kept.ema if code == "ModelEma" else kept.module
    found = [value.asnumpy() for name, value in inner.parameters_and_names()]
    wanted = plain["average"][code]
    assert sorted(one.tolist() for one in found if one.ndim == 1) == sorted(one for one in wanted if np.ndim(one) == 1)
    assert [one.tolist() for one in found if one.ndim == 2] == [one for one in wanted if np.ndim(one) == 2]


@pytest.mark.parametrize("code", PLAIN)
def test_plain_python(code: str, plain: dict[str, Any]) -> None:
    optimizer = optim.SGD([ms.Parameter(ms.Tensor([0.0]), name="x")], lr=0.4)
    assert json.loads(json.dumps(eval(code, {**NAMES, "optimizer": optimizer}))) == plain["plain"][code]


def test_accuracy(plain: dict[str, Any]) -> None:
    output = ms.Tensor(np.sin(np.arange(48.0)).reshape(8, 6).astype(np.float32))
    found = timm_parts.accuracy(output, ms.Tensor([0, 1, 2, 3, 4, 5, 0, 1]), (1, 3, 9))
    assert [float(one) for one in found] == pytest.approx(plain["accuracy"])
