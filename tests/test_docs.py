"""The documentation says what is so: generated parts are current, commands and links exist, figures have a source."""

from __future__ import annotations

import importlib.util
import re
import shlex
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import click
import pytest

from torch2ms.cli import command
from torch2ms.diagnostics import CODES

ROOT = Path(__file__).resolve().parent.parent
PAGES = ["README.md", "README.zh.md", "CONTRIBUTING.md", "CHANGELOG.md"] + [
    path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "docs").rglob("*.md"))
]
WRITTEN = [page for page in PAGES if not page.startswith("docs/api/")]


def read(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def commands(page: str) -> Iterator[list[str]]:
    """Give every command line of a page: in shell blocks, indented blocks and inline code."""
    for line in code_lines(read(page)):
        try:
            words = shlex.split(line, comments=True)
        except ValueError:
            continue
        words = words[: next((i for i, word in enumerate(words) if word in ("|", "<", ">")), len(words))]
        if words[:1] in (["torch2ms"], ["make"], ["python"]):
            yield words


def code_lines(text: str) -> Iterator[str]:
    """Give the lines of shell blocks and indented blocks, and the pieces of inline code."""
    fence = None
    for line in text.splitlines():
        if line.startswith("```"):
            fence = line[3:] if fence is None else None
        elif fence == "sh" or (fence is None and line.startswith("    ")):
            yield line
        elif fence is None:
            yield from re.findall(r"`([^`]+)`", line)


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate_docs", ROOT / "scripts" / "generate_docs.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_generated_parts_are_current(generator: ModuleType) -> None:
    stale = sorted(generator.stale_pages())
    assert not stale, f"run `make docs`: {', '.join(stale)}"


def test_nothing_is_left_of_pages_that_are_no_longer_generated(generator: ModuleType) -> None:
    there = {path.relative_to(ROOT).as_posix() for path in (ROOT / "docs" / "api").iterdir()}
    assert there == {name for name in generator.pages() if name.startswith("docs/api/")}


def test_a_block_that_is_out_of_date_is_noticed(generator: ModuleType) -> None:
    text = read("README.md")
    changed = text.replace("+    grad_fn = ms.value_and_grad", "+    grad_fn = ms.grad")
    assert changed != text
    assert generator.with_blocks(changed) == generator.with_blocks(text)


def test_a_translated_snippet_is_what_the_program_emits(generator: ModuleType) -> None:
    snippet = "def f(x: torch.Tensor):\n    return torch.relu(x)\n"
    page = f"<!-- translate -->\n```python\n{snippet}```\n\n<!-- becomes -->\n<!-- end -->\n"
    made = generator.with_blocks(page)
    assert "    return ops.relu(x)\n" in made
    assert generator.with_blocks(made) == made


@pytest.mark.parametrize("page", WRITTEN)
def test_commands_exist(page: str) -> None:
    for words in commands(page):
        if words[0] == "torch2ms":
            check_options(words)
        elif words[0] == "make":
            targets = re.findall(r"^([a-z-]+):", read("Makefile"), re.MULTILINE)
            named = [word for word in words[1:] if "=" not in word]
            assert set(named) <= set(targets), " ".join(words)


def check_options(words: list[str]) -> None:
    """Parse a documented command line as the program would, without running it."""
    entry: click.Command = command
    context = click.Context(command, info_name="torch2ms")
    rest = words[1:]
    while isinstance(entry, click.Group) and rest and not rest[0].startswith("-"):
        name = rest.pop(0)
        if "|" in name:  # a list of commands: tables lint|coverage
            assert set(name.split("|")) <= set(entry.commands), " ".join(words)
            return
        found = entry.commands.get(name)
        assert found is not None, " ".join(words)
        entry, context = found, click.Context(found, info_name=name, parent=context)
    if "..." in " ".join(rest):
        return
    try:
        entry.make_parser(context).parse_args(list(rest))
    except click.UsageError as error:
        pytest.fail(f"{' '.join(words)}: {error.message}")


def test_commands_are_found_at_all() -> None:
    found = [" ".join(words) for page in ("README.md", "docs/output.md") for words in commands(page)]
    for start in (
        "make demo",
        "make test",
        "torch2ms translate",
        "torch2ms verify",
        "torch2ms scan",
        "python train.py",
    ):
        assert any(line.startswith(start) for line in found), start


def test_an_option_that_does_not_exist_is_noticed() -> None:
    with pytest.raises(pytest.fail.Exception):
        check_options(["torch2ms", "translate", "a", "b", "--no-such-option"])


def test_options_of_the_generated_program_exist(generator: ModuleType) -> None:
    from torch2ms.generate import ProgramFacts, generate

    files = generate(ProgramFacts("resnet", "resnet50", {"num_classes": 10}))
    files["convert_weights.py"] += read("torch2ms/runtime/weights.py")
    files["eval.py"] += files["train.py"]
    files["main.py"] = read("examples/resnet50_cifar10/main.py")
    seen = set()
    for words in commands("docs/output.md"):
        if words[0] == "python" and words[1] in files:
            seen.add(words[1])
            for option in (word for word in words[2:] if word.startswith("--")):
                assert f'"{option}"' in files[words[1]], " ".join(words)
    assert seen == {"train.py", "eval.py", "convert_weights.py", "main.py"}


def test_what_the_page_says_that_out_holds_is_generated() -> None:
    from torch2ms.generate import ProgramFacts, generate

    section = read("docs/output.md").partition("`out` then holds")[2]
    for name in generate(ProgramFacts("resnet", "resnet50")):
        assert name == "requirements.txt" or (name.partition("/")[0] in section), name


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    text = re.sub(r"^```.*?^```", "", read(page), flags=re.DOTALL | re.MULTILINE)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if "://" not in target:
            assert ((ROOT / page).parent / target.partition("#")[0]).exists(), target


@pytest.mark.parametrize("page", WRITTEN)
def test_codes_exist(page: str) -> None:
    assert set(re.findall(r"T2M\d{3}", read(page))) <= set(CODES)


@pytest.mark.parametrize("page", WRITTEN)
def test_paths_of_the_repository_exist(page: str) -> None:
    named = re.findall(r"`((?:torch2ms|tests|scripts|docs|examples|benchmarks)/[\w/.-]*)`", read(page))
    for path in named:
        assert (ROOT / path).exists() or (page == "README.md" and path == "scripts/"), path


def test_readme_is_short() -> None:
    assert len(read("README.md").splitlines()) < 150


def test_changelog_is_short() -> None:
    assert len(read("CHANGELOG.md").splitlines()) < 75


def test_the_example_changes_a_real_line_and_no_other() -> None:
    source = read("examples/resnet50_cifar10/resnet.py").splitlines()
    block = read("docs/support.md").partition("<!-- generated: resnet-diff -->")[2].partition("<!-- end -->")[0]
    removed = [line[1:] for line in block.splitlines() if line.startswith("-") and not line.startswith("---")]
    assert removed
    assert set(removed) <= set(source)
    assert f"The other {len(source) - len(removed)} of {len(source)} lines" in block


def test_the_mapping_of_the_contributing_page_works(tmp_path: Path) -> None:
    from torch2ms import translate_source
    from torch2ms.config import Options
    from torch2ms.mapping_tables.lint import lint
    from torch2ms.mapping_tables.loader import load

    block = re.search(r"^ *```toml\n(.*?)^ *```", read("CONTRIBUTING.md"), re.DOTALL | re.MULTILINE)
    assert block is not None
    table = tmp_path / "my.toml"
    table.write_text(textwrap.dedent(block[1]), encoding="utf-8")
    tables = load((str(table),))
    row = tables.row("torch.addr")
    assert row is not None
    assert not [finding for finding in lint(tables) if "torch.addr" in str(finding)]
    source = f"import torch\n\n\ndef f(x: torch.Tensor, a, b):\n    return {row.examples[0].before}\n"
    emitted = translate_source(source, options=Options(mappings=(str(table),))).text
    assert f"return {row.examples[0].after.replace('mindspore.ops', 'ops')}\n" in emitted


def test_every_page_stands_in_the_navigation_of_the_site_once() -> None:
    import yaml

    def pages(entry: object) -> Iterator[str]:
        if isinstance(entry, str):
            yield entry
        elif isinstance(entry, dict):
            for inner in entry.values():
                yield from pages(inner)
        elif isinstance(entry, list):
            for inner in entry:
                yield from pages(inner)

    site = yaml.safe_load(read("mkdocs.yml"))
    written = [page.removeprefix("docs/") for page in PAGES if page.startswith("docs/")]
    assert sorted(pages(site["nav"])) == sorted(written)


def page_file(page: str, name: str) -> str:
    """Return the code that a page tells the reader to save as ``name``."""
    found = re.search(rf"<!-- file: {re.escape(name)} -->\n```python\n(.*?)^```", read(page), re.DOTALL | re.MULTILINE)
    assert found is not None
    return found[1]


@pytest.mark.parametrize("page", ["docs/first-migration.md", "docs/zh/first-migration.md"])
def test_the_first_migration_is_what_the_page_says(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Walk through the page as a reader does, as far as that needs neither framework."""
    from torch2ms.cli import run

    (tmp_path / "digits").mkdir()
    (tmp_path / "digits" / "train.py").write_text(page_file(page, "digits/train.py"), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    walked = [words[1:] for words in commands(page) if words[:2] in (["torch2ms", "scan"], ["torch2ms", "translate"])]
    assert [words[0] for words in walked[:2]] == ["scan", "translate"]
    for words in walked:
        if words[1:2] == ["digits"]:
            assert run([*words, "--no-cache"]) == 0, " ".join(words)
    emitted = (tmp_path / "digits-ms" / "train.py").read_text(encoding="utf-8")
    assert "TORCH2MS" not in emitted
    assert "grad_fn = ms.value_and_grad" in emitted
    assert (tmp_path / "digits-ms" / "convert_weights.py").is_file()
    assert "mint.nn.Conv2d" in (tmp_path / "digits-ascend" / "train.py").read_text(encoding="utf-8")


def test_the_site_and_the_pages_of_two_languages_show_one_program() -> None:
    pages = ("docs/first-migration.md", "docs/zh/first-migration.md")
    assert len({page_file(page, "digits/train.py") for page in pages}) == 1


def test_blocks_of_python_that_speak_of_the_api_run() -> None:
    """The first block of the page of the Python API is run as it stands."""
    blocks = re.findall(r"^```python\n(.*?)^```", read("docs/howto/python-api.md"), re.DOTALL | re.MULTILINE)
    names: dict[str, object] = {}
    exec(compile(blocks[0], "docs/howto/python-api.md", "exec"), names)
    assert "mindspore" in str(names["result"].text)  # type: ignore[attr-defined]
    assert "torch2ms.Options(target=torch2ms.Target(" in blocks[1]
