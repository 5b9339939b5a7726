"""The generated program: its text, and that it trains, resumes, evaluates, converts and runs on two processes."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from torch2ms.errors import InternalError
from torch2ms.generate import Named, ProgramFacts, flow, generate, rename_taken, scalar
from torch2ms.runtime import config
from torch2ms.translator.project.out_names import TakenNames

NETWORK = '''"""A small network."""

from mindspore import nn


class TinyNet(nn.Cell):
    """One convolution and a classifier."""

    def __init__(self, num_classes=10):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, 2, pad_mode="pad", padding=1, has_bias=False)
        self.bn = nn.BatchNorm2d(8)
        self.pool = nn.AdaptiveAvgPool2d(4)
        self.flatten = nn.Flatten()
        self.fc = nn.Dense(128, num_classes)

    def construct(self, x):
        return self.fc(self.flatten(self.pool(self.bn(self.conv(x)))))


def tiny_net(num_classes=10):
    """Return the network."""
    return TinyNet(num_classes)
'''
RULES = {
    "mindspore.nn.Conv1d": {"state": "same", "reshape": {"weight": "conv1d"}},
    "mindspore.nn.Conv2d": {"state": "same", "reshape": {}},
    "mindspore.nn.Dense": {"state": "same", "reshape": {}},
    "mindspore.nn.BatchNorm2d": {
        "state": {
            "weight": "gamma",
            "bias": "beta",
            "running_mean": "moving_mean",
            "running_var": "moving_variance",
            "num_batches_tracked": "",
        },
        "reshape": {},
    },
}
FACTS = ProgramFacts(
    network_module="tinynet",
    network_callable="tiny_net",
    network_kwargs={"num_classes": 10},
    optimizer=Named("Adam", {"lr": 0.02, "weight_decay": 1e-5}),
    schedule=Named("StepLR", {"step_size": 1, "gamma": 0.5}),
    train_transforms=(
        Named("RandomCrop", {"size": 32, "padding": 4}),
        Named("Resize", {"size": 24}),
        Named("ToTensor"),
        Named("Normalize", {"mean": [0.5, 0.5, 0.5], "std": [0.25, 0.25, 0.25]}),
    ),
    eval_transforms=(Named("Resize", {"size": (24, 24)}), Named("ToTensor")),
    image_size=24,
    batch_size=64,
    epochs=2,
    origin="main.py",
    state_rules=RULES,
)
NO_SCHEDULE = replace(FACTS, schedule=None, loss=Named("CrossEntropyLoss", {"label_smoothing": 0.1}))
VARIANTS = {
    "plain": FACTS,
    "no schedule": NO_SCHEDULE,
    "per step": replace(FACTS, schedule=Named("OneCycleLR", {"max_lr": 0.1, "total_steps": 16}), schedule_per="step"),
    "plateau": replace(FACTS, schedule=Named("ReduceLROnPlateau", {"patience": 1})),
    "mnist": replace(FACTS, dataset="mnist", network_module="zoo.net", network_kwargs={}),
    "synthetic": replace(FACTS, dataset="synthetic"),
    "installed runtime": replace(FACTS, runtime="torch2ms.runtime"),
    "taken": rename_taken(FACTS, TakenNames(["train.py", "config.yaml", "eval.py", "convert_weights.py"])),
}


def write(folder: Path, facts: ProgramFacts) -> Path:
    for name, text in generate(facts).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize("name", VARIANTS)
def test_generated_python_is_clean(tmp_path, repository, name):
    write(tmp_path, VARIANTS[name])
    (tmp_path / "torch2ms_runtime").symlink_to(repository / "torch2ms" / "runtime")
    (tmp_path / "tinynet.py").write_text(NETWORK)
    (tmp_path / "zoo").mkdir()
    (tmp_path / "zoo" / "net.py").write_text("")
    options = ["--isolated", "--no-cache", "--line-length", "120"]
    rules = "E,F,W,I,UP,B,C4,SIM,PT,RUF,PGH,D1"
    for command in (["check", "--select", rules, "--ignore", "D102,D107"], ["format", "--check"]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *command, *options, *sorted(map(str, tmp_path.glob("*.py")))],
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
        )
        assert done.returncode == 0, done.stdout + done.stderr


def test_the_same_facts_give_the_same_text_and_no_paths_or_times():
    assert generate(FACTS) == generate(replace(FACTS))
    for text in generate(FACTS).values():
        assert not re.search(r"/(home|tmp|work|root)/|\b20[0-9]{2}-[0-9]{2}", text)
        assert text.endswith("\n")
        assert "\n\n\n\n" not in text


@pytest.mark.parametrize("name", VARIANTS)
def test_the_configuration_means_the_same_to_pyyaml(name):
    facts = VARIANTS[name]
    text = generate(facts)[facts.config_file]
    ours = config.parse(text)
    assert ours == yaml.safe_load(text)
    assert ours["optimizer"] == {"name": "Adam", "lr": 0.02, "weight_decay": 1e-5}
    assert ours["train_transforms"][1] == {"Resize": {"size": "image_size"}}
    assert ours["eval_transforms"][0] == {"Resize": {"size": ["image_size", "image_size"]}}
    assert ours["train_transforms"][0] == {"RandomCrop": {"size": 32, "padding": 4}}


def test_taken_names_are_avoided():
    facts = rename_taken(FACTS, TakenNames(["train.py", "main.py"]))
    files = generate(facts)
    assert "ms_train.py" in files
    assert "train.py" not in files
    assert "from ms_train import" in files["eval.py"]
    assert "ms_train.py" in files["scripts/run_standalone_train.sh"]


def test_a_network_without_training_gets_the_converter_alone():
    files = generate(replace(FACTS, has_training=False))
    assert sorted(files) == ["convert_weights.py", "requirements.txt"]
    assert 'weights.main(RULES, "tinynet:tiny_net", {"num_classes": 10})' in files["convert_weights.py"]


def test_requirements():
    assert generate(FACTS)["requirements.txt"].splitlines()[0] == "mindspore>=2.10"


@pytest.mark.parametrize("value", [1e-5, 1e22, 0.1, 3, True, None, "plain", "no", "1e5", "a: b", "", "12", "x#y", "é"])
def test_values_survive_yaml(value):
    text = f"x: {scalar(value)}\ny: [{flow([value, {'k': value}])}]"
    assert config.parse(text) == yaml.safe_load(text) == {"x": value, "y": [[value, {"k": value}]]}


def test_what_cannot_be_said_is_refused():
    with pytest.raises(InternalError, match="no YAML for"):
        generate(replace(FACTS, network_kwargs={"f": object()}))
    with pytest.raises(InternalError, match="dataset 'imagenet'"):
        generate(replace(FACTS, dataset="imagenet"))


@pytest.fixture
def program(tmp_path, repository):
    folder = write(tmp_path / "out", FACTS)
    (folder / "tinynet.py").write_text(NETWORK, encoding="utf-8")
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(repository / "torch2ms" / "runtime", folder / "torch2ms_runtime", ignore=ignore)
    return folder


def run(folder: Path, *command: str, code: int = 0) -> str:
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    environment["GLOG_v"] = "3"
    done = subprocess.run(command, cwd=folder.parent, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def python(program: Path, script: str, *options: str, code: int = 0) -> str:
    return run(program, sys.executable, f"out/{script}", *options, code=code)


def figures(text: str) -> list[str]:
    return re.findall(r"mean loss [\d.]+, (eval_loss [\d.]+, accuracy [\d.]+)", text)


SYNTHETIC = ("--dataset", "synthetic")


@pytest.mark.slow
def test_it_trains_resumes_and_evaluates(program):
    whole = python(program, "train.py", *SYNTHETIC, "--output-dir", "whole")
    expected = figures(whole)
    assert len(expected) == 2
    assert float(expected[1].rsplit(" ", 1)[1]) > 0.3  # chance is 0.1
    python(program, "train.py", *SYNTHETIC, "--output-dir", "part", "--epochs", "1")
    resumed = python(program, "train.py", *SYNTHETIC, "--output-dir", "part", "--resume")
    assert "resumed from part/checkpoint-00000008.safetensors (epoch 2, step 0)" in resumed
    assert figures(resumed) == expected[1:]
    for name in ("checkpoint-00000016.safetensors", "best.safetensors"):
        assert (program.parent / "part" / name).read_bytes() == (program.parent / "whole" / name).read_bytes()
    shown = python(program, "eval.py", "--checkpoint", "whole/checkpoint-00000016.safetensors", *SYNTHETIC)
    assert expected[1] in shown
    done = run(program, "bash", "out/scripts/run_eval.sh", "whole/best.safetensors", *SYNTHETIC)
    assert "accuracy" in done
    assert "run_eval.sh CHECKPOINT" in run(program, "bash", "out/scripts/run_eval.sh", code=2)


@pytest.mark.slow
def test_it_stops_in_the_middle_of_an_epoch_and_compiles(program):
    options = (*SYNTHETIC, "--mode", "graph", "--output-dir", "run", "--epochs", "1")
    python(program, "train.py", *options, "--max-steps", "3")
    assert (program.parent / "run" / "checkpoint-00000003.safetensors").exists()
    resumed = python(program, "train.py", *options, "--resume", "--amp", "O2")
    assert "epoch 1, step 3" in resumed
    assert (program.parent / "run" / "checkpoint-00000008.safetensors").exists()
    assert figures(python(program, "train.py", *options, "--resume")) == []  # nothing is left to do


@pytest.mark.slow
def test_it_writes_a_profile_when_it_is_asked_to(program):
    options = (*SYNTHETIC, "--max-steps", "1", "--output-dir", "profiled")
    python(program, "train.py", *options, "--profile", "profile", "--gradient-fusion", "16")
    assert list((program.parent / "profile").rglob("cpu_op_detail_info_0.csv"))


@pytest.mark.slow
def test_it_reads_cifar10_and_names_what_is_missing(program):
    script = "from torch2ms.runtime.synthetic import *; w = write_cifar10_binary; w('bin', 80, 20)"
    script += "; write_cifar10_python('py', 80, 20)"
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)}
    subprocess.run([sys.executable, "-c", script], cwd=program.parent, env=environment, check=True)
    outcomes = [
        figures(python(program, "train.py", "--data-path", name, "--epochs", "1", "--output-dir", f"run_{name}"))
        for name in ("py", "bin")
    ]
    assert outcomes[0] == outcomes[1] != []
    missing = python(program, "train.py", "--data-path", "nowhere", code=1)
    assert "cifar-10-batches-py/data_batch_1" in missing
    refused = python(program, "train.py", *SYNTHETIC, "--device-target", "Ascend", code=1)
    assert "cannot run on Ascend here" in refused


@pytest.mark.slow
def test_weights_go_there_and_back(program):
    make = """
