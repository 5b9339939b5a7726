"""Catalogues are complete: every text that is asked for has a translation, with the same placeholders."""

from __future__ import annotations

import ast
import inspect
import json
import re
import sys
from pathlib import Path

import click
import pytest

from torch2ms import language
from torch2ms.cli import run
from torch2ms.language import LANGUAGES, catalogue, speaking, told, tr
from torch2ms.reports import todo
from torch2ms.reports.html import to_html
from torch2ms.reports.json import to_json
from torch2ms.reports.summary import API_STATUSES, FILE_STATUSES, SEVERITIES

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))
import harvest_messages as harvest  # noqa: E402

PACKAGE = Path(language.__file__).parent
OTHERS = [name for name in LANGUAGES if name != "en"]
# What scripts of the page hand on in variables
_TABLES = ("approximate", "partial", "documented", "source line", "source", "output line", "output", "line", "code")
_HEADS = ("What", "Source", "Where", "Note", "Status", "Fidelity", "Proof", "Places", "MindSpore", "torch")
SOURCE = "import torch\n\n\ndef f(x: torch.Tensor):\n    return torch.linalg.ldl_factor(x)\n"


def asked() -> set[str]:
    """Return every text that the code or the page asks for, as it stands in them, and those of the data."""
    found = {*todo.GROUPS.values(), *todo._EFFORT.values(), "a line", "executed", "partly executed", "documented only"}
    found |= {*FILE_STATUSES, *API_STATUSES, *map(str, SEVERITIES), *_TABLES, *_HEADS}
    found |= {f"{{number}} {noun}" for noun in (*map(str, SEVERITIES), "diagnostic")}
    for path in PACKAGE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if "torch2ms.language" in text:
            found |= set(texts_of(ast.parse(text)))
    for path in (PACKAGE / "templates").glob("report*"):
        found |= set(texts_of_template(path.read_text(encoding="utf-8")))
    return found


def known_texts() -> set[str]:
    """Return every text that a catalogue may translate."""
    return asked() | {text.strip() for text in harvest.texts()}


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
    return sorted(re.findall(r"\{(\w+)(?::\w+)?\}", text))


def literals(text: str) -> list[str]:
    return [literal for literal in re.split(r"\{\w+\}", text) if len(literal.strip(" ,.:;'()")) > 3]


@pytest.mark.parametrize("name", OTHERS)
def test_every_text_has_a_translation(name: str) -> None:
    missing = sorted(asked() - set(catalogue(name)))
    assert not missing, f"add them to torch2ms/languages/{name}.toml: {missing}"


def test_texts_are_found_in_code_page_and_scripts() -> None:
    found = asked()
    assert {"To do, in this order", "Left to do", "Nothing passes the filter.", "{number} place"} <= found


@pytest.mark.parametrize("name", OTHERS)
def test_every_message_has_a_translation(name: str) -> None:
    missing = harvest.missing(name)
    assert not missing, f"python scripts/harvest_messages.py {name} prints the lines to fill in: {sorted(missing)[:5]}"


def test_messages_are_found_in_code_tables_help_and_errors() -> None:
    found = harvest.texts()
    assert {
        "{a} could not be typed; .step changes if it is an optimizer",
        "mindspore.ops.sort gives int32 indices.",
        "Your own mapping table; repeatable.",
        "there is no {a}",
        "no such mapping file: {a}",
    } <= set(found)
    assert len(found) > 900
    gone = set(harvest.NOT_SHOWN) - {text for text, _ in (*harvest.of_code(), *harvest.of_errors())}
    assert not gone, "these are harvested no more"


@pytest.mark.parametrize("name", OTHERS)
def test_placeholders_are_those_of_the_english_text(name: str) -> None:
    plain = {text for text, _ in (*harvest.of_tables(), *harvest.of_help(harvest.cli_command()))}
    for text, translated in catalogue(name).items():
        assert translated.strip(), text
        if text not in plain:
            assert placeholders(translated) == placeholders(text), text
            assert set(re.findall(r"\{\w+:(\w+)\}", translated)) <= {"text", "raw"}, text
        assert re.findall(r"`[^`{]+`", translated) == re.findall(r"`[^`{]+`", text), text


