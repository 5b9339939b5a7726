"""Objects that are handed a loss and its optimizer, and take the step: ``loss_scaler(loss, optimizer, ...)``."""

from __future__ import annotations

from pathlib import Path

import pytest

from torch2ms import translate_project, translate_source

SCALER = """
import torch
class NativeScaler:
    def __init__(self):
        self._scaler = torch.amp.GradScaler()
    def __call__(self, loss, optimizer, clip_grad=None, parameters=None, create_graph=False, update_grad=True):
        self._scaler.scale(loss).backward(create_graph=create_graph)
        norm = None
        if update_grad:
            self._scaler.unscale_(optimizer)
            if clip_grad is not None:
                norm = torch.nn.utils.clip_grad_norm_(parameters, clip_grad)
            self._scaler.step(optimizer)
            self._scaler.update()
        return norm
"""
TRAIN = """
import torch
def train(model: torch.nn.Module, loader, optimizer, criterion, loss_scaler, steps):
    for i, (x, y) in enumerate(loader):
        out = model(x)
        loss = criterion(out, y) / steps
        norm = loss_scaler(loss, optimizer, 1.0, model.parameters(), update_grad=(i + 1) % steps == 0)
        if (i + 1) % steps == 0:
            optimizer.zero_grad()
        print(norm, loss.item())
"""


def codes(source: str) -> set[str]:
    return {item.code for item in translate_source(source).diagnostics}


def test_the_gradients_go_with_the_loss(tmp_path: Path) -> None:
    source = tmp_path / "source"
    (source / "tools").mkdir(parents=True)
    (source / "tools" / "scaler.py").write_text(SCALER)
    (source / "engine.py").write_text(TRAIN)
    report = translate_project(source, tmp_path / "out")
    assert not {item.code for item in report.diagnostics} & {"T2M201", "T2M402", "T2M403", "T2M404", "T2M900"}
    engine = (tmp_path / "out" / "engine.py").read_text()
    assert "loss, grads = grad_fn(x, y)\n        gradients.hand_over(optimizer.parameters, grads)\n" in engine
    assert "norm = loss_scaler(loss, optimizer, 1.0, " in engine
    assert "gradients.reset(optimizer)" in engine
    scaler = (tmp_path / "out" / "tools" / "scaler.py").read_text()
    assert "gradients.take_over(create_graph=create_graph)" in scaler
    assert "norm = gradients.clip_norm(parameters, clip_grad)" in scaler
    assert "self._scaler.unscale_(optimizer)" in scaler
    assert "self._scaler.step(optimizer)\n            self._scaler.update()\n" in scaler


def test_what_the_call_reads_besides() -> None:
    source = TRAIN.replace("update_grad=(i + 1) % steps == 0", "update_grad=bool(out.shape[0])")
    assert "return loss, out" in translate_source(SCALER + source).text


def test_a_loss_that_is_an_expression() -> None:
    source = TRAIN.replace("criterion(out, y) / steps", "criterion(out, y)").replace("er(loss,", "er(loss / steps,")
    emitted = translate_source(SCALER + source).text
    assert "return loss / steps, (loss,)" in emitted
    assert "loss_scaler(loss / steps, optimizer" in emitted


@pytest.mark.parametrize(
    ("before", "behind"),
    [
        ("norm = loss_scaler(", "norm = float(loss_scaler("),
    ],
)
def test_calls_that_stay(before: str, behind: str) -> None:
    source = TRAIN.replace(before, behind)
    if "float(" in behind:
        source = source.replace("steps == 0)\n", "steps == 0))\n", 1)
    translated = translate_source(SCALER + source)
    assert "T2M402" in {item.code for item in translated.diagnostics}
    assert "hand_over" not in translated.text


@pytest.mark.parametrize(
    ("before", "behind"),
    [
        ("backward(create_graph", "backward(retain_graph"),
        ("return norm", "return [p.grad for p in parameters]"),
        ("self._scaler.step(optimizer)", "out = self._scaler.step(optimizer)"),
    ],
)
def test_methods_that_stay(before: str, behind: str) -> None:
    translated = translate_source(SCALER.replace(before, behind))
    assert {"T2M402", "T2M404"} & {item.code for item in translated.diagnostics}
    assert "take_over" not in translated.text


def test_without_such_an_object_nothing_is_handed_over() -> None:
    assert "hand_over" not in translate_source(TRAIN).text
    bound = SCALER.replace("        norm = None\n", "        loss = loss * 2\n        norm = None\n")
    assert "take_over" not in translate_source(bound).text


@pytest.mark.parametrize(
    ("before", "behind"),
    [
        ("            optimizer.zero_grad()", "            pass"),  # the gradients build up
        ("        loss = criterion(out, y)", "        loss = torch.nn.functional.mse_loss(x, y)"),
        (
            "        norm = loss_scaler(",
            "        if steps > 1:\n          loss /= steps\n          norm = loss_scaler(",
        ),
    ],
)
def test_what_no_function_holds_is_recorded(before: str, behind: str) -> None:
    translated = translate_source(SCALER + TRAIN.replace(before, behind))
    assert not {item.code for item in translated.diagnostics} & {"T2M402", "T2M403", "T2M404", "T2M900"}
    head, _, rest = translated.text.partition("recording.hand_over(loss)\n")
    assert "grad_fn" not in head
    assert rest.lstrip().startswith("norm = loss_scaler(loss, optimizer, 1.0, ")
    assert "gradients.take_over(create_graph=create_graph)" in head