import torch
from torch import nn
net = nn.Sequential()
for name, layer in dict(conv=nn.Conv2d(3, 8, 3, bias=False), bn=nn.BatchNorm2d(8), fc=nn.Linear(128, 10)).items():
    net.add_module(name, layer)
nn.init.normal_(net.bn.running_mean)
torch.save(net.state_dict(), "torch.pth")
"""
    compare = """
import torch
first, second = (torch.load(name, weights_only=True) for name in ("torch.pth", "back.pth"))
assert list(first) == list(second) or set(first) == set(second)
assert all(torch.equal(first[name], second[name]) for name in first)
"""
    run(program, sys.executable, "-c", make)
    python(program, "convert_weights.py", "torch.pth", "ms.ckpt")
    python(program, "convert_weights.py", "--reverse", "ms.ckpt", "back.pth")
    run(program, sys.executable, "-c", compare)
    assert "accuracy" in python(program, "eval.py", "--checkpoint", "ms.ckpt", *SYNTHETIC)
    trained = python(program, "train.py", *SYNTHETIC, "--pretrained", "ms.ckpt", "--max-steps", "2")
    assert "mean loss" in trained


def free_port() -> str:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return str(listener.getsockname()[1])


@pytest.mark.slow
def test_two_processes_see_the_batches_of_one(program, monkeypatch):
    monkeypatch.setenv("MASTER_PORT", free_port())
    monkeypatch.setenv("LOG_DIR", "logs")
    network = program / "tinynet.py"  # statistics of BatchNorm are each process's own
    network.write_text(NETWORK.replace("nn.BatchNorm2d(8)", "nn.Identity()"), encoding="utf-8")
    one = figures(python(program, "train.py", *SYNTHETIC, "--epochs", "1", "--output-dir", "one"))
    run(program, "bash", "out/scripts/run_distribute_train.sh", "2", *SYNTHETIC, "--epochs", "1", "--output-dir", "two")
    log = (program.parent / "logs" / "worker_0.log").read_text(encoding="utf-8")
    two = figures(log)
    assert len(two) == 1
    expected, found = ([float(number) for number in re.findall(r"[\d.]+", text[0])] for text in (one, two))
    assert found == pytest.approx(expected, abs=2e-3)
    assert "mean loss" not in (program.parent / "logs" / "worker_1.log").read_text(encoding="utf-8")
    assert (program.parent / "two" / "checkpoint-00000008.safetensors").exists()