@pytest.mark.parametrize("name", OTHERS)
def test_a_translation_holds_no_english(name: str) -> None:
    for text, translated in catalogue(name).items():
        words = re.sub(r"`[^`]*`|'[^']*'|\"[^\"]*\"|\([^)]*\)", "", translated)
        assert not re.search(r"[a-z] (?:a|an|the|is|are|of|in|to|and|not)\b", words), text


@pytest.mark.parametrize("name", OTHERS)
def test_no_translation_is_left_of_a_text_that_is_gone(name: str) -> None:
    sources = [path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")]
    sources += [path.read_text(encoding="utf-8") for path in (PACKAGE / "templates").iterdir() if path.is_file()]
    everything = "\n".join([*sources, *harvest.texts()])
    clicks = "\n".join(map(inspect.getsource, (click.exceptions, click.core, click.types, click.parser)))
    known = known_texts()
    gone = [
        text
        for text in catalogue(name)
        if text not in known
        and f'"{text}"' not in everything
        and not all(part in everything for part in literals(text))
        and not all(word in clicks for word in re.findall(r"[A-Za-z]{3,}", text))
    ]
    assert not gone


@pytest.mark.parametrize("name", OTHERS)
def test_every_template_is_found_again_in_what_it_makes(name: str) -> None:
    """Filled in with code, each gives its own translation, and none that says less is taken for it."""
    with speaking(name):
        for text, translated in catalogue(name).items():
            if "{a}" in text and text != "{a}; {b}":
                values = {field: f"net.{field}[0]" for field in placeholders(text)}
                assert told(text.format(**values)) == re.sub(r":(?:text|raw)\}", "}", translated).format(**values), text


def test_a_message_is_translated_whole_or_not_at_all() -> None:
    with speaking("zh"):
        assert told("torch.foo has no MindSpore equivalent") == "torch.foo 没有对应的 MindSpore 接口"
        assert told("line 3: the gradients are used by hand: line 4 uses .grad") == (
            "第 3 行：梯度由程序自行处理：第 4 行使用 .grad"
        )
        assert told("x if y else z is looked up at run time") == "x if y else z 在运行时才查找"
        for text in ("the cat sat", "torch.foo: the cat sat", "a new thing has no MindSpore equivalent"):
            assert told(text) == text
        assert told("where it is pure Python, take it along: --with l").endswith("随项目一起翻译：--with l")
        assert told("take it along: --with lib (installed beside torch2ms first, or the folder of its source)") == (
            "随项目一起翻译：--with lib（须先安装在 torch2ms 所在环境中，或给出其源码目录）"
        )
        assert told("tensor: take it out") == "tensor：请删除它"  # a name stays, whatever it means as a word
    assert told("torch.foo has no MindSpore equivalent") == "torch.foo has no MindSpore equivalent"


GOLDEN = sorted((ROOT / "tests" / "golden" / "cases").glob("*.txt"))


def test_what_the_golden_files_say_is_translated() -> None:
    pattern = re.compile(r"T2M\d{3} (?:note|warning|error): (.+)")
    said = {found for path in GOLDEN for found in pattern.findall(path.read_text(encoding="utf-8"))}
    assert len(said) > 15
    with speaking("zh"):
        assert not [text for text in said if not re.search("[\u4e00-\u9fff]", told(text))]


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
    assert json.dumps("torch.linalg.ldl_factor 没有对应的 MindSpore 接口")[1:-1] in chinese
    assert json.dumps("请用可翻译的 torch.linalg.solve 求解方程组")[1:-1] in chinese


def test_help_and_errors_speak_the_language_for_the_command_alone(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(["--lang", "zh", "translate", "--help"]) == 0
    assert "目标 MindSpore 版本。  [默认：2.10]" in capsys.readouterr().out
    assert language.current() == "en"
    monkeypatch.setenv("TORCH2MS_LANG", "zh")
    assert run(["scan", "/nowhere/at/all"]) == 2
    assert "错误：/nowhere/at/all 不存在" in capsys.readouterr().err
    assert run(["explian"]) == 2
    assert "错误：没有命令 'explian'。" in capsys.readouterr().err
    monkeypatch.setenv("TORCH2MS_LANG", "xx")
    assert run(["--help"]) == 2
    assert "TORCH2MS_LANG: xx is none of en, zh" in capsys.readouterr().err
