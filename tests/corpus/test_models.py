"""A sample of the models that ``make corpus`` compares (``benchmarks/models.py``): torchvision's, from their source."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from benchmarks.models import STATES, Outcome, Runner, complete, load, make_source, table
from tests.sampling import sampled
from torch2ms import translate_project

pytestmark = [pytest.mark.corpus, pytest.mark.slow]

# One of each kind of network; with gradients in eval mode and in train mode where that is quick
OUTPUTS = ("resnet50", "mnasnet0_5", "densenet121", "efficientnet_b0", "swin_t", "convnext_tiny")
GRADIENTS = ("resnet18", "squeezenet1_1", "mobilenet_v3_small", "shufflenet_v2_x0_5")


@pytest.fixture(scope="module")
def run(corpus: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Outcome]]:
    """Run a model of torchvision's list by the name of its function."""
    package = load("torchvision")
    folder = tmp_path_factory.mktemp("torchvision")
    found = corpus("torchvision")
    source = make_source(package, found / "torchvision" if (found / "torchvision").is_dir() else found, folder)
    translate_project(source, folder / "out")
    complete(package, source, [])
    runner = Runner(source, (folder / "out").resolve(), limit=240, quick=False)
    models = {model.entry.partition(":")[2]: model for model in package.models}

    def one(name: str, *, quick: bool) -> Outcome:
        runner.quick = quick
        return runner.run(models[name])

    yield one
    runner.stop()


@pytest.mark.parametrize("name", sampled(OUTPUTS, 2))
def test_outputs_agree(run: Callable[..., Outcome], name: str) -> None:
    outcome = run(name, quick=True)
    assert outcome.state == "parity", outcome.reason


@pytest.mark.parametrize("name", GRADIENTS)
def test_outputs_and_gradients_agree(run: Callable[..., Outcome], name: str) -> None:
    outcome = run(name, quick=False)
    assert outcome.state == "parity", outcome.reason


def test_the_table_counts_every_state() -> None:
    outcomes = [Outcome("a", "x:y", state) for state in STATES]
    lines = table(outcomes).splitlines()
    assert lines[0].split() == list(STATES)
    assert lines[-1].split() == ["all", *"1" * len(STATES)]


def test_every_list_can_be_read() -> None:
    lists = Path(__file__).resolve().parents[2] / "benchmarks" / "model_lists"
    for path in lists.glob("*.toml"):
        package = load(path.stem)
        assert package.models, path
        assert all(model.inputs and ":" in model.entry for model in package.models), path
