"""The check itself is checked: a faithful twin passes, and every twin with one planted mistake fails."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from torch2ms.errors import InputError, UsageError, VerificationError
from torch2ms.verify import VerifyReport, verify

PAIR = Path(__file__).with_name("pair")
BATCH_NORM = {
    "weight": "gamma",
    "bias": "beta",
    "running_mean": "moving_mean",
    "running_var": "moving_variance",
    "num_batches_tracked": "",
}
RULES: dict[str, dict[str, Any]] = {
    "mindspore.nn.BatchNorm1d": {"state": BATCH_NORM, "reshape": {}},
    "mindspore.nn.BatchNorm2d": {"state": BATCH_NORM, "reshape": {}},
    "mindspore.nn.Conv1d": {"state": "same", "reshape": {"weight": "conv1d"}},
    "mindspore.nn.Conv2d": {"state": "same", "reshape": {}},
    "mindspore.nn.Dense": {"state": "same", "reshape": {}},
    "mindspore.nn.Embedding": {"state": {"weight": "embedding_table"}, "reshape": {}},
    "mindspore.nn.LayerNorm": {"state": {"weight": "gamma", "bias": "beta"}, "reshape": {}},
    "mindspore.nn.PReLU": {"state": {"weight": "w"}, "reshape": {}},
}
ADAM = "torch2ms.runtime.adam.Adam"
Run = Callable[..., VerifyReport]


def verified(output: Path = PAIR / "mindspore", **options: Any) -> VerifyReport:
    given: dict[str, Any] = {
        "entry": "net:Net", "inputs": ["4x3x16x16"], "rules": RULES, "seeds": (1,), "graph": False,
        "optimizer_target": ADAM,
    }  # fmt: skip
    return verify(PAIR / "torch", output, **{**given, **options})


@pytest.fixture
def run(share_workers: Callable[[], None]) -> Run:
    """Verify with the workers that are running already."""

    def shared(*given: Any, **options: Any) -> VerifyReport:
        share_workers()
        return verified(*given, **options)

    return shared


def planted(folder: Path, right: str, wrong: str) -> Path:
    text = (PAIR / "mindspore" / "net.py").read_text(encoding="utf-8")
    assert right in text
    (folder / "net.py").write_text(text.replace(right, wrong), encoding="utf-8")
    return folder


def failed(report: VerifyReport) -> set[str]:
    return {f"{figure.group}: {figure.name}" for figure in report.figures if not figure.passed}


@pytest.mark.slow
def test_a_faithful_twin_passes_in_every_figure(run: Run) -> None:
    report = run(seeds=(1, 2, 3), graph=True, train_steps=5, tolerance=2e-6)
    assert report.passed, report.to_text()
    groups = {figure.group for figure in report.figures}
    assert groups == {
        "outputs", "outputs, graph mode", "gradients, eval mode", "gradients, train mode without dropout",
        "training, 5 steps one by one", "training, 5 steps in free run",
    }  # fmt: skip
    assert report.facts["reference"] == "float64"
    assert len(report.curves["MindSpore"]) == 5


@pytest.mark.slow
@pytest.mark.parametrize("entry", ["Parts", "Single"])
def test_other_states_inputs_and_results(entry: str, run: Run) -> None:
    inputs = {"Parts": ["4x5:int64<11", "4x5:bool"], "Single": ["4x6"]}[entry]
    report = run(entry=f"net:{entry}", inputs=inputs, train_steps=2, loss="mse", optimizer="SGD(lr=0.1, momentum=0.9)",
                 optimizer_target="mindspore.experimental.optim.SGD", seeds=(1, 2, 3))  # fmt: skip
    assert report.passed, report.to_text()
    if entry == "Parts":
        names = {figure.name for figure in report.figures}
        assert {"output['hidden']", "output['logits'][0]", "output['logits'][1]"} <= names
    else:
        assert report.facts["reference"] == "float32"
        assert "perturbed by 1e-7" in report.notes[0]


@pytest.mark.slow
def test_a_layer_that_all_networks_of_a_class_share_is_copied(run: Run) -> None:
    report = run(entry="net:Shared", inputs=["4x6"], loss="mse", seeds=(1, 2, 3))
    assert report.passed, report.to_text()
    assert report.facts["reference"] == "float64"


@pytest.mark.slow
def test_a_gradient_that_pytorch_gets_wrong_is_no_reference(run: Run) -> None:
    report = run(entry="net:Tokens", inputs=["1x3x4x4"], loss="mse", seeds=(1, 2, 3))
    assert report.passed, report.to_text()


@pytest.mark.slow
def test_complex_weights_stay_complex_and_their_gradients_are_compared(run: Run) -> None:
    report = run(entry="net:Waves", inputs=["4x6"])
    assert report.passed, report.to_text()
    assert report.facts["reference"] == "float64"
    assert "worst single parameter" in {figure.name for figure in report.figures}


@pytest.mark.slow
def test_a_gradient_that_is_no_number_in_pytorch_is_named(tmp_path: Path) -> None:
    source, output = tmp_path / "torch", tmp_path / "mindspore"
    for folder, name in ((source, "torch"), (output, "mindspore")):
        text = (PAIR / name / "net.py").read_text(encoding="utf-8")
        folder.mkdir()
        (folder / "net.py").write_text(text.replace("self.fc(x.float())", "(self.fc(x) * 0).sqrt()"), encoding="utf-8")
    report = verify(source, output, entry="net:Single", inputs=["4x6"], rules=RULES, seeds=(1,), graph=False)
    assert not report.passed
    assert "gradients, eval mode are no finite numbers" in report.problems[0]


@pytest.mark.slow
def test_a_network_that_graph_mode_does_not_compile_is_said_to_be_so(tmp_path: Path) -> None:
    def asking(text: str) -> str:
        head, mark, tail = text.partition(
            "    def __init__(self):\n        super().__init__()\n        self.fc = nn.Dense(6, 4)"
        )
        assert mark
        return f"{head}    none = property(lambda self: 0)  # which MindSpore cannot parse\n\n{mark}{tail}".replace(
            "return self.fc(x.float())", "return self.fc(x.float()) + self.none"
        )

    output = tmp_path / "mindspore"
    output.mkdir()
    (output / "net.py").write_text(
        asking((PAIR / "mindspore" / "net.py").read_text(encoding="utf-8")), encoding="utf-8"
    )
    report = verify(PAIR / "torch", output, entry="net:Single", inputs=["4x6"], rules=RULES, seeds=(1,))
    assert report.passed, report.to_text()
    assert "outputs, graph mode" not in {figure.group for figure in report.figures}
    assert any(note.startswith("graph mode was not compared, MindSpore does not compile") for note in report.notes)


@pytest.mark.slow
def test_one_percent_in_one_gradient_is_found_and_nine_seeds_do_not_hide_it(tmp_path: Path, run: Run) -> None:
    right = "return self.fc(x)"
    wrong = "return self.fc(x) + 0.01 * (self.fc.bias - ops.stop_gradient(self.fc.bias))"
    report = run(planted(tmp_path, right, wrong), seeds=(1, 2, 3))
    single = [figure for figure in report.figures if figure.name == "worst single parameter"]
    assert [(figure.passed, figure.note.partition(":")[0]) for figure in single] == [(False, "fc.bias")] * 2
    assert all(figure.ours == pytest.approx(0.01, rel=0.01) for figure in single)
    assert report.notes == ("gradients beyond a limit with 3 seeds: 6 more were run",)


MISTAKES = {
    "epsilon": ("nn.BatchNorm2d(channels)", "nn.BatchNorm2d(channels, eps=1e-3)", "outputs: output"),
    "padding": ("padding=(2, 2, 1, 1)", "padding=(1, 3, 1, 1)", "outputs: output"),
    "stride order": ("(5, 3), (2, 1)", "(5, 3), (1, 2)", "outputs: output"),
    "pooling stride": ("nn.MaxPool2d(3, 2,", "nn.MaxPool2d(3, 1,", "outputs: output"),
    "residual": ("y + (x if", "y - (x if", "outputs: output"),
    "activation": ("ops.gelu(self.hidden", "ops.gelu(approximate='tanh', input=self.hidden", "outputs: output"),
    "dropout in evaluation": (
        "self.hidden(self.drop(x))", "self.hidden(ops.dropout(x, p=0.3, training=True))", "outputs: output",
    ),
    "momentum": (
        "momentum=0.8", "momentum=0.2",
        "gradients, train mode without dropout: statistics of the normalizations",
    ),
    "keep_prob": (
        "nn.Dropout(p=0.3)", "nn.Dropout(keep_prob=0.3)", "gradients, train mode without dropout: dropout rates",
    ),
    "no dropout": (
        "self.hidden(self.drop(x))", "self.hidden(x)", "gradients, train mode without dropout: dropout rates",
    ),
    "batch statistics never used": (
        "momentum=0.8", "momentum=0.8, use_batch_statistics=False",
        "gradients, train mode without dropout: all parameters together",
    ),
    "gradient stopped": (
        "return self.fc(x)", "return self.fc(ops.stop_gradient(x))", "gradients, eval mode: all parameters together",
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_planted_mistake_is_found(mistake: str, tmp_path: Path, run: Run) -> None:
    right, wrong, where = MISTAKES[mistake]
    report = run(planted(tmp_path, right, wrong))
    assert not report.passed
    assert where in failed(report), report.to_text()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("right", "wrong", "problem"),
    [
        ("self.fc = nn.Dense(8, num_classes)", "self.fc = nn.Dense(8, num_classes, has_bias=False)", "fc.bias"),
        ("self.hidden = nn", "self.hidden_layer = nn", "hidden.weight"),
        ("        self.fc = nn.Dense(8, num_classes)", "        self.fc = nn.Dense(8, num_classes)\n"
         "        self.fc.bias.requires_grad = False", "fc.bias: PyTorch trains it, MindSpore does not"),
        ("return self.fc(x)", "return (self.fc(x),)", "MindSpore returns output[0]"),
    ],
    ids=["missing parameter", "renamed layer", "frozen parameter", "other structure"],
)  # fmt: skip
def test_what_does_not_pair_up_is_a_problem(right: str, wrong: str, problem: str, tmp_path: Path, run: Run) -> None:
    text = (PAIR / "mindspore" / "net.py").read_text(encoding="utf-8").replace("self.hidden(", "self.hidden_layer(")
    folder = planted(tmp_path, right, wrong)
    if "hidden_layer" in wrong:
        (folder / "net.py").write_text(text.replace(right, wrong), encoding="utf-8")
    report = run(folder, gradients=False)
    assert not report.passed
    assert any(problem in text for text in report.problems), report.to_text()


@pytest.mark.slow
def test_what_is_random_in_training_is_not_compared_and_said(run: Run) -> None:
    report = run(entry="net:Noisy", inputs=["4x6"], train_steps=2)
    assert report.passed, report.to_text()
    assert {figure.group for figure in report.figures} == {"outputs", "gradients, eval mode"}
    assert report.notes == ("the network draws random numbers in train mode: train mode and training are not compared",)


@pytest.mark.slow
def test_an_optimizer_with_another_epsilon_is_found(run: Run) -> None:
    options: dict[str, Any] = {"train_steps": 3, "gradients": False, "optimizer": "Adam(lr=0.001, eps=0.001)"}
    wrong = run(**options, optimizer_target="mindspore.experimental.optim.Adam")
    assert "training, 3 steps one by one: update" in failed(wrong), wrong.to_text()
    right = run(**options)
    assert right.passed, right.to_text()


@pytest.mark.slow
def test_weight_decay_of_the_wrong_kind_is_found(run: Run) -> None:
    report = run(train_steps=3, gradients=False, optimizer="Adam(lr=0.001, weight_decay=0.1)",
                 optimizer_target="mindspore.experimental.optim.AdamW")  # fmt: skip
    assert "training, 3 steps one by one: update" in failed(report), report.to_text()


@pytest.mark.slow
def test_a_network_that_cannot_be_built_says_why(tmp_path: Path, run: Run) -> None:
    shutil.copy(PAIR / "mindspore" / "net.py", tmp_path)
    (tmp_path / "net.py").write_text("raise RuntimeError('no such luck')\n", encoding="utf-8")
    with pytest.raises(VerificationError, match="MindSpore, build: RuntimeError: no such luck"):
        run(tmp_path)


def test_what_makes_no_sense_is_refused(tmp_path: Path, run: Run) -> None:
    with pytest.raises(InputError):
        run(tmp_path / "missing")
    with pytest.raises(UsageError):
        run(entry="net.Net")
    with pytest.raises(UsageError):
        run(inputs=[])
    with pytest.raises(VerificationError, match="cannot start"):
        run(torch_python=str(tmp_path / "no-python"))
