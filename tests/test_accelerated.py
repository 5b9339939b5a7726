"""Programs on HuggingFace's accelerate: translated and run unedited, they print what they print in PyTorch."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from torch2ms import translate_project, translate_source

FOLDER = Path(__file__).parent / "accelerated"
_NUMBER = re.compile(r"-?\d+\.\d+")

HEAD = """import torch
from accelerate import Accelerator
accelerator = Accelerator({settings})
model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = accelerator.prepare(model, optimizer)
"""
STEP = """for x in torch.randn(4, 2):
    with accelerator.accumulate(model):
        loss = model(x.to(accelerator.device)).sum()
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
"""


def printed(script: Path, path: str) -> str:
    """Return what a program prints, with a folder on its path."""
    place = {**os.environ, "OMP_NUM_THREADS": "2", "PYTHONPATH": path}
    done = subprocess.run([sys.executable, script.name], cwd=script.parent, env=place, capture_output=True, timeout=600)
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    return done.stdout.decode()


@pytest.mark.slow
def test_a_program_runs_as_with_accelerate(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "program.py").write_bytes((FOLDER / "program.py").read_bytes())
    report = translate_project(source, tmp_path / "out")
    assert not [d for d in report.diagnostics if d.code in ("T2M402", "T2M403", "T2M404")]
    theirs = printed(FOLDER / "program.py", str(FOLDER / "reference"))
    ours = printed(tmp_path / "out" / "program.py", "")
    assert _NUMBER.sub("#", ours) == _NUMBER.sub("#", theirs)
    expected = [float(number) for number in _NUMBER.findall(theirs)]
    assert len(expected) > 80
    assert [float(number) for number in _NUMBER.findall(ours)] == pytest.approx(expected, abs=3e-5)


def test_a_step_without_accumulation_is_a_plain_one() -> None:
    result = translate_source(HEAD.format(settings="") + STEP)
    assert "optimizer(grads)" in result.text
    assert "accelerator.keep" not in result.text
    assert not {"T2M402", "T2M403", "T2M404"} & {d.code for d in result.diagnostics}


def test_the_accelerator_says_when_added_gradients_are_complete() -> None:
    result = translate_source(HEAD.format(settings="gradient_accumulation_steps=4") + STEP)
    for line in ("keep(optimizer.parameters, grads)", "update(optimizer)", "reset(optimizer)"):
        assert f"        accelerator.{line}\n" in result.text
    assert ".to(" not in result.text


def test_a_step_that_cannot_be_kept_is_marked() -> None:
    body = STEP.replace("optimizer.step()", "found = optimizer.step()")
    result = translate_source(HEAD.format(settings="gradient_accumulation_steps=4") + body)
    assert "T2M402" in {d.code for d in result.diagnostics}
    assert "accelerator.backward(loss)" in result.text


def test_added_gradients_of_several_processes_are_averaged() -> None:
    source = """import torch
from torch.nn.parallel import DistributedDataParallel as DDP
model = DDP(torch.nn.Linear(2, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
optimizer.zero_grad()
for number, x in enumerate(torch.randn(4, 2)):
    loss = model(x).sum() / 2
    loss.backward()
    if number % 2:
        optimizer.step()
        optimizer.zero_grad()
"""
    text = translate_source(source).text
    accumulate = "    grads = autograd.accumulate(grads, new_grads)\n"
    assert f"{accumulate}    grads = distributed.average_accumulated(grads)\n    if number % 2:\n" in text
