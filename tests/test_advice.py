"""Advice can be followed: what a text tells the user to run, read, open or write exists."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from torch2ms import translate_project
from torch2ms.cli import command, run
from torch2ms.diagnostics import CODES
from torch2ms.mapping_tables.catalogue import mindspore_catalogue, mindspore_releases
from torch2ms.mapping_tables.loader import load
from torch2ms.reports.todo import tasks
from torch2ms.translator.output.runtime_closure import carried_files, used_names

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))
import harvest_messages  # noqa: E402

TEXTS = {text: place for text, place in harvest_messages.texts().items() if text}
PROGRAM = """
import albumentations
import stable_baselines3
import torch
import torch.fx


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(4, 4)

    def forward(self, x: torch.Tensor):
        parts = torch.jit._flatten(x)
        return self.fc(x) + torch.linalg.ldl_factor(x)[0] + torch.not_there(x) + len(parts)


def loop(model, batches, opt):
    for x in batches:
        y = model(x)
        y.backward(gradient=torch.ones_like(y))
        print(getattr(torch, input()), model.fc.weight.grad)
        opt.step()


if __name__ == "__main__":
    net = Net()
    loop(net, [torch.ones(2, 4)], torch.optim.Muon(net.parameters()))
"""


def named(pattern: str) -> Iterator[tuple[str, str]]:
    """Yield (name, text that names it)."""
    for text in TEXTS:
        for name in re.findall(pattern, text):
            yield name.rstrip("."), text


def commands(group: click.Group, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    for name, part in group.commands.items():
        yield (*words, name), part
        if isinstance(part, click.Group):
            yield from commands(part, (*words, name))


COMMANDS = dict(commands(command))  # type: ignore[arg-type]
PARAMETERS = [param for part in (command, *COMMANDS.values()) for param in part.params]
OPTIONS = {option for param in PARAMETERS for option in (*param.opts, *param.secondary_opts)}


def test_mindspore_names_exist_in_the_newest_release() -> None:
    catalogue = mindspore_catalogue(mindspore_releases()[-1])
    modules = {name.rsplit(".", count)[0] for name in catalogue.names for count in (1, 2, 3)}
    kept = {"mindspore.__version__", "mindspore._Function"}  # private, and there: the rows' examples run them
    missing = {
        name: text
        for name, text in named(r"\bmindspore(?:\.[A-Za-z_]\w*)+")
        if catalogue.record(name) is None and name not in modules | kept
    }
    assert not missing


def test_names_that_are_said_to_be_translated_have_a_target() -> None:
    tables = load(store=False)
    wrong = {}
    for text in TEXTS:
        if "translated" in text or text.startswith("PyTorch has dropped it:"):
            told = text.partition(" is ")[2] or text  # "torch.solve(B, A) is torch.linalg.solve(A, B)"
            for name in re.findall(r"\btorch(?:vision)?(?:\.[A-Za-z_]\w*)+(?=\()", told):
                row = tables.row(name)
                if row is None or not (row.to or row.keep):
                    wrong[name] = text
    assert not wrong


def test_names_of_the_runtime_are_carried_into_out() -> None:
    """A file of OUT that names them can be run: what advice names is part of the runtime that OUT holds."""
    used = used_names((f"# TORCH2MS T2M201: {text}" for text in TEXTS), "torch2ms_runtime")
    assert ("data", "Dataset") in used
    assert ("datasets", "VisionDataset") in used
    carried = "\n".join(carried_files(used).values())
    missing = {
        path for path in used if path[-1] != "*" and not re.search(rf"^(?:class|def) {path[-1]}\b", carried, re.M)
    }
    assert not missing
    assert not [name for name, _ in named(r"\btorch2ms\.runtime\.\w+")], "OUT calls it torch2ms_runtime"


def test_commands_options_and_codes_exist() -> None:
    wrong = set()
    for words, _ in named(r"(?<![\w.-])torch2ms ((?:[a-z-]+ ?)+)"):
        given = tuple(words.split())
        if given[0] in command.commands and given[:1] not in COMMANDS:  # type: ignore[attr-defined]
            wrong.add(words)
        if given[0] == "tables" and given[:2] not in COMMANDS:
            wrong.add(words)
    others = {"--no-deps"}  # of pip
    wrong |= {name for name, text in named(r"(?<![\w-])--[a-z][a-z-]+") if name not in OPTIONS | others}
    wrong |= {name for name, text in named(r"\bT2M\d{3}\b") if name not in CODES}
    assert not wrong
    assert {name for name, _ in named(r"(?<![\w.-])torch2ms ((?:tables )?[a-z-]+)")} >= {
        "tables new",
        "explain",
        "translate",
    }


def test_what_the_to_do_list_names_can_be_explained_and_added(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "main.py").write_text(PROGRAM, encoding="utf-8")
    report = translate_project(tmp_path, None, dry_run=True)
    left = tasks(report)
    assert {task.code for task in left} >= {"T2M201", "T2M202", "T2M307", "T2M501"}
    for task in left:
        for name in (task.name, task.code):
            assert run(["explain", name]) == 0, name
    advised = {words for found in report.diagnostics for words in re.findall(r"`torch2ms ([^`]*)`", found.advice)}
    assert any(words.startswith("tables new torch.jit._flatten") for words in advised)
    for words in advised:
        assert run(words.split()) == 0, words
    assert "Traceback" not in capsys.readouterr().err
