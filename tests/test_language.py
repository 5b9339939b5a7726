"""Catalogues are complete: every text that is asked for has a translation, with the same placeholders."""

from __future__ import annotations

import ast
import json
import re
import string
from pathlib import Path

import pytest

from torch2ms import language
from torch2ms.cli import run
from torch2ms.diagnostics import CODES
from torch2ms.language import LANGUAGES, catalogue, speaking, tr
from torch2ms.reports import todo
from torch2ms.reports.html import to_html
from torch2ms.reports.json import to_json
from torch2ms.reports.summary import API_STATUSES, FILE_STATUSES, SEVERITIES

PACKAGE = Path(language.__file__).parent
OTHERS = [name for name in LANGUAGES if name != "en"]
# What scripts of the page hand on in variables
_TABLES = ("approximate", "partial", "documented", "source line", "source", "output line", "output", "line", "code")
_HEADS = ("What", "Source", "Where", "Note", "Status", "Fidelity", "Proof", "Places", "MindSpore", "torch")
SOURCE = "import torch\n\n\ndef f(x: torch.Tensor):\n    return torch.linalg.ldl_factor(x)\n"


def asked() -> set[str]:
    """Return every text that the code or the page asks for, as it stands in them, and those of the data."""
    found = {text for entry in CODES.values() for text in (entry.meaning, entry.advice) if text}
    found |= {*todo.GROUPS.values(), *todo._EFFORT.values(), "a line", "executed", "partly executed", "documented only"}
    found |= {*FILE_STATUSES, *API_STATUSES, *map(str, SEVERITIES), *_TABLES, *_HEADS}
    found |= {f"{{number}} {noun}" for noun in (*map(str, SEVERITIES), "diagnostic")}
    for path in PACKAGE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if "torch2ms.language" in text:
            found |= set(texts_of(ast.parse(text)))
    for path in (PACKAGE / "templates").glob("report*"):
        found |= set(texts_of_template(path.read_text(encoding="utf-8")))
    return found


def texts_of(tree: ast.AST) -> list[str]:
    texts = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("tr", "counted"):
            argument = node.args[-1] if node.func.id == "counted" else node.args[0]
            if isinstance(argument, ast.Constant):
                texts.append(f"{{number}} {argument.value}" if node.func.id == "counted" else str(argument.value))
    return texts


def texts_of_template(text: str) -> list[str]:
    nouns = re.findall(r"\bplural\([^()]*, '([a-z]+)'\)|\bcount\([^()]*, \"([a-z]+)\"\)", text)
    plain = re.findall(r"\btr\('([^']+)'", text) + re.findall(r"\b_\(\"([^\"]*)\"", text)
    return plain + [f"{{number}} {one or two}" for one, two in nouns]


def placeholders(text: str) -> list[str]:
    return sorted(name for _, name, _, _ in string.Formatter().parse(text) if name is not None)


@pytest.mark.parametrize("name", OTHERS)
def test_every_text_has_a_translation(name: str) -> None:
    missing = sorted(asked() - set(catalogue(name)))
    assert not missing, f"add them to torch2ms/languages/{name}.toml: {missing}"


def test_texts_are_found_in_code_page_and_scripts() -> None:
    found = asked()
    assert {"To do, in this order", "Left to do", "Nothing passes the filter.", "{number} place"} <= found


@pytest.mark.parametrize("name", OTHERS)
def test_placeholders_are_those_of_the_english_text(name: str) -> None:
    texts = {text for entry in CODES.values() for text in (entry.meaning, entry.advice)}
    for text, translated in catalogue(name).items():
        assert translated.strip(), text
        if text not in texts:
            assert placeholders(translated) == placeholders(text), text
        assert re.findall(r"`[^`]+`", translated) == re.findall(r"`[^`]+`", text), text


@pytest.mark.parametrize("name", OTHERS)
def test_no_translation_is_left_of_a_text_that_is_gone(name: str) -> None:
    sources = [path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")]
    sources += [path.read_text(encoding="utf-8") for path in (PACKAGE / "templates").iterdir() if path.is_file()]
    everything = "\n".join(sources)
    known = asked()
    gone = [text for text in catalogue(name) if text not in known and f'"{text}"' not in everything]
    assert not gone


def test_a_text_without_translation_stays_english() -> None:
    with speaking("zh"):
        assert tr("no such {thing}", thing="text") == "no such text"
    assert tr("Files") == "Files"


def test_the_terminal_speaks_chinese_and_machines_read_english(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "net.py").write_text(SOURCE, encoding="utf-8")
    assert run(["scan", str(tmp_path), "--lang", "zh", "--no-cache"]) == 1
    out = capsys.readouterr().out
    assert "待办，按先后排列  1 项任务，1 处" in out
    assert "torch 接口   已翻译 1 / 2" in out
    run(["--lang", "zh", "scan", str(tmp_path), "--no-cache", "--format", "json"])
    chinese = json.loads(capsys.readouterr().out)
    run(["scan", str(tmp_path), "--no-cache", "--format", "json"])
    assert json.loads(capsys.readouterr().out) == chinese


def test_the_page_is_chinese(tmp_path: Path) -> None:
    from torch2ms import translate_project

    (tmp_path / "net.py").write_text(SOURCE, encoding="utf-8")
    report = translate_project(tmp_path, None, dry_run=True)
    english = to_html(report)
    with speaking("zh"):
        chinese = to_html(report)
        assert to_json(report)
    assert '<html lang="zh-CN">' in chinese
    assert "<h2>诊断</h2>" in chinese
    assert '<html lang="en">' in english
    assert "诊断" not in english
